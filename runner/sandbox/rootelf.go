package sandbox

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// libraries maps a shared library's name to its path, as the dynamic loader's
// cache has it.
type libraries map[string]string

var cacheLine = regexp.MustCompile(`^(\S+) \(([^)]*)\) => (\S+)$`)

// cacheArch is how ldconfig(8) marks libraries of this machine's main ABI.
var cacheArch = map[string]string{"amd64": "x86-64", "arm64": "AArch64"}

// readLibraries asks ldconfig for the loader's cache.
func readLibraries(ctx context.Context) (libraries, error) {
	var raw []byte
	var err error
	for _, path := range []string{"/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"} {
		cmd := exec.CommandContext(ctx, path, "-p")
		cmd.Env = []string{"LC_ALL=C"}
		if raw, err = cmd.Output(); err == nil {
			return parseLibraries(string(raw), cacheArch[goarch]), nil
		}
	}
	return nil, rebench.Errorf(rebench.CodeInvalid, "shared libraries: ldconfig -p: %w", err)
}

// parseLibraries reads the output of ldconfig -p; the first of a name wins.
func parseLibraries(text, arch string) libraries {
	out := libraries{}
	for _, line := range trimmedLines(text) {
		m := cacheLine.FindStringSubmatch(line)
		if m == nil || !strings.Contains(m[2], arch) {
			continue
		}
		if _, ok := out[m[1]]; !ok {
			out[m[1]] = m[3]
		}
	}
	return out
}

// closeOverLibraries adds what the collected programs and libraries load, until
// nothing is missing.
func (c *collector) closeOverLibraries() error {
	_ = c.library("libgcc_s.so.1") // opened by name when a thread is cancelled
	for {
		n := len(c.files)
		for _, path := range sortedPaths(c.files) {
			if err := c.scan(path); err != nil {
				return err
			}
		}
		if len(c.files) == n {
			return nil
		}
	}
}

// scan adds the libraries and the interpreter of one ELF file.
func (c *collector) scan(path string) error {
	if c.scanned[path] {
		return nil
	}
	c.scanned[path] = true
	if !isELF(path) {
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil // an object of another kind, e.g. for a GPU
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			buf := make([]byte, p.Filesz)
			if _, err := p.ReadAt(buf, 0); err == nil {
				if err := c.file(strings.TrimRight(string(buf), "\x00")); err != nil {
					return err
				}
			}
		}
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	dirs := runPaths(f, filepath.Dir(path))
	for _, name := range needed {
		c.resolve(name, dirs)
	}
	return nil
}

// resolve finds a needed library like ld.so(8): in the file's own directories
// and in the cache. Both, since $ORIGIN means the directory that a file was
// opened through, which a link makes another than its own. One that is nowhere
// is left to fail at run time, as it would on the host.
func (c *collector) resolve(name string, dirs []string) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil && !c.bound(path) {
			_ = c.file(path)
		}
	}
	_ = c.library(name)
}

// bound says whether path comes with a directory that is bound whole.
func (c *collector) bound(path string) bool {
	return slices.ContainsFunc(c.binds, func(dir string) bool { return below(path, dir) })
}

func (c *collector) library(name string) error {
	path, ok := c.libs[name]
	if !ok {
		return rebench.Errorf(rebench.CodeNotFound, "library %s is not installed", name)
	}
	return c.file(path)
}

// runPaths returns DT_RUNPATH or DT_RPATH with $ORIGIN replaced.
func runPaths(f *elf.File, origin string) []string {
	var out []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			continue
		}
		for _, v := range values {
			for dir := range strings.SplitSeq(v, ":") {
				dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir)
				if filepath.IsAbs(dir) {
					out = append(out, dir)
				}
			}
		}
	}
	return out
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.Read(magic[:])
	return err == nil && string(magic[:]) == elf.ELFMAG
}
