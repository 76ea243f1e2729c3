package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Descriptors of the launcher and bubblewrap; 3 and 4 are the program's.
// One digit: POSIX shells redirect no others.
const (
	readerFD  = 5 // the status pipe's other end: bubblewrap must not die of writing to a dead runner
	gateFD    = 6 // see launcher and starter
	argsFD    = 7
	seccompFD = 8
	statusFD  = 9
)

// launcher waits until it has been put into its control groups, sets resource
// limits, and becomes bubblewrap. Its environment must be empty: the first
// process inside shows it.
const launcher = `unset PWD OLDPWD
IFS= read -r go <&6 || exit 125
umask 022
ulimit -c 0 && ulimit -n "$1" && ulimit -f "$2" || exit 125
shift 2
exec "$@"`

// starter is the first process inside (--as-pid-1): with it all others end, and
// bubblewrap waits for it, while a first process of bubblewrap's own would stay
// a zombie until the host's init looks. It runs as the program's user, so it is
// as confined as the program: the same filter, no capability. A program that
// cannot be executed ends with status 127 or 126 in every case, and is not
// mistaken for a failure to set up the sandbox.
//
// It asks the runner before it starts the program. Bubblewrap arms the signals
// that let the sandbox die with the runner some time after it was started, and
// does not look whether that has died before: the answer means that it lived
// when they were armed. No signal is armed earlier, since bubblewrap, killed in
// the middle of its work, leaves a child that waits for it for ever. Between
// bubblewrap's own arming and its next system call that can still happen: then
// an idle process stays, which has run nothing of the program's and never will,
// until Recover.
const starter = askRunner + runProgram

// limitedStarter first sets the limits that count per user namespace, and so
// must be set inside.
const limitedStarter = askRunner + `ulimit -p "$1" 2>/dev/null || ulimit -u "$1" || exit 125
test "$2" = 0 || ulimit -v "$2" || exit 125
shift 2
` + runProgram

const (
	askRunner = `echo up >&6 && IFS= read -r go <&6 || exit 125
exec 5<&- 6<&-
`
	runProgram = `"$@"; exit $?`
)

// Start starts one sandbox; see Executor.
func (b *Bubblewrap) Start(ctx context.Context, spec Spec) (Process, error) {
	spec.Limits = spec.Limits.withDefaults()
	if err := checkSpec(&spec); err != nil {
		return nil, err
	}
	label, err := b.next(validName(spec.Name))
	if err != nil {
		return nil, err
	}
	p := &process{b: b, spec: spec, label: label, done: make(chan struct{})}
	if err := p.prepare(); err != nil {
		return nil, wrapStart(spec.Name, errors.Join(err, p.cleanUp()))
	}
	if err := p.launch(ctx); err != nil {
		return nil, wrapStart(spec.Name, errors.Join(err, p.cleanUp()))
	}
	return p, nil
}

func wrapStart(name string, err error) error {
	return rebench.Errorf(rebench.ErrorCode(err), "start sandbox %s: %w", name, err)
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	pick := func(v *int64, def int64) {
		if *v == 0 {
			*v = def
		}
	}
	if l.Wall == 0 {
		l.Wall = d.Wall
	}
	if l.CPUs == 0 {
		l.CPUs = d.CPUs
	}
	pick(&l.MemoryBytes, d.MemoryBytes)
	pick(&l.PIDs, d.PIDs)
	pick(&l.OpenFiles, d.OpenFiles)
	pick(&l.FileBytes, d.FileBytes)
	pick(&l.OutputBytes, d.OutputBytes)
	pick(&l.Tmp.Bytes, d.Tmp.Bytes)
	pick(&l.Tmp.Inodes, d.Tmp.Inodes)
	return l
}

// prepare makes everything that a sandbox needs before its first process.
func (p *process) prepare() error {
	var err error
	if p.user, err = p.b.userFor(&p.spec); err != nil {
		return err
	}
	p.dir = &sandboxDir{path: filepath.Join(p.b.dir, p.label), uid: p.user.uid}
	if err := os.Mkdir(p.dir.path, 0o711); err != nil {
		return err
	}
	if p.args, err = p.b.args(&p.spec, p.dir); err != nil {
		return err
	}
	p.group, err = p.b.conf.group(p.groupName(), p.spec.Limits, p.spec.GPUs)
	return err
}

// groupName names the sandbox's group, and its processes for Recover.
func (p *process) groupName() string { return groupPrefix + p.b.id + "-" + p.label }

// filterOptions denies memory that the watchdog cannot see to all but trusted
// code, and to none with a GPU, whose driver needs it.
func (p *process) filterOptions() filterOptions {
	return filterOptions{
		noHiddenMemory: p.weak() && p.spec.Role != RoleScorer && len(p.spec.GPUs) == 0,
		noInternet:     p.spec.NoInternet,
	}
}

// userFor returns the user of the workspaces that spec may write, else of one of
// its role that it may read (whose files may be private), else a new one.
func (b *Bubblewrap) userFor(spec *Spec) (*user, error) {
	var owner, reader *user
	for _, m := range spec.Mounts {
		if m.Workspace == nil {
			continue
		}
		w, ok := m.Workspace.(*workspace)
		if !ok || w.user == nil {
			return nil, rebench.Errorf(rebench.CodeInvalid, "workspace %s is closed or not of this executor", m.Workspace.Name())
		}
		if !m.Writable {
			if w.meta.Role == spec.Role {
				reader = w.user
			}
			continue
		}
		if w.meta.Role != spec.Role {
			return nil, rebench.Errorf(rebench.CodeInvalid, "workspace %s is for the role %s, not %s", w.name, w.meta.Role, spec.Role)
		}
		if owner != nil && owner != w.user {
			return nil, rebench.Errorf(rebench.CodeInvalid, "two writable workspaces of different users")
		}
		owner = w.user
	}
	if owner == nil {
		owner = reader
	}
	if owner != nil {
		return owner.share(), nil
	}
	return b.users.lease(spec.Role)
}

// launch starts the launcher, puts it into its groups and lets it go.
func (p *process) launch(ctx context.Context) error {
	var opened []*os.File
	defer func() {
		for _, f := range opened {
			f.Close()
		}
	}()
	keep := func(f *os.File, err error) (*os.File, error) {
		if err == nil {
			opened = append(opened, f)
		}
		return f, err
	}
	argsFile, err := keep(memoryFile("args", []byte(strings.Join(p.args, "\x00")+"\x00")))
	if err != nil {
		return err
	}
	filter, err := keep(memoryFile("seccomp", seccompFilter(p.filterOptions())))
	if err != nil {
		return err
	}
	gate, theirs, err := gatePair()
	if err != nil {
		return err
	}
	opened = append(opened, theirs)
	statusOut, statusIn, err := os.Pipe()
	if err != nil {
		gate.Close()
		return err
	}
	opened = append(opened, statusIn)
	p.command(statusOut, theirs, argsFile, filter, statusIn)
	// Descriptors that this process inherited without close-on-exec must not pass.
	if err = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		gate.Close()
		statusOut.Close()
		return err
	}
	statusIn.Close()
	theirs.Close()
	p.started = time.Now()
	p.gate = gate
	p.track(statusOut)
	if err := p.admit(); err == nil {
		_, _ = gate.WriteString("go\n") // a launcher that is gone says so by its end
	} else {
		p.end(CauseKilled, "start failed")
		<-p.done
		return err
	}
	p.watch(ctx)
	return nil
}

// admit puts the waiting launcher into its groups and on its cores.
func (p *process) admit() error {
	pid := p.cmd.Process.Pid
	if err := p.group.adopt(pid); err != nil {
		return err
	}
	// When the whole machine runs out of memory, sandboxes go first.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0)
	if p.spec.Limits.CPUSet == "" {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range listCPUs(p.spec.Limits.CPUSet) {
		set.Set(cpu)
	}
	return unix.SchedSetaffinity(pid, &set)
}

// listCPUs expands e.g. "0-2,5".
func listCPUs(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		low, high, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		b := a
		if ranged {
			b, _ = strconv.Atoi(high)
		}
		for cpu := a; cpu <= b && cpu < 4096; cpu++ {
			out = append(out, cpu)
		}
	}
	return out
}

// command fills p.cmd.
func (p *process) command(reader, gate, args, filter, status *os.File) {
	limits := p.spec.Limits
	argv := append([]string{"/bin/sh", "-c", starter, p.groupName()}, p.spec.Argv...)
	if p.weak() {
		addressKB := int64(0)
		if len(p.spec.GPUs) == 0 { // CUDA reserves far more than it uses
			addressKB = limits.MemoryBytes >> 10
		}
		argv = append([]string{"/bin/sh", "-c", limitedStarter, p.groupName(), strconv.FormatInt(limits.PIDs, 10), strconv.FormatInt(addressKB, 10)}, p.spec.Argv...)
	}
	line := append([]string{
		"-c", launcher, p.groupName(), strconv.FormatInt(limits.OpenFiles, 10), strconv.FormatInt((limits.FileBytes+511)/512, 10),
		p.b.cfg.Bwrap, "--args", strconv.Itoa(argsFD), "--",
	}, argv...)
	cmd := exec.Command("/bin/sh", line...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if uid := p.user.uid; uid >= 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{}}
	}
	if fd := p.group.fd(); fd >= 0 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	}
	if p.spec.Terminal != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.spec.Terminal, p.spec.Terminal, p.spec.Terminal
		cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	} else {
		cmd.Stdin = p.spec.Stdin
		// Never the caller's file itself: a sandbox could truncate or seek it.
		p.stdout = &boundedWriter{to: p.spec.Stdout, most: limits.OutputBytes}
		p.stderr = &boundedWriter{to: p.spec.Stderr, most: limits.OutputBytes}
		cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
		if _, isFile := p.spec.Stdin.(*os.File); isFile {
			cmd.Stdin = struct{ io.Reader }{p.spec.Stdin}
		}
	}
	extra := make([]*os.File, 7)
	copy(extra, p.spec.Files)
	extra[readerFD-3], extra[gateFD-3], extra[argsFD-3], extra[seccompFD-3], extra[statusFD-3] = reader, gate, args, filter, status
	cmd.ExtraFiles = extra
	p.cmd = cmd
}

// gatePair returns the two ends of the gate; ours does not block a thread.
func gatePair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("gate: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("gate: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "gate"), os.NewFile(uintptr(fds[1]), "gate"), nil
}

// memoryFile returns a file in memory, positioned at its start.
func memoryFile(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(content); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// boundedWriter passes on the first most bytes and counts all; the reader never
// stalls, and a flood costs no memory. A negative most passes everything.
type boundedWriter struct {
	to    io.Writer
	most  int64
	count int64
	head  []byte // the first bytes, for the message when setting up fails
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if room := 2048 - len(w.head); room > 0 {
		w.head = append(w.head, b[:min(room, len(b))]...)
	}
	pass := b
	if w.most >= 0 {
		pass = b[:max(0, min(int64(len(b)), w.most-w.count))]
	}
	w.count += int64(len(b))
	if w.to != nil && len(pass) > 0 {
		if _, err := w.to.Write(pass); err != nil {
			w.to = nil // a caller that cannot take output does not stop the sandbox
		}
	}
	return len(b), nil
}
