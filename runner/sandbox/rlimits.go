package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// rlimits is the weakest tier: resource limits on each process, and a watchdog
// that looks at the whole sandbox many times a second.
type rlimits struct{ why string }

func newRlimits(why error) *rlimits {
	r := &rlimits{}
	if why != nil {
		r.why = strings.ReplaceAll(why.Error(), "\n", "; ")
	}
	return r
}

func (r *rlimits) tier() Tier {
	t := Tier{Name: TierRlimit, SeparateUsers: os.Geteuid() == 0, Controllers: []string{"rlimits", "watchdog"}, Gaps: []string{
		"memory of all processes together is found exceeded only by a watchdog, some 25 ms late",
		"socket buffers and other kernel memory are not counted",
		"processor time is not limited",
		"stopping is by signals, process by process",
		"bytes and files of writable directories are found exceeded only by a watchdog",
	}}
	if r.why != "" {
		t.Gaps = append(t.Gaps, "no control groups: "+r.why)
	}
	if !t.SeparateUsers {
		t.Gaps = append(t.Gaps, "agent, submission and scorer run as the runner's own user")
	}
	return t
}

func (r *rlimits) group(string, Limits, []int) (group, error) { return &rlimitGroup{}, nil }

// reap kills the processes that were started as groups with the prefix: the
// launcher, bubblewrap, and the first process of a sandbox carry the name as an
// argument, and with the first process go all others.
func (r *rlimits) reap(prefix string) (killed, groups int, err error) {
	for _, pid := range allPIDs() {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil {
			continue
		}
		if i := bytes.Index(raw, []byte("\x00"+prefix)); i >= 0 && !allDead(pid) && unix.Kill(pid, unix.SIGKILL) == nil {
			killed++
		}
	}
	return killed, 0, nil
}

func (r *rlimits) close() error { return nil }

// rlimitGroup is the set of processes in one pid namespace.
type rlimitGroup struct {
	mu   sync.Mutex
	init int      // first process of the namespace, 0 until known
	ns   string   // link text of its /proc/PID/ns/pid
	pin  *os.File // keeps the kernel from giving the namespace's number to another
	cpu  time.Duration
	peak int64
}

// setInit tells which process is the sandbox's first.
func (g *rlimitGroup) setInit(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	pin, err := os.Open(nsPath(pid))
	if err != nil {
		return // gone already, and with it all others
	}
	ns, err := os.Readlink(nsPath(pid))
	if err != nil {
		pin.Close()
		return
	}
	g.init, g.ns, g.pin = pid, ns, pin
}

func nsPath(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/ns/pid" }

func (g *rlimitGroup) fd() int         { return -1 }
func (g *rlimitGroup) adopt(int) error { return nil }

func (g *rlimitGroup) pids() ([]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list(), nil
}

// list needs the lock, as does whatever is done to the processes it finds.
func (g *rlimitGroup) list() []int {
	if g.pin == nil {
		return nil
	}
	var out []int
	for _, pid := range allPIDs() {
		if link, err := os.Readlink(nsPath(pid)); err == nil && link == g.ns && !allDead(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// freeze stops every process by signal until two looks in a row find nothing
// that runs and nothing new: a process may fork, or wake another, just before
// its own turn. A thread that sleeps in the kernel after the signal was sent will
// not return from there: one that waits for the child of its vfork, which has
// been stopped, would never be seen stopped.
func (g *rlimitGroup) freeze(ctx context.Context) error {
	var before []int
	sent := map[int]bool{}
	return await(ctx, "freeze", func() (bool, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		pids := g.list()
		stopped := true
		for _, pid := range pids {
			if everyThread(pid, "TtZX") || (sent[pid] && everyThread(pid, "TtZXD")) {
				continue
			}
			stopped = false
			sent[pid] = unix.Kill(pid, unix.SIGSTOP) == nil
		}
		slices.Sort(pids)
		same := stopped && slices.Equal(pids, before)
		before = nil
		if stopped {
			before = pids
		}
		return same, nil
	})
}

// everyThread says whether every thread of pid is gone or in one of the states
// of proc(5).
func everyThread(pid int, states string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		stat, err := os.ReadFile(dir + "/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		rest := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
		if len(rest) > 0 && !strings.ContainsRune(states, rune(rest[0])) {
			return false
		}
	}
	return true
}

func (g *rlimitGroup) thaw() error { return g.signal(unix.SIGCONT) }

// kill ends the namespace: with its first process the kernel kills all others.
func (g *rlimitGroup) kill() error { return g.signal(unix.SIGKILL) }

func (g *rlimitGroup) signal(sig unix.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, pid := range g.list() {
		_ = unix.Kill(pid, sig)
	}
	return nil
}

func (g *rlimitGroup) usage() Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := Usage{CPU: -1, MemoryPeakBytes: -1, PIDs: -1}
	if g.peak > 0 {
		u.CPU, u.MemoryPeakBytes = g.cpu, g.peak
	}
	return u
}

func (g *rlimitGroup) oomKilled() bool { return false }
func (g *rlimitGroup) watchOOM(func()) {}

func (g *rlimitGroup) remove() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pin != nil {
		g.pin.Close()
		g.pin = nil
	}
	return nil
}

// watch looks at the sandbox until done is closed, and reports the first limit
// found exceeded. tmpfs are paths inside with their limits; dirs are host
// directories with theirs.
func (g *rlimitGroup) watch(done <-chan struct{}, limits Limits, tmpfs, dirs map[string]Space, exceeded func(Cause, string)) {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for round := 0; ; round++ {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if cause, what := g.look(limits, tmpfs); what != "" {
			exceeded(cause, what)
			return
		}
		// Walking directories is dearer: every fourth look.
		if round%4 == 0 {
			if what := overDirs(dirs); what != "" {
				exceeded(CauseLimit, what)
				return
			}
		}
	}
}

// look adds up the memory and counts the threads of all processes.
func (g *rlimitGroup) look(limits Limits, tmpfs map[string]Space) (Cause, string) {
	pids, _ := g.pids()
	var anon, shared, threads int64
	var cpu time.Duration
	for _, pid := range pids {
		a, s, n, c := processUsage(pid)
		anon, shared, threads, cpu = anon+a, shared+s, threads+n, cpu+c
	}
	files, what := g.tmpfsUsed(tmpfs)
	if what != "" {
		return CauseLimit, what
	}
	memory := anon + max(shared, files)
	if memory > limits.MemoryBytes {
		// Pages shared after a fork were counted once in each process.
		anon, shared = 0, 0
		for _, pid := range pids {
			anon += smapsKB(pid, "Pss_Anon:") << 10
			shared += smapsKB(pid, "Pss_Shmem:") << 10
		}
		memory = anon + max(shared, files)
	}
	g.mu.Lock()
	g.peak = max(g.peak, memory)
	g.cpu = max(g.cpu, cpu) // of living processes: a lower bound
	g.mu.Unlock()
	if memory > limits.MemoryBytes {
		return CauseOOM, fmt.Sprintf("%d bytes of memory, at most %d", memory, limits.MemoryBytes)
	}
	if threads > limits.PIDs {
		return CauseLimit, fmt.Sprintf("%d processes and threads, at most %d", threads, limits.PIDs)
	}
	return "", ""
}

// tmpfsUsed adds up the bytes in the sandbox's own tmpfs and checks their
// numbers of files, which bubblewrap cannot limit.
func (g *rlimitGroup) tmpfsUsed(tmpfs map[string]Space) (bytes int64, over string) {
	g.mu.Lock()
	init := g.init
	g.mu.Unlock()
	for path, space := range tmpfs {
		var st unix.Statfs_t
		if unix.Statfs(fmt.Sprintf("/proc/%d/root%s", init, path), &st) != nil || st.Type != unix.TMPFS_MAGIC {
			continue
		}
		bytes += int64(st.Blocks-st.Bfree) * st.Bsize
		if used := int64(st.Files - st.Ffree); used > space.Inodes {
			return bytes, fmt.Sprintf("%d files in %s, at most %d", used, path, space.Inodes)
		}
	}
	return bytes, ""
}

// processUsage returns a process's own and shared memory in bytes, its threads
// and its processor time.
func processUsage(pid int) (anon, shared, threads int64, cpu time.Duration) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0, 0, 0
	}
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, ":")
		var n int64
		switch name {
		case "RssAnon", "RssShmem", "Threads":
			_, _ = fmt.Sscan(rest, &n)
		}
		switch name {
		case "RssAnon":
			anon = n << 10
		case "RssShmem":
			shared = n << 10
		case "Threads":
			threads = n
		}
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return anon, shared, threads, 0
	}
	// Fields 14 and 15 of proc(5), counted from after the name.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) > 12 {
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		cpu = time.Duration(user+system) * (time.Second / clockTicks)
	}
	return anon, shared, threads, cpu
}

// smapsKB reads one field of a process's memory summary, in KiB.
func smapsKB(pid int, field string) int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			var kb int64
			_, _ = fmt.Sscan(rest, &kb)
			return kb
		}
	}
	return 0
}

// clockTicks is USER_HZ, 100 on every architecture supported here.
const clockTicks = 100

// overDirs walks host directories, no further than their limits.
func overDirs(dirs map[string]Space) string {
	for dir, space := range dirs {
		var bytes, files int64
		if spaceUsed(dir, space, &bytes, &files); files > space.Inodes {
			return fmt.Sprintf("more than %d files in a writable directory", space.Inodes)
		} else if bytes > space.Bytes {
			return fmt.Sprintf("more than %d bytes in a writable directory", space.Bytes)
		}
	}
	return ""
}

func spaceUsed(dir string, space Space, bytes, files *int64) {
	f, err := os.OpenFile(dir, unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	for *files <= space.Inodes && *bytes <= space.Bytes {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			*files++
			var st unix.Stat_t
			if unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			*bytes += st.Blocks * 512
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				spaceUsed(dir+"/"+name, space, bytes, files)
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}
