package attempt

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// StateVariable names the environment variable that overrides the state directory.
const StateVariable = "REBENCH_STATE_DIR"

// State is the directory in which a user's runners keep what outlives them:
//
//	secret                 32 random bytes from which every draw derives
//	attempts/ID/           one attempt: log.ndjson, meta.json, agent.log, submissions/
//	calibrations/          see package calibration
//	assets/                assets built for environments
type State struct {
	Dir string
}

// DefaultStateDir is $REBENCH_STATE_DIR, else rebench-runner under the user's
// data directory ($XDG_DATA_HOME, else ~/.local/share). Sandboxes reach what they
// are given of it even where other users may not enter it.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv(StateVariable); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "rebench-runner"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "no home directory: set --state-dir or %s", StateVariable)
	}
	return filepath.Join(home, ".local", "share", "rebench-runner"), nil
}

// OpenState opens or makes the state directory, private to its user.
func OpenState(dir string) (*State, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "state directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(abs, "attempts"), 0o700); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "state directory: %w", err)
	}
	return &State{Dir: abs}, nil
}

// Secret returns the runner's secret, drawing it on first use. Whoever knows it
// knows every graded input in advance.
func (s *State) Secret() ([]byte, error) {
	path := filepath.Join(s.Dir, "secret")
	for range 2 {
		b, err := os.ReadFile(path)
		if err == nil {
			if len(b) != 32 {
				return nil, rebench.Errorf(rebench.CodeInternal, "%s holds %d bytes, expected 32; remove it to draw a new secret", path, len(b))
			}
			return b, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, rebench.Errorf(rebench.CodeInternal, "runner secret: %w", err)
		}
		fresh := make([]byte, 32)
		rand.Read(fresh)
		// A link appears whole or not at all, and fails where another runner was first.
		tmp := path + "." + uuid.NewString()
		if err := writeSynced(tmp, fresh); err != nil {
			return nil, rebench.Errorf(rebench.CodeInternal, "runner secret: %w", err)
		}
		err = os.Link(tmp, path)
		os.Remove(tmp)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, rebench.Errorf(rebench.CodeInternal, "runner secret: %w", err)
		}
	}
	return nil, rebench.Errorf(rebench.CodeInternal, "runner secret: %s vanished while it was read", path)
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// NewID draws the id of a new attempt: a version 7 UUID, which sorts by time.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInternal, "attempt id: %w", err)
	}
	return id.String(), nil
}

// Meta is what must be known of an attempt without its log: enough to recover
// and to deliver it.
type Meta struct {
	ID          string    `json:"id"`
	Environment string    `json:"environment"`
	Profile     string    `json:"profile"`
	Agent       string    `json:"agent"` // label for people
	TimeLimitS  float64   `json:"time_limit_s"`
	Seed        int64     `json:"seed"`
	Server      string    `json:"server,omitempty"`
	PID         int       `json:"pid"`
	Created     time.Time `json:"created"`
}

// Dir is the directory of one attempt, locked by the process that runs it.
type Dir struct {
	Path string
	Meta Meta
	lock *os.File
}

// Names of the files of an attempt's directory.
const (
	logName     = "log.ndjson"
	metaName    = "meta.json"
	lockName    = "lock"
	aliveName   = "alive"
	reserveName = "reserve"
	controlName = "control.sock"
	socketName  = "score.sock"
	agentLog    = "agent.log"
	submissions = "submissions"
)

// LogPath is the attempt log.
func (d *Dir) LogPath() string { return filepath.Join(d.Path, logName) }

// AgentLogPath holds what the agent printed.
func (d *Dir) AgentLogPath() string { return filepath.Join(d.Path, agentLog) }

// newPrefix marks directories that are being made.
const newPrefix = ".new-"

// Create makes and locks the directory of a new attempt. It appears under its
// name locked and complete, so that nobody can take it for an orphan.
func (s *State) Create(meta Meta) (*Dir, error) {
	meta.PID, meta.Created = os.Getpid(), time.Now().UTC().Truncate(time.Millisecond)
	parent := filepath.Join(s.Dir, "attempts")
	d := &Dir{Path: filepath.Join(parent, newPrefix+meta.ID), Meta: meta}
	err := os.Mkdir(d.Path, 0o700)
	if err == nil {
		err = d.acquire()
	}
	var b []byte
	if err == nil {
		b, err = json.MarshalIndent(meta, "", "  ")
	}
	if err == nil {
		err = writeSynced(filepath.Join(d.Path, metaName), append(b, '\n'))
	}
	if err == nil {
		err = os.Rename(d.Path, filepath.Join(parent, meta.ID))
	}
	if err != nil {
		d.Close()
		os.RemoveAll(d.Path)
		return nil, rebench.Errorf(rebench.CodeInternal, "attempt %s: %w", meta.ID, err)
	}
	d.Path = filepath.Join(parent, meta.ID)
	return d, nil
}

// errLocked: another process runs the attempt.
var errLocked = errors.New("in use by another runner")

func (d *Dir) acquire() error {
	f, err := os.OpenFile(filepath.Join(d.Path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return errLocked
		}
		return err
	}
	d.lock = f
	return nil
}

// Close gives the lock back.
func (d *Dir) Close() {
	if d.lock != nil {
		d.lock.Close()
		d.lock = nil
	}
}

// Remove takes away the directory of an attempt that never began.
func (d *Dir) Remove() {
	os.RemoveAll(d.Path)
	d.Close()
}

// Open reads the directory of an attempt. An id may be cut short as long as it
// is clear; CodeNotFound and CodeConflict say when it is not.
func (s *State) Open(id string) (*Dir, error) {
	dirs, err := s.List()
	if err != nil {
		return nil, err
	}
	var found []*Dir
	for _, d := range dirs {
		if d.Meta.ID == id {
			return d, nil
		}
		if id != "" && strings.HasPrefix(d.Meta.ID, id) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return nil, rebench.Errorf(rebench.CodeNotFound, "no attempt %q in %s", id, s.Dir)
	case 1:
		return found[0], nil
	}
	return nil, rebench.Errorf(rebench.CodeConflict, "%d attempts start with %q", len(found), id)
}

// List reads all attempts, oldest first. Directories without readable meta.json
// (a runner died while it made one) are left out.
func (s *State) List() ([]*Dir, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "attempts"))
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "attempts: %w", err)
	}
	var out []*Dir
	for _, e := range entries {
		d := &Dir{Path: filepath.Join(s.Dir, "attempts", e.Name())}
		b, err := os.ReadFile(filepath.Join(d.Path, metaName))
		if err != nil || json.Unmarshal(b, &d.Meta) != nil || d.Meta.ID != e.Name() {
			continue
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *Dir) int { return a.Meta.Created.Compare(b.Meta.Created) })
	return out, nil
}
