package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Config configures a Bubblewrap. Zero fields mean the defaults.
type Config struct {
	// RunDir holds what lives as long as sandboxes do; DefaultRunDir.
	RunDir string
	// StateDir holds built roots and staged trees; DefaultStateDir.
	StateDir string
	// Bwrap is the bubblewrap program, found in PATH when empty.
	Bwrap string
	// Tier forces a tier, for tests and for machines whose control groups
	// are another's business. Empty: the strongest that works.
	Tier   TierName
	Logger *slog.Logger
}

// DefaultRunDir is /run/rebench for root, else a directory of the user's.
func DefaultRunDir() string {
	if os.Geteuid() == 0 {
		return "/run/rebench"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "rebench")
	}
	return filepath.Join(os.TempDir(), "rebench-"+strconv.Itoa(os.Geteuid()))
}

// DefaultStateDir is /var/lib/rebench for root, else a directory of the user's.
func DefaultStateDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/rebench"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "rebench")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "rebench")
	}
	return filepath.Join(os.TempDir(), "rebench-state-"+strconv.Itoa(os.Geteuid()))
}

// Bubblewrap is the Executor that confines with bubblewrap (bwrap(1)).
type Bubblewrap struct {
	cfg   Config
	id    string   // of this runner among those that share RunDir
	dir   string   // RunDir/runners/id
	alive *os.File // locked as long as this runner lives
	conf  confiner
	users *userPool

	mu         sync.Mutex
	seq        int
	closed     bool
	procs      map[*process]bool
	workspaces map[string]*workspace
	roots      map[string]*Root
}

// New prepares an executor on this machine. CodeInvalid says what is missing.
func New(cfg Config) (*Bubblewrap, error) {
	if cfg.RunDir == "" {
		cfg.RunDir = DefaultRunDir()
	}
	if cfg.StateDir == "" {
		cfg.StateDir = DefaultStateDir()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Bwrap == "" {
		path, err := exec.LookPath("bwrap")
		if err != nil {
			return nil, rebench.Errorf(rebench.CodeInvalid, "bubblewrap is missing (Debian: apt-get install bubblewrap): %w", err)
		}
		cfg.Bwrap = path
	}
	raw := make([]byte, 6)
	_, _ = rand.Read(raw)
	b := &Bubblewrap{cfg: cfg, id: hex.EncodeToString(raw), procs: map[*process]bool{}, workspaces: map[string]*workspace{}, roots: map[string]*Root{}}
	b.dir = filepath.Join(cfg.RunDir, "runners", b.id)
	if err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Bubblewrap) open() error {
	for _, dir := range []string{b.cfg.RunDir, b.cfg.StateDir, b.dir, filepath.Join(b.cfg.RunDir, "workspaces"),
		filepath.Join(b.cfg.StateDir, "roots"), filepath.Join(b.cfg.StateDir, "staged")} {
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	if os.Geteuid() == 0 {
		for _, dir := range []string{b.cfg.RunDir, b.cfg.StateDir} {
			if blocker := notTraversable(dir); blocker != "" {
				return rebench.Errorf(rebench.CodeInvalid, "directory %s: sandbox users cannot pass %s; choose another or add x for others", dir, blocker)
			}
		}
	}
	var err error
	if b.alive, err = lockFile(filepath.Join(b.dir, "lock")); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "runner directory: %w", err)
	}
	if b.users, err = newUserPool(); err != nil {
		return errors.Join(err, b.abandon())
	}
	if b.conf, err = newConfiner(b.cfg.Tier, b.id); err != nil {
		return errors.Join(err, b.abandon())
	}
	return nil
}

func (b *Bubblewrap) abandon() error {
	b.alive.Close()
	return os.RemoveAll(b.dir)
}

// makeDir makes dir with all parents; other users may pass through what it
// makes, not list it.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return rebench.Errorf(rebench.CodeInternal, "make directory: %w", err)
	}
	return os.Chmod(dir, 0o711)
}

// notTraversable returns the first directory on the way to path that other
// users may not pass, or "".
func notTraversable(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() && st.Mode().Perm()&0o001 == 0 {
			return dir
		}
		if dir == "/" || dir == "." {
			return ""
		}
	}
}

// lockFile creates and locks path; the kernel unlocks it when the process dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// Tier says how limits are enforced here.
func (b *Bubblewrap) Tier() Tier {
	t := b.conf.tier()
	if os.Geteuid() != 0 && t.Name != TierRlimit {
		t.Gaps = append(t.Gaps, "agent, submission and scorer run as the runner's own user",
			"bytes and files of writable directories are found exceeded only by a watchdog")
	}
	return t
}

// next returns a name that no other sandbox of this machine has.
func (b *Bubblewrap) next(name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", rebench.Errorf(rebench.CodeConflict, "the executor is closed")
	}
	b.seq++
	return strconv.Itoa(b.seq) + "-" + name, nil
}

// Close kills every sandbox, closes every workspace and removes what this
// runner made, built roots and staged trees apart.
func (b *Bubblewrap) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	var procs []*process
	for p := range b.procs {
		procs = append(procs, p)
	}
	var spaces []*workspace
	for _, w := range b.workspaces {
		spaces = append(spaces, w)
	}
	b.mu.Unlock()
	var errs []error
	for _, p := range procs {
		errs = append(errs, p.Kill(context.Background()))
	}
	for _, w := range spaces {
		errs = append(errs, w.Close())
	}
	_, _, err := b.conf.reap(groupPrefix + b.id + "-")
	errs = append(errs, err, b.abandon())
	return errors.Join(errs...)
}

// validName shortens name for use in longer names.
func validName(name string) string {
	if len(name) > 40 {
		name = name[:40]
	}
	return strings.TrimRight(name, "-")
}
