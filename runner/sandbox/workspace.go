package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

var nameRule = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// checkName keeps names usable as file and control group names.
func checkName(name string) error {
	if !nameRule.MatchString(name) {
		return rebench.Errorf(rebench.CodeInvalid, "name %q: expected up to 63 lower-case letters, digits and dashes", name)
	}
	return nil
}

// tree is a directory whose contents are hostile.
type tree struct {
	name, path string
	uid        int // owner of what Fill writes; -1: whoever runs this
}

// Name returns the name it was made with.
func (t *tree) Name() string { return t.name }

// Path returns the directory on the host.
func (t *tree) Path() string { return t.path }

// Fill copies src in; see Workspace.
func (t *tree) Fill(ctx context.Context, src string) error {
	dst, err := unix.Open(t.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return rebench.Errorf(rebench.CodeInternal, "fill workspace %s: %w", t.name, err)
	}
	defer unix.Close(dst)
	w := &walker{limits: trustedLimits, uid: t.uid, gid: t.uid, sum: sha256.New()}
	if err := w.run(ctx, src, ".", dst); err != nil {
		return fmt.Errorf("fill workspace %s: %w", t.name, err)
	}
	return nil
}

// Snapshot copies sub out; see Workspace.
func (t *tree) Snapshot(ctx context.Context, sub, dst string, limits SnapshotLimits) (Snapshot, error) {
	return TakeSnapshot(ctx, t.path, sub, dst, limits)
}

// TakeSnapshot copies the tree at sub (relative, "." for all) below dir to the
// new directory dst: regular files with one link and directories, owned by the
// caller, modes 0755 and 0644. Whatever else it meets, and any limit passed,
// is a *RefusedError; dst is then removed.
func TakeSnapshot(ctx context.Context, dir, sub, dst string, limits SnapshotLimits) (Snapshot, error) {
	if err := os.Mkdir(dst, 0o755); err != nil {
		return Snapshot{}, rebench.Errorf(rebench.CodeInternal, "snapshot: %w", err)
	}
	out, err := unix.Open(dst, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Snapshot{}, rebench.Errorf(rebench.CodeInternal, "snapshot: %w", err)
	}
	defer unix.Close(out)
	w := &walker{limits: limits.withDefaults(), uid: -1, gid: -1, sum: sha256.New()}
	if err := w.run(ctx, dir, sub, out); err != nil {
		_ = os.RemoveAll(dst)
		return Snapshot{}, err
	}
	return Snapshot{Dir: dst, SHA256: hex.EncodeToString(w.sum.Sum(nil)), Files: w.regular, Bytes: w.bytes}, nil
}

func (l SnapshotLimits) withDefaults() SnapshotLimits {
	d := DefaultSnapshotLimits
	if l.Bytes == 0 {
		l.Bytes = d.Bytes
	}
	if l.FileBytes == 0 {
		l.FileBytes = d.FileBytes
	}
	if l.Files == 0 {
		l.Files = d.Files
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	if l.NameBytes == 0 {
		l.NameBytes = d.NameBytes
	}
	return l
}

// Collect copies one file out; see Workspace.
func (t *tree) Collect(ctx context.Context, path string, maxBytes int64) (*os.File, error) {
	top, err := unix.Open(t.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "collect from %s: %w", t.name, err)
	}
	defer unix.Close(top)
	fd, err := openBeneath(top, path, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &RefusedError{shown(path), whyNotOpened(err)}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &RefusedError{shown(path), whyNotOpened(err)}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, &RefusedError{shown(path), "not a regular file"}
	case st.Nlink != 1:
		return nil, &RefusedError{shown(path), fmt.Sprintf("has %d hard links; one is allowed", st.Nlink)}
	case st.Size > maxBytes:
		return nil, &RefusedError{shown(path), fmt.Sprintf("%d bytes; at most %d", st.Size, maxBytes)}
	}
	in, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &RefusedError{shown(path), "cannot be read: " + whyNotOpened(err)}
	}
	defer in.Close()
	return sealedCopy(ctx, in, &st, path)
}

// sealedCopy reads in into a memory file that nobody can change any more.
func sealedCopy(ctx context.Context, in io.Reader, st *unix.Stat_t, path string) (*os.File, error) {
	mfd, err := unix.MemfdCreate("collected", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "collect %s: %w", path, err)
	}
	out := os.NewFile(uintptr(mfd), "collected")
	if _, err := copyExactly(ctx, out, in, st.Size); err != nil {
		out.Close()
		return nil, (&walker{}).copyFault(path, err)
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(out.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		out.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "collect %s: %w", path, err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		out.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "collect %s: %w", path, err)
	}
	return out, nil
}

// chownTree gives dir and all below it to uid. Nothing may run that can write there.
func chownTree(dir string, uid int) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return chownDir(os.NewFile(uintptr(fd), dir), uid, 0)
}

// chownDir closes f.
func chownDir(f *os.File, uid, depth int) error {
	defer f.Close()
	if depth > trustedLimits.Depth {
		return fmt.Errorf("directories nested more than %d deep", trustedLimits.Depth)
	}
	if err := f.Chown(uid, uid); err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			if err := unix.Fchownat(int(f.Fd()), e.Name(), uid, uid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			continue
		}
		sub, err := openBeneath(int(f.Fd()), e.Name(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		if err := chownDir(os.NewFile(uintptr(sub), e.Name()), uid, depth+1); err != nil {
			return err
		}
	}
	return nil
}
