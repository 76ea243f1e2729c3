package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Users and groups as they appear inside.
const insideID = "1000"

// sandboxDir is a sandbox's own directory on the host: its tmpfs, data files
// and re-bound sources.
type sandboxDir struct {
	path  string
	uid   int // -1: the runner's own user
	count int
}

// BaseEnv is the environment of every sandbox: nothing of the runner's passes
// but OPENBLAS_*, which on some machines decides whether OpenBLAS computes
// correctly. Compute libraries use the given number of threads.
func BaseEnv(root *Root, threads int) map[string]string {
	env := map[string]string{
		"PATH": root.Path, "HOME": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
	}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OPENBLAS_") {
			env[name] = value
		}
	}
	for _, name := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"} {
		env[name] = strconv.Itoa(max(threads, 1))
	}
	return env
}

// checkSpec finds what is wrong with a spec before anything is made.
func checkSpec(spec *Spec) error {
	fault := func(format string, args ...any) error {
		return rebench.Errorf(rebench.CodeInvalid, "sandbox %s: "+format, append([]any{spec.Name}, args...)...)
	}
	if err := checkName(spec.Name); err != nil {
		return err
	}
	if _, ok := roleOffset[spec.Role]; !ok {
		return fault("role: found %q, expected agent, submission or scorer", spec.Role)
	}
	if spec.Root == nil || len(spec.Argv) == 0 || len(spec.Files) > 2 {
		return fault("expected a root, a command and at most 2 descriptors")
	}
	for name, value := range spec.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fault("environment variable %q: expected no = in its name and no zero byte", name)
		}
	}
	for _, arg := range spec.Argv {
		if strings.Contains(arg, "\x00") {
			return fault("argument %q: expected no zero byte", arg)
		}
	}
	if !cpuSet(spec.Limits.CPUSet) {
		return fault("limits: found cores %q, expected e.g. 0-1,4", spec.Limits.CPUSet)
	}
	return checkMounts(spec)
}

func checkMounts(spec *Spec) error {
	for _, m := range spec.Mounts {
		set := 0
		for _, is := range []bool{m.Source != "", m.Workspace != nil, m.Data != nil, m.Tmpfs != nil} {
			if is {
				set++
			}
		}
		if set != 1 || !filepath.IsAbs(m.Target) || filepath.Clean(m.Target) != m.Target || m.Target == "/" || strings.Contains(m.Target+m.Source, "\x00") {
			return rebench.Errorf(rebench.CodeInvalid, "sandbox %s: mount %+v: expected an absolute clean target and one source", spec.Name, m)
		}
	}
	return checkGPUs(spec.GPUs)
}

func cpuSet(s string) bool {
	return strings.Trim(s, "0123456789,-") == ""
}

// args returns bubblewrap's arguments, making what they refer to.
func (b *Bubblewrap) args(spec *Spec, sb *sandboxDir) ([]string, error) {
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1",
		"--cap-drop", "ALL", "--clearenv", "--uid", insideID, "--gid", insideID, "--hostname", "sandbox",
		"--seccomp", strconv.Itoa(seccompFD), "--json-status-fd", strconv.Itoa(statusFD),
	}
	if spec.Terminal == nil {
		args = append(args, "--new-session")
	}
	top, err := rootArgs(spec.Root)
	if err != nil {
		return nil, err
	}
	args = append(append(args, top...), "--proc", "/proc", "--dev", "/dev")
	for _, node := range gpuNodes(spec.GPUs) {
		args = append(args, "--dev-bind", node, node)
	}
	for _, dir := range sysDirs(len(spec.GPUs) > 0) {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	mounts := append([]Mount{
		{Target: "/dev/shm", Tmpfs: &spec.Limits.Tmp, Writable: true},
		{Target: "/tmp", Tmpfs: &spec.Limits.Tmp, Writable: true},
	}, spec.Mounts...)
	sort.SliceStable(mounts, func(i, j int) bool { return mounts[i].Target < mounts[j].Target })
	for _, m := range mounts {
		more, err := b.mountArgs(m, sb)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.Target, err)
		}
		args = append(args, more...)
	}
	args = append(args, "--remount-ro", "/dev", "--remount-ro", "/")
	for _, name := range sortedKeys(spec.Env) {
		args = append(args, "--setenv", name, spec.Env[name])
	}
	dir := spec.Dir
	if dir == "" {
		dir = "/"
	}
	return append(args, "--chdir", dir), nil
}

// sysDirs are what of /sys a sandbox sees: processor facts, and for CUDA the
// devices (which name the machine's hardware, no more).
func sysDirs(gpu bool) []string {
	if gpu {
		return []string{"/sys/devices", "/sys/bus/pci", "/sys/module"}
	}
	return []string{"/sys/devices/system/cpu", "/sys/devices/system/node"}
}

// rootArgs binds the top-level directories of a root and repeats its links.
func rootArgs(root *Root) ([]string, error) {
	entries, err := os.ReadDir(root.Dir)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	var args []string
	for _, e := range entries {
		path, inside := filepath.Join(root.Dir, e.Name()), "/"+e.Name()
		if e.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			if err != nil {
				return nil, fmt.Errorf("root: %w", err)
			}
			args = append(args, "--symlink", target, inside)
		} else if e.IsDir() {
			args = append(args, "--ro-bind", path, inside)
		}
	}
	for _, dir := range root.Binds {
		args = append(args, "--ro-bind", dir, dir)
	}
	return args, nil
}

func (b *Bubblewrap) mountArgs(m Mount, sb *sandboxDir) ([]string, error) {
	how := "--ro-bind"
	if m.Writable {
		how = "--bind"
	}
	switch {
	case m.Tmpfs != nil:
		if sb.uid < 0 {
			return []string{"--perms", "1777", "--size", strconv.FormatInt(m.Tmpfs.Bytes, 10), "--tmpfs", m.Target}, nil
		}
		dir := sb.name("tmpfs")
		if err := mountTmpfs(dir, *m.Tmpfs, sb.uid, 0o1777); err != nil {
			return nil, err
		}
		return []string{"--bind", dir, m.Target}, nil
	case m.Data != nil:
		mode := os.FileMode(0o444)
		if m.Executable {
			mode = 0o555
		}
		path := sb.name("data")
		if err := os.WriteFile(path, m.Data, mode); err != nil {
			return nil, err
		}
		return []string{"--ro-bind", path, m.Target}, os.Chmod(path, mode)
	case m.Workspace != nil:
		return []string{how, m.Workspace.Path(), m.Target}, nil
	}
	source, err := sb.reach(m.Source)
	return []string{how, source, m.Target}, err
}

func (sb *sandboxDir) name(kind string) string {
	sb.count++
	return filepath.Join(sb.path, kind+strconv.Itoa(sb.count))
}

// reach returns a path to source that the sandbox's user can follow: below a
// private directory (/root) it is bound to where the user can pass.
func (sb *sandboxDir) reach(source string) (string, error) {
	source, err := filepath.EvalSymlinks(source)
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "mount source: %w", err)
	}
	st, err := os.Stat(source)
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "source %s: %w", source, err)
	}
	if sb.uid < 0 || notTraversable(filepath.Dir(source)) == "" {
		return source, nil
	}
	at := sb.name("bind")
	if st.IsDir() {
		err = os.Mkdir(at, 0o700)
	} else {
		err = os.WriteFile(at, nil, 0o600)
	}
	if err != nil {
		return "", err
	}
	return at, unix.Mount(source, at, "", unix.MS_BIND|unix.MS_REC, "")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
