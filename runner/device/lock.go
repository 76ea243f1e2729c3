package device

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Locks is a directory of lock files shared by every runner of the machine.
type Locks struct {
	dir string
}

// LockDirVariable names the environment variable that overrides the directory.
const LockDirVariable = "REBENCH_LOCK_DIR"

// OpenLocks opens the machine's lock directory, making it when missing. dir ""
// means $REBENCH_LOCK_DIR, else /run/lock/rebench, else a directory under the
// temporary directory. Runners exclude one another only through the same directory.
func OpenLocks(dir string) (*Locks, error) {
	if dir == "" {
		dir = os.Getenv(LockDirVariable)
	}
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "rebench-locks")
		if st, err := os.Stat("/run/lock"); err == nil && st.IsDir() {
			dir = "/run/lock/rebench"
		}
	}
	if err := os.Mkdir(dir, 0o777); err == nil {
		// The umask must not keep other users out; the sticky bit keeps them
		// from removing each other's files.
		if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
			return nil, rebench.Errorf(rebench.CodeInternal, "lock directory: %w", err)
		}
	} else if !errors.Is(err, os.ErrExist) {
		return nil, rebench.Errorf(rebench.CodeInternal, "lock directory: %w", err)
	}
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return nil, rebench.Errorf(rebench.CodeInternal, "lock directory %s is not a directory", dir)
	}
	return &Locks{dir: dir}, nil
}

// Dir is the lock directory.
func (l *Locks) Dir() string { return l.dir }

// Lock is one held lock file.
type Lock struct {
	f    *os.File
	Name string
}

// Release gives the lock back. Releasing twice is harmless.
func (l *Lock) Release() {
	if l != nil && l.f != nil {
		l.f.Close() // closing the only descriptor drops the lock
		l.f = nil
	}
}

func (l *Locks) open(name string) (*os.File, error) {
	path := filepath.Join(l.dir, name)
	flags := os.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC
	for range 5 {
		// Without O_CREAT first: fs.protected_regular refuses O_CREAT on
		// another user's file in a sticky directory.
		f, err := os.OpenFile(path, flags, 0)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, rebench.Errorf(rebench.CodeInternal, "lock file: %w", err)
		}
		f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			if err := f.Chmod(0o666); err != nil {
				f.Close()
				return nil, rebench.Errorf(rebench.CodeInternal, "lock file: %w", err)
			}
			return f, nil
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, rebench.Errorf(rebench.CodeInternal, "lock file: %w", err)
		}
	}
	return nil, rebench.Errorf(rebench.CodeInternal, "lock file %s keeps appearing and vanishing", path)
}

// try takes the named lock at once; nil without an error means that it is held.
func (l *Locks) try(name string, shared bool, owner string) (*Lock, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.EWOULDBLOCK {
		f.Close()
		return nil, nil
	}
	if err != nil {
		f.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "lock %s: %w", f.Name(), err)
	}
	if !shared {
		note(f, owner)
	}
	return &Lock{f: f, Name: name}, nil
}

// note writes who holds the lock, for people; the lock itself is the kernel's.
func note(f *os.File, owner string) {
	b, err := json.Marshal(map[string]any{"pid": os.Getpid(), "owner": owner, "since": time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return
	}
	if f.Truncate(0) == nil {
		f.WriteAt(append(b, '\n'), 0) // information only: the lock holds without it
	}
}

// Poll intervals of waiting for a lock: flock(2) cannot be waited for with a context.
const (
	pollFast = 5 * time.Millisecond
	pollSlow = 100 * time.Millisecond
)

// wait takes the named lock, calling waiting (when not nil) once if it is held.
func (l *Locks) wait(ctx context.Context, name string, shared bool, owner string, waiting func()) (*Lock, error) {
	delay := pollFast
	for {
		lock, err := l.try(name, shared, owner)
		if lock != nil || err != nil {
			return lock, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(delay):
		}
		delay = min(delay*2, pollSlow)
	}
}

// Timing takes the machine-wide lock of timed sections, waiting as long as ctx
// allows: leases do not isolate memory bandwidth, so only one runs at a time.
func (l *Locks) Timing(ctx context.Context, owner string) (*Lock, error) {
	return l.wait(ctx, "timing.lock", false, owner, nil)
}

// Running marks an attempt as running for as long as the lock is held. It waits
// for a calibration in progress, after calling waiting when that is not nil.
func (l *Locks) Running(ctx context.Context, owner string, waiting func()) (*Lock, error) {
	return l.wait(ctx, activityLock, true, owner, waiting)
}

// Holder says who keeps attempts from running, and since when.
type Holder struct {
	PID   int       `json:"pid"`
	Owner string    `json:"owner"`
	Since time.Time `json:"since"`
}

// Holder reads who last took the machine for a calibration; ok is false when nobody
// has, or the note cannot be read. It is for people: the lock holds without it.
func (l *Locks) Holder() (h Holder, ok bool) {
	f, err := l.open(activityLock)
	if err != nil {
		return h, false
	}
	defer f.Close()
	err = json.NewDecoder(io.LimitReader(f, 4096)).Decode(&h)
	return h, err == nil && h.PID > 0 && h.Owner != ""
}

// activityLock is shared by what runs, and held alone by a calibration.
const activityLock = "activity.lock"

// Calibrating waits until no attempt runs on the machine, after calling waiting
// when that is not nil, and keeps any from starting until it is released.
func (l *Locks) Calibrating(ctx context.Context, owner string, waiting func()) (*Lock, error) {
	return l.wait(ctx, activityLock, false, owner, waiting)
}
