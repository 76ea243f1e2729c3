package sandbox

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

const goarch = runtime.GOARCH

// toolSets are the sets that RootSpec.Tools names.
var toolSets = map[string]func(context.Context, *collector) error{
	"cc": addCC, "rust": addRust, "edit": addEditors,
}

// ToolSets returns the names that RootSpec.Tools may hold: "cc" is a C compiler
// with the C library's headers, "rust" rustc with cc, "edit" what a person at a
// terminal wants.
func ToolSets() []string { return []string{"cc", "edit", "rust"} }

var shellPrograms = strings.Fields(`bash dash
	arch b2sum base32 base64 basename cat chmod cksum comm cp csplit cut date dd df dir dirname du echo env expand
	expr factor false fmt fold head hostname id install join link ln ls md5sum mkdir mkfifo mktemp mv nl nproc numfmt od
	paste pathchk pr printenv printf pwd readlink realpath rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum
	shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty
	uname unexpand uniq unlink vdir wc whoami yes
	grep egrep fgrep sed awk mawk find xargs tar gzip gunzip zcat cmp diff which kill ps lscpu taskset getopt`)

// shell adds a POSIX shell and the core utilities that the host has.
func (c *collector) shell() error {
	if err := c.program("sh"); err != nil {
		return err
	}
	for _, name := range shellPrograms {
		_ = c.program(name)
	}
	_ = c.file("/usr/libexec/coreutils/libstdbuf.so")
	return nil
}

// program adds a program by name from the system's own directories.
func (c *collector) program(name string) error {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin"} {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return c.file(path)
		}
	}
	return rebench.Errorf(rebench.CodeInvalid, "program %s is not installed in /usr/bin", name)
}

// ask runs a host tool with an empty environment and returns its output.
func ask(ctx context.Context, stdin string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "%s: %v: %s", strings.Join(argv[:min(2, len(argv))], " "), err, lastLine(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func lastLine(s string) string {
	lines := trimmedLines(s)
	if len(lines) == 0 {
		return "no message"
	}
	return lines[len(lines)-1]
}

// askPython lists what an interpreter and modules consist of. It looks at what
// importing really loads, since not every package declares what it needs.
const askPython = `
import importlib, json, os, site, sys, sysconfig
for m in json.load(sys.stdin):
    importlib.import_module(m)
std = {os.path.realpath(sysconfig.get_path(k)) for k in ("stdlib", "platstdlib")}
sites = {os.path.realpath(p) for p in site.getsitepackages() if os.path.isdir(p)}
found, names = set(), set()
for name, m in list(sys.modules.items()):
    top = sys.modules.get(name.split(".")[0])
    spec = getattr(top, "__spec__", None)
    if spec is None or (spec.origin in (None, "built-in", "frozen") and not spec.submodule_search_locations):
        continue
    for place in list(spec.submodule_search_locations or [spec.origin]):
        if place and os.path.exists(place) and any(os.path.realpath(place).startswith(s + os.sep) for s in sites):
            found.add(place)
            names.add(name.split(".")[0])
            if os.path.isdir(place + ".libs"):
                found.add(place + ".libs")
try:
    import importlib.metadata as md
    for n in names:
        for d in md.packages_distributions().get(n, []):
            p = getattr(md.distribution(d), "_path", None)
            if p and os.path.exists(p):
                found.add(str(p))
except Exception:
    pass
cfg = os.path.join(sys.prefix, "pyvenv.cfg")
print(json.dumps({"executable": sys.executable, "stdlib": sorted(std), "modules": sorted(found),
                  "config": cfg if os.path.exists(cfg) else ""}))
`

// python adds the interpreter, its standard library and the asked modules.
func (c *collector) python(ctx context.Context, spec RootSpec) error {
	modules := spec.PythonModules
	if modules == nil {
		modules = []string{}
	}
	raw, err := json.Marshal(modules)
	if err != nil {
		return rebench.Errorf(rebench.CodeInternal, "python: %w", err)
	}
	out, err := ask(ctx, string(raw), spec.Python, "-I", "-B", "-c", askPython)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "python modules %v: %w", spec.PythonModules, err)
	}
	var has struct {
		Executable      string
		Stdlib, Modules []string
		Config          string
	}
	if err := json.Unmarshal([]byte(out), &has); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "python: %w", err)
	}
	if err := c.file(spec.Python); err != nil {
		return err
	}
	if has.Config != "" {
		if err := c.file(has.Config); err != nil {
			return err
		}
	}
	for _, dir := range has.Stdlib {
		if err := c.tree(dir, skipStdlib); err != nil {
			return err
		}
	}
	for _, path := range has.Modules {
		st, err := os.Stat(path)
		if err != nil {
			return rebench.Errorf(rebench.CodeInvalid, "python module %s: %w", path, err)
		}
		if !st.IsDir() {
			err = c.file(path)
		} else {
			err = c.pkg(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipStdlib leaves out what no submission needs, and site directories, whose
// packages come by name.
func skipStdlib(rel string, d fs.DirEntry) bool {
	if !d.IsDir() {
		return false
	}
	base := filepath.Base(rel)
	return slices.Contains([]string{"site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip"}, base) ||
		strings.HasPrefix(base, "config-")
}

// addCC asks the compiler driver for its parts.
func addCC(ctx context.Context, c *collector) error {
	const gcc = "/usr/bin/gcc"
	libgcc, err := ask(ctx, "", gcc, "-print-libgcc-file-name")
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "C compiler (Debian: apt-get install gcc libc6-dev): %w", err)
	}
	if err := c.tree(filepath.Dir(libgcc), skipCompiler); err != nil {
		return err
	}
	for _, name := range []string{"gcc", "cc", "as", "ld"} {
		if err := c.program(name); err != nil {
			return err
		}
	}
	for _, name := range []string{"ar", "nm", "ranlib", "strip", "objdump", "readelf", "size", "make", "gcc-ar", "gcc-nm", "gcc-ranlib"} {
		_ = c.program(name)
	}
	for _, name := range []string{"cc1", "collect2", "lto1", "lto-wrapper", "as", "ld"} {
		if path, err := ask(ctx, "", gcc, "-print-prog-name="+name); err == nil && filepath.IsAbs(path) {
			_ = c.file(path)
		}
	}
	for _, name := range []string{
		"crt1.o", "Scrt1.o", "rcrt1.o", "crti.o", "crtn.o", "libc.so", "libc.a", "libc_nonshared.a", "libm.so", "libm.a", "libmvec.so", "libmvec.a",
		"libpthread.a", "libdl.a", "librt.a", "libutil.a", "libgomp.so", "libgomp.so.1", "libgcc_s.so", "libgcc_s.so.1",
		"libmvec.so.1", "libm.so.6", "libatomic.so.1", "libquadmath.so.0",
	} {
		if path, err := ask(ctx, "", gcc, "-print-file-name="+name); err == nil && filepath.IsAbs(path) {
			_ = c.file(path)
		}
	}
	// libm.a of glibc is a script that names the archive with its version.
	if libm, err := ask(ctx, "", gcc, "-print-file-name=libm.a"); err == nil {
		paths, _ := filepath.Glob(filepath.Join(filepath.Dir(libm), "libm-*.a"))
		for _, p := range paths {
			_ = c.file(p)
		}
	}
	return c.headers(ctx, gcc)
}

// skipCompiler leaves out other languages, sanitizers and plugin headers.
func skipCompiler(rel string, d fs.DirEntry) bool {
	base := filepath.Base(rel)
	return base == "plugin" || base == "cc1plus" || base == "f951" || base == "gnat1" || base == "g++-mapper-server" ||
		(strings.HasPrefix(base, "lib") && strings.Contains(base, "san"))
}

// headers adds the C library's and the kernel's headers, not those of other
// packages.
func (c *collector) headers(ctx context.Context, gcc string) error {
	triple, err := ask(ctx, "", gcc, "-print-multiarch")
	if err != nil {
		return err
	}
	dirs := []string{"/usr/include/linux", "/usr/include/asm-generic", "/usr/include/arpa", "/usr/include/net", "/usr/include/netinet",
		"/usr/include/protocols", "/usr/include/rpc", "/usr/include/scsi", "/usr/include/sys"}
	for _, sub := range []string{"asm", "bits", "gnu", "sys", "fpu_control.h", "ieee754.h"} {
		dirs = append(dirs, filepath.Join("/usr/include", triple, sub))
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			if err := c.any(dir); err != nil {
				return err
			}
		}
	}
	top, err := filepath.Glob("/usr/include/*.h")
	if err != nil || len(top) == 0 {
		return rebench.Errorf(rebench.CodeInvalid, "the C library's headers are missing (Debian: apt-get install libc6-dev)")
	}
	for _, path := range top {
		_ = c.file(path)
	}
	return nil
}

// addRust adds rustc with its standard library, and the linker it calls.
func addRust(ctx context.Context, c *collector) error {
	sysroot, err := ask(ctx, "", "/usr/bin/rustc", "--print", "sysroot")
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "Rust (Debian: apt-get install rustc): %w", err)
	}
	if err := c.program("rustc"); err != nil {
		return err
	}
	if err := c.tree(filepath.Join(sysroot, "lib", "rustlib"), func(rel string, d fs.DirEntry) bool {
		return d.IsDir() && (rel == "src" || rel == "etc")
	}); err != nil {
		return err
	}
	return addCC(ctx, c)
}

// addEditors adds what is there; a person can work without any one of them.
func addEditors(_ context.Context, c *collector) error {
	for _, name := range []string{"nano", "vi", "vim", "vim.tiny", "less", "more", "clear", "reset", "tput", "patch", "git", "top"} {
		_ = c.program(name)
	}
	for _, dir := range []string{"/usr/lib/git-core", "/usr/share/git-core/templates", "/lib/terminfo", "/usr/share/terminfo", "/usr/share/vim"} {
		if _, err := os.Stat(dir); err == nil {
			if err := c.tree(dir, func(rel string, _ fs.DirEntry) bool { return strings.Contains(rel, "doc") }); err != nil {
				return err
			}
		}
	}
	return nil
}

// nvidia adds the driver's user-space libraries that the loader's cache knows.
func (c *collector) nvidia() {
	for name := range c.libs {
		if strings.HasPrefix(name, "libcuda.so") || strings.HasPrefix(name, "libcudadebugger.so") || strings.HasPrefix(name, "libnvidia-") {
			_ = c.library(name)
		}
	}
	_ = c.program("nvidia-smi")
}
