package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// RootSpec says what a sandbox's read-only root holds beyond a shell, the
// core utilities and the Python interpreter with its standard library.
type RootSpec struct {
	// Python is the interpreter, "/usr/bin/python3" when empty.
	Python string
	// PythonModules are importable names, e.g. "numpy"; what importing them
	// loads comes along.
	PythonModules []string
	// Tools are named sets, see ToolSets: "cc", "rust", "edit".
	Tools []string
	// Extra are further host files or directories, kept at their paths. For a
	// program its shared libraries come along.
	Extra []string
	// NVIDIA adds the driver's user-space libraries.
	NVIDIA bool
}

// Root is a built root.
type Root struct {
	Dir    string   `json:"dir"`    // image on the host, holds usr, etc
	Binds  []string `json:"binds"`  // host directories too large to copy, bound at their own paths
	SHA256 string   `json:"sha256"` // of the list of paths, sizes and times it was built from
	Python string   `json:"python"` // path of the interpreter inside
	Path   string   `json:"path"`   // value of PATH inside
	Bytes  int64    `json:"bytes"`  // copied
	Files  int      `json:"files"`
}

// rootVersion changes when the same host files would be laid out differently.
const rootVersion = "2"

// manifest remembers what a root was built from, so that the next runner need
// not ask the tools again.
type manifest struct {
	Root    Root        `json:"root"`
	Sources []rootEntry `json:"sources"`
}

// Root returns a root for spec; see Executor. A built root is used again as
// long as no file that it was copied from has changed.
func (b *Bubblewrap) Root(ctx context.Context, spec RootSpec) (*Root, error) {
	if spec.Python == "" {
		spec.Python = "/usr/bin/python3"
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "root: %w", err)
	}
	sum := sha256.Sum256(append([]byte(rootVersion+"\n"), raw...))
	key := hex.EncodeToString(sum[:8])
	b.mu.Lock()
	known := b.roots[key]
	b.mu.Unlock()
	if known != nil {
		return known, nil
	}
	dir := filepath.Join(b.cfg.StateDir, "roots")
	unlock, err := waitLock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "root: %w", err)
	}
	defer unlock()
	record := filepath.Join(dir, key+".json")
	root := reuseRoot(record)
	if root == nil {
		if root, err = b.buildRoot(ctx, spec, dir, record); err != nil {
			return nil, rebench.Errorf(rebench.ErrorCode(err), "root for sandboxes: %w", err)
		}
	}
	b.mu.Lock()
	b.roots[key] = root
	b.mu.Unlock()
	return root, nil
}

// reuseRoot returns the recorded root if every source is as it was.
func reuseRoot(record string) *Root {
	raw, err := os.ReadFile(record)
	if err != nil {
		return nil
	}
	var m manifest
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	for _, s := range m.Sources {
		now, err := statEntry(s.Path)
		if err != nil || now != s {
			return nil
		}
	}
	if st, err := os.Stat(m.Root.Dir); err != nil || !st.IsDir() {
		return nil
	}
	return &m.Root
}

func (b *Bubblewrap) buildRoot(ctx context.Context, spec RootSpec, dir, record string) (*Root, error) {
	start := time.Now()
	c := newCollector()
	if err := c.collect(ctx, spec); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	m, err := c.write(ctx, tmp)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	m.Root.Python, m.Root.Path = spec.Python, searchPath(spec.Python)
	m.Root.Dir = filepath.Join(dir, m.Root.SHA256[:16])
	if err := os.Rename(tmp, m.Root.Dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, os.ErrExist) {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	if err := os.WriteFile(record, raw, 0o600); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "build: %w", err)
	}
	b.cfg.Logger.Info("built a root for sandboxes", "dir", m.Root.Dir, "files", m.Root.Files, "bytes", m.Root.Bytes, "took", time.Since(start))
	return &m.Root, nil
}

// searchPath is PATH inside, the interpreter's directory first.
func searchPath(python string) string {
	path := "/usr/bin:/bin"
	if dir := filepath.Dir(python); dir != "/usr/bin" && dir != "/bin" {
		path = dir + ":" + path
	}
	return path
}

// waitLock waits for an exclusive lock on path.
func waitLock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stage copies a trusted tree; see Executor. Directories named __pycache__ are
// left out: they differ without any difference in the source.
func (b *Bubblewrap) Stage(ctx context.Context, src string) (Staged, error) {
	sum, err := SourceHash(src)
	if err != nil {
		return Staged{}, fmt.Errorf("stage %s: %w", src, err)
	}
	dir := filepath.Join(b.cfg.StateDir, "staged")
	dst := filepath.Join(dir, sum)
	if have, err := TreeHash(dst); err == nil && have == sum {
		return Staged{Path: dst, SHA256: sum}, nil
	}
	unlock, err := waitLock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return Staged{}, rebench.Errorf(rebench.CodeInternal, "stage: %w", err)
	}
	defer unlock()
	if err := os.RemoveAll(dst); err != nil { // damaged
		return Staged{}, rebench.Errorf(rebench.CodeInternal, "stage: %w", err)
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return Staged{}, rebench.Errorf(rebench.CodeInternal, "stage: %w", err)
	}
	defer os.RemoveAll(tmp)
	fd, err := unix.Open(tmp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Staged{}, rebench.Errorf(rebench.CodeInternal, "stage: %w", err)
	}
	defer unix.Close(fd)
	w := sourceWalker()
	if err := w.run(ctx, src, ".", fd); err != nil {
		return Staged{}, fmt.Errorf("stage %s: %w", src, err)
	}
	if got := hex.EncodeToString(w.sum.Sum(nil)); got != sum {
		return Staged{}, rebench.Errorf(rebench.CodeConflict, "stage %s: it changed meanwhile", src)
	}
	if err := errors.Join(os.Chmod(tmp, 0o755), os.Rename(tmp, dst)); err != nil {
		return Staged{}, rebench.Errorf(rebench.CodeInternal, "stage: %w", err)
	}
	return Staged{Path: dst, SHA256: sum}, nil
}

func trimmedLines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
