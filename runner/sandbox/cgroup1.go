package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// cgroup1 confines with control groups version 1.
type cgroup1 struct {
	bases map[string]string // controller -> directory under which groups are made
	keep  string            // see holdFreezer
}

// neededV1 must all be there; the rest adds to them.
var neededV1 = []string{"memory", "pids", "freezer"}
var optionalV1 = []string{"cpu", "cpuacct", "cpuset", "devices"}

func newCgroup1(mounts []cgroupMount, paths map[string]string, id string) (*cgroup1, error) {
	c := &cgroup1{bases: map[string]string{}}
	for _, m := range mounts {
		for _, ctl := range m.controllers {
			if slices.Contains(neededV1, ctl) || slices.Contains(optionalV1, ctl) {
				c.bases[ctl] = m.own(paths[ctl])
			}
		}
	}
	for _, ctl := range slices.Concat(neededV1, optionalV1) {
		base, ok := c.bases[ctl]
		if ok {
			// Try the very thing: a read-only mount passes every other check.
			probe := filepath.Join(base, groupPrefix+id+"-probe")
			if err := os.Mkdir(probe, 0o755); err == nil {
				if err := removeGroup(probe); err != nil {
					return nil, err
				}
				continue
			} else if slices.Contains(neededV1, ctl) {
				return nil, fmt.Errorf("cgroup v1 %s: %w", ctl, err)
			}
		} else if slices.Contains(neededV1, ctl) {
			return nil, fmt.Errorf("cgroup v1: no %s controller", ctl)
		}
		delete(c.bases, ctl)
	}
	return c, c.holdFreezer(id)
}

// holdFreezer keeps one empty frozen group. The kernel patches its code when
// the first group of the machine freezes and when the last one thaws, which
// takes over 100 us; with one always frozen a sandbox stops in 10 to 40 us.
func (c *cgroup1) holdFreezer(id string) error {
	c.keep = filepath.Join(c.bases["freezer"], groupPrefix+id+"-keep")
	if err := os.Mkdir(c.keep, 0o755); err != nil {
		return err
	}
	return writeControl(c.keep, "freezer.state", "FROZEN")
}

func (c *cgroup1) close() error {
	return errors.Join(writeControl(c.keep, "freezer.state", "THAWED"), removeGroup(c.keep))
}

func (c *cgroup1) tier() Tier {
	t := Tier{Name: TierCgroup1, SeparateUsers: os.Geteuid() == 0}
	for _, ctl := range slices.Concat(neededV1, optionalV1) {
		if c.bases[ctl] != "" {
			t.Controllers = append(t.Controllers, ctl)
		}
	}
	for ctl, gap := range map[string]string{
		"cpu": "processor time is not limited", "devices": "devices are limited by what is visible only",
		"cpuset": "a sandbox may leave the cores that it was given",
	} {
		if c.bases[ctl] == "" {
			t.Gaps = append(t.Gaps, gap)
		}
	}
	slices.Sort(t.Gaps)
	return t
}

type group1 struct {
	owner *cgroup1
	name  string
	dirs  []string          // distinct, in order of making
	dir   map[string]string // by controller
	state *os.File          // freezer.state

	mu      sync.Mutex
	event   *os.File // eventfd of the memory limit
	removed bool
}

func (c *cgroup1) open(name string) *group1 {
	g := &group1{owner: c, name: name, dir: map[string]string{}}
	for _, ctl := range slices.Concat(neededV1, optionalV1) {
		if base := c.bases[ctl]; base != "" {
			g.dir[ctl] = filepath.Join(base, name)
			if !slices.Contains(g.dirs, g.dir[ctl]) {
				g.dirs = append(g.dirs, g.dir[ctl])
			}
		}
	}
	return g
}

func (c *cgroup1) group(name string, limits Limits, gpus []int) (group, error) {
	g := c.open(name)
	err := g.make(limits, gpus)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "control group %s: %w", name, errors.Join(err, g.remove()))
	}
	return g, nil
}

func (g *group1) make(limits Limits, gpus []int) error {
	for _, dir := range g.dirs {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	var err error
	if g.state, err = os.OpenFile(filepath.Join(g.dir["freezer"], "freezer.state"), os.O_RDWR, 0); err != nil {
		return err
	}
	set := func(ctl, file, value string) {
		if dir := g.dir[ctl]; dir != "" && err == nil {
			if werr := writeControl(dir, file, value); werr != nil {
				err = fmt.Errorf("set %s to %q: %w", file, value, werr)
			}
		}
	}
	memory := strconv.FormatInt(limits.MemoryBytes, 10)
	set("memory", "memory.limit_in_bytes", memory)
	if _, serr := os.Stat(filepath.Join(g.dir["memory"], "memory.memsw.limit_in_bytes")); serr == nil {
		set("memory", "memory.memsw.limit_in_bytes", memory) // memory and swap together: no swap
	}
	set("pids", "pids.max", strconv.FormatInt(limits.PIDs, 10))
	set("cpu", "cpu.cfs_period_us", "100000")
	set("cpu", "cpu.cfs_quota_us", strconv.FormatInt(cpuQuota(limits.CPUs), 10))
	if limits.CPUWeight > 0 {
		set("cpu", "cpu.shares", strconv.FormatInt(max(2, limits.CPUWeight*1024/100), 10))
	}
	if dir := g.dir["cpuset"]; dir != "" {
		// An empty cpuset admits no process: inherit what is not given.
		cpus, mems := limits.CPUSet, ""
		if cpus == "" {
			cpus, err = readControl(g.owner.bases["cpuset"], "cpuset.cpus")
		}
		if err == nil {
			mems, err = readControl(g.owner.bases["cpuset"], "cpuset.mems")
		}
		set("cpuset", "cpuset.cpus", cpus)
		set("cpuset", "cpuset.mems", mems)
	}
	if g.dir["devices"] != "" {
		set("devices", "devices.deny", "a")
		for _, rule := range deviceRules(gpus) {
			set("devices", "devices.allow", rule)
		}
	}
	return err
}

// cpuQuota is microseconds of processor time in each 100 ms.
func cpuQuota(cpus float64) int64 { return max(1000, int64(cpus*100_000)) }

// deviceRules lists what a sandbox may open: null, zero, full, random, urandom,
// tty, pseudo-terminals, and the leased GPUs with the driver's control devices.
func deviceRules(gpus []int) []string {
	rules := []string{"c 1:3 rw", "c 1:5 rw", "c 1:7 rw", "c 1:8 rw", "c 1:9 rw", "c 5:0 rw", "c 5:2 rw", "c 136:* rw"}
	for _, path := range gpuNodes(gpus) {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			rules = append(rules, fmt.Sprintf("c %d:%d rw", unix.Major(st.Rdev), unix.Minor(st.Rdev)))
		}
	}
	return rules
}

func (g *group1) fd() int { return -1 }

func (g *group1) adopt(pid int) error {
	for _, dir := range g.dirs {
		if err := writeControl(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return rebench.Errorf(rebench.CodeInternal, "move process %d to %s: %w", pid, dir, err)
		}
	}
	return nil
}

func (g *group1) setState(want string) error {
	if g.state == nil {
		return writeControl(g.dir["freezer"], "freezer.state", want)
	}
	_, err := g.state.WriteAt([]byte(want), 0)
	return err
}

func (g *group1) freeze(ctx context.Context) error {
	if err := g.setState("FROZEN"); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "freeze %s: %w", g.name, err)
	}
	var buf [16]byte
	again := time.Now().Add(freezeAgain)
	// FREEZING becomes FROZEN when the last task has stopped.
	return await(ctx, "freeze "+g.name, func() (bool, error) {
		n, err := g.state.ReadAt(buf[:], 0)
		if err == io.EOF { // the file is shorter than the buffer
			err = nil
		}
		if err != nil || bytes.HasPrefix(buf[:n], []byte("FROZEN")) {
			return err == nil, err
		}
		if time.Now().After(again) {
			if err := errors.Join(g.setState("THAWED"), g.setState("FROZEN")); err != nil {
				return false, err
			}
			again = time.Now().Add(freezeAgain)
		}
		return false, nil
	})
}

// freezeAgain is after how long a freeze is begun anew: a task that was between
// fork and exec when it was asked may never stop for that one.
const freezeAgain = 250 * time.Millisecond

func (g *group1) thaw() error { return g.setState("THAWED") }

func (g *group1) pids() ([]int, error) {
	pids, err := groupPIDs(g.dir["freezer"])
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil, nil
	}
	return pids, err
}

func (g *group1) kill() error {
	pids, err := g.pids()
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	// Only a thawed task dies.
	_ = g.thaw()
	return err
}

func (g *group1) usage() Usage {
	u := Usage{CPU: -1, MemoryPeakBytes: readCount(g.dir["memory"], "memory.max_usage_in_bytes"), PIDs: readCount(g.dir["pids"], "pids.current")}
	if ns := readCount(g.dir["cpuacct"], "cpuacct.usage"); g.dir["cpuacct"] != "" && ns >= 0 {
		u.CPU = time.Duration(ns)
	}
	return u
}

func (g *group1) oomKilled() bool {
	return readKey(g.dir["memory"], "memory.oom_control", "oom_kill") > 0
}

// watchOOM uses the event descriptor of version 1 (kernel document
// admin-guide/cgroup-v1/memory.rst, section 10), else it polls.
func (g *group1) watchOOM(f func()) {
	event, err := g.oomEvent()
	if err != nil {
		go func() {
			for {
				time.Sleep(50 * time.Millisecond)
				if _, err := os.Stat(g.dir["memory"]); err != nil {
					return
				}
				if g.oomKilled() {
					f()
					return
				}
			}
		}()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		event.Close()
		return
	}
	g.event = event
	go func() {
		var count [8]byte
		for {
			if _, err := event.Read(count[:]); err != nil {
				return
			}
			if g.oomKilled() || strings.Contains(g.oomState(), "under_oom 1") {
				f()
				return
			}
			// The event comes before the kill is counted.
			time.Sleep(5 * time.Millisecond)
			if g.oomKilled() {
				f()
				return
			}
		}
	}()
}

func (g *group1) oomState() string {
	s, _ := readControl(g.dir["memory"], "memory.oom_control")
	return s
}

func (g *group1) oomEvent() (*os.File, error) {
	control, err := os.Open(filepath.Join(g.dir["memory"], "memory.oom_control"))
	if err != nil {
		return nil, err
	}
	defer control.Close()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	event := os.NewFile(uintptr(fd), "oom event")
	if err := writeControl(g.dir["memory"], "cgroup.event_control", fmt.Sprintf("%d %d", fd, control.Fd())); err != nil {
		event.Close()
		return nil, err
	}
	return event, nil
}

func (g *group1) remove() error {
	g.mu.Lock()
	g.removed = true
	if g.event != nil {
		g.event.Close()
	}
	g.mu.Unlock()
	if g.state != nil {
		g.state.Close()
	}
	var errs []error
	for _, dir := range g.dirs {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}

func (c *cgroup1) reap(prefix string) (int, int, error) {
	// A crash may leave a group in some hierarchies only.
	names := map[string]bool{}
	for _, base := range c.bases {
		dirs, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
		for _, d := range dirs {
			names[filepath.Base(d)] = true
		}
	}
	killed := 0
	var errs []error
	for name := range names {
		g := c.open(name)
		pids, _ := g.pids()
		killed += len(pids)
		if err := killEmpty(g, 10*time.Second); err != nil {
			errs = append(errs, err)
			continue
		}
		_ = g.thaw()
		errs = append(errs, g.remove())
	}
	return killed, len(names), errors.Join(errs...)
}
