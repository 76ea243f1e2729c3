package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// rootEntry identifies one host file that a root was built from.
type rootEntry struct {
	Path    string `json:"p"`
	Size    int64  `json:"s"`
	MTimeNS int64  `json:"t"`
	Mode    uint32 `json:"m"`
}

func statEntry(path string) (rootEntry, error) {
	st, err := os.Stat(path)
	if err != nil {
		return rootEntry{}, err
	}
	return rootEntry{Path: path, Size: st.Size(), MTimeNS: st.ModTime().UnixNano(), Mode: uint32(st.Mode())}, nil
}

// bindAbove is the size above which a directory is bound rather than copied.
const bindAbove = 400 << 20

// collector gathers host paths; nothing that it was not told gets in.
type collector struct {
	files   map[string]rootEntry // real path -> what it is
	links   map[string]string    // path -> real path it leads to
	made    map[string]string    // path -> content that is ours
	binds   []string
	scanned map[string]bool // ELF files whose libraries are in
	libs    libraries
}

func newCollector() *collector {
	return &collector{files: map[string]rootEntry{}, links: map[string]string{}, made: map[string]string{}, scanned: map[string]bool{}}
}

// collect gathers everything that spec asks for.
func (c *collector) collect(ctx context.Context, spec RootSpec) error {
	var err error
	if c.libs, err = readLibraries(ctx); err != nil {
		return err
	}
	for _, dir := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if target, err := os.Readlink("/" + dir); err == nil {
			c.links["/"+dir] = target
		}
	}
	c.etc()
	if err := c.shell(); err != nil {
		return err
	}
	if err := c.python(ctx, spec); err != nil {
		return err
	}
	for _, name := range spec.Tools {
		add, ok := toolSets[name]
		if !ok {
			return rebench.Errorf(rebench.CodeInvalid, "tools: found %q, expected one of %s", name, strings.Join(ToolSets(), ", "))
		}
		if err := add(ctx, c); err != nil {
			return err
		}
	}
	for _, path := range spec.Extra {
		if err := c.any(path); err != nil {
			return err
		}
	}
	if spec.NVIDIA {
		c.nvidia()
	}
	return c.closeOverLibraries()
}

// etc are the few configuration files that programs expect.
func (c *collector) etc() {
	c.made["/etc/passwd"] = "root:x:0:0:root:/root:/bin/sh\nsandbox:x:1000:1000:sandbox:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
	c.made["/etc/group"] = "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"
	c.made["/etc/hosts"] = "127.0.0.1 localhost sandbox\n::1 localhost\n"
	c.made["/etc/nsswitch.conf"] = "passwd: files\ngroup: files\nhosts: files\n"
	_ = c.file("/etc/ld.so.cache")
	_ = c.tree("/usr/lib/locale/C.utf8", nil)
}

// any adds a file or a directory.
func (c *collector) any(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "%s: %w", path, err)
	}
	if st.IsDir() {
		return c.tree(path, nil)
	}
	return c.file(path)
}

// file adds one regular file, and the link at path if it is one.
func (c *collector) file(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "%s: %w", path, err)
	}
	entry, err := statEntry(real)
	if err != nil || !os.FileMode(entry.Mode).IsRegular() {
		return rebench.Errorf(rebench.CodeInvalid, "%s: not a regular file", path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "%s: %w", path, err)
	}
	if at := filepath.Join(dir, filepath.Base(path)); at != real {
		c.links[at] = real
	}
	c.files[real] = entry
	return nil
}

// tree adds a directory with all regular files below it. Links to files come
// as their targets; dangling ones, and those to directories, are left out.
func (c *collector) tree(dir string, skip func(rel string, d fs.DirEntry) bool) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "%s: %w", dir, err)
	}
	return filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		rel, _ := filepath.Rel(real, path)
		if rel != "." && skip != nil && skip(rel, d) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 {
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
				return c.file(path)
			}
		}
		return nil
	})
}

// pkg adds a package's directory, by binding it when it is large.
func (c *collector) pkg(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "%s: %w", dir, err)
	}
	before := c.size()
	had := len(c.files)
	if err := c.tree(real, nil); err != nil {
		return err
	}
	if len(c.files) == had || c.size()-before <= bindAbove {
		return nil
	}
	for path := range c.files {
		if below(path, real) {
			// Scanned for the libraries it needs, but not copied.
			if err := c.scan(path); err != nil {
				return err
			}
			delete(c.files, path)
		}
	}
	c.binds = append(c.binds, real)
	return nil
}

func below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

func (c *collector) size() int64 {
	var n int64
	for _, e := range c.files {
		n += e.Size
	}
	return n
}

// write lays the image out below dir.
func (c *collector) write(ctx context.Context, dir string) (*manifest, error) {
	m := &manifest{}
	sum := sha256.New()
	for _, path := range sortedPaths(c.files) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := c.files[path]
		if err := copyInto(dir, path, e); err != nil {
			return nil, err
		}
		m.Sources = append(m.Sources, e)
		m.Root.Bytes += e.Size
		fmt.Fprintf(sum, "file %s %d %d %o\n", path, e.Size, e.MTimeNS, e.Mode)
	}
	for _, path := range sortedPaths(c.made) {
		at, err := placeIn(dir, path)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, []byte(c.made[path]), 0o644); err != nil {
			return nil, err
		}
		fmt.Fprintf(sum, "made %s %q\n", path, c.made[path])
	}
	for _, path := range sortedPaths(c.links) {
		at, err := placeIn(dir, path)
		if err != nil {
			return nil, err
		}
		if err := os.Symlink(c.links[path], at); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		fmt.Fprintf(sum, "link %s %s\n", path, c.links[path])
	}
	slices.Sort(c.binds)
	for _, path := range c.binds {
		at, err := placeIn(dir, path)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			return nil, err
		}
		e, err := statEntry(path)
		if err != nil {
			return nil, err
		}
		m.Sources = append(m.Sources, e)
		fmt.Fprintf(sum, "bind %s %d\n", path, e.MTimeNS)
	}
	m.Root.Binds, m.Root.Files = c.binds, len(c.files)
	m.Root.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return m, nil
}

// placeIn makes the directories for path below dir.
func placeIn(dir, path string) (string, error) {
	at := filepath.Join(dir, path)
	return at, os.MkdirAll(filepath.Dir(at), 0o755)
}

func copyInto(dir, path string, e rootEntry) error {
	at, err := placeIn(dir, path)
	if err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	// No set-user-id bits, nothing writable, readable by all.
	mode := os.FileMode(0o444)
	if os.FileMode(e.Mode).Perm()&0o111 != 0 {
		mode = 0o555
	}
	out, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	err = errors.Join(err, out.Chmod(mode), out.Close())
	if err != nil {
		return err
	}
	// The time decides whether Python's compiled files are taken as current.
	t := unix.NsecToTimespec(e.MTimeNS)
	return unix.UtimesNanoAt(unix.AT_FDCWD, at, []unix.Timespec{t, t}, 0)
}

func sortedPaths[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for p := range m {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
