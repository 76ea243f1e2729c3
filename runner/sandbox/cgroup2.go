package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// cgroup2 confines with control groups version 2 (kernel document
// admin-guide/cgroup-v2.rst).
type cgroup2 struct {
	base        string
	controllers []string
	groupFile   func(dir string) error // called after a group is made; tests play the kernel
}

// runnerLeaf is the group the runner moves itself to: a group with processes of
// its own cannot give controllers to groups below it.
const runnerLeaf = groupPrefix + "runner"

var neededV2 = []string{"memory", "pids", "cpu"}

func newCgroup2(mounts []cgroupMount, own, id string) (*cgroup2, error) {
	i := slices.IndexFunc(mounts, func(m cgroupMount) bool { return m.v2 })
	if i < 0 {
		return nil, errors.New("cgroup v2: not mounted")
	}
	c, err := openCgroup2(mounts[i].own(own), neededV2)
	if err != nil {
		return nil, err
	}
	probe := filepath.Join(c.base, groupPrefix+id+"-probe")
	if err := os.Mkdir(probe, 0o755); err != nil {
		return nil, fmt.Errorf("cgroup v2: not delegated (systemd: Delegate=yes): %w", err)
	}
	return c, removeGroup(probe)
}

// openCgroup2 prepares the group dir, in which this process is, for groups of
// sandboxes below it, with at least the needed controllers.
func openCgroup2(dir string, needed []string) (*cgroup2, error) {
	if filepath.Base(dir) == runnerLeaf {
		dir = filepath.Dir(dir)
	}
	c := &cgroup2{base: dir}
	has, err := readControl(dir, "cgroup.controllers")
	if err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	available := strings.Fields(has)
	for _, ctl := range needed {
		if !slices.Contains(available, ctl) {
			return nil, fmt.Errorf("cgroup v2: no %s controller in %s (found %q)", ctl, dir, has)
		}
	}
	for _, ctl := range append(slices.Clone(neededV2), "cpuset") {
		if slices.Contains(available, ctl) {
			c.controllers = append(c.controllers, ctl)
		}
	}
	return c, c.enable()
}

// enable hands the controllers down.
func (c *cgroup2) enable() error {
	on, err := readControl(c.base, "cgroup.subtree_control")
	if err != nil {
		return fmt.Errorf("cgroup v2: %w", err)
	}
	var missing []string
	for _, ctl := range c.controllers {
		if !slices.Contains(strings.Fields(on), ctl) {
			missing = append(missing, "+"+ctl)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	want := strings.Join(missing, " ")
	if err := writeControl(c.base, "cgroup.subtree_control", want); err == nil {
		return nil // the root group may hold processes and give controllers
	}
	leaf := filepath.Join(c.base, runnerLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cgroup v2: %w", err)
	}
	if err := writeControl(leaf, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return fmt.Errorf("cgroup v2: move the runner to %s: %w", leaf, err)
	}
	if err := writeControl(c.base, "cgroup.subtree_control", want); err != nil {
		return fmt.Errorf("cgroup v2: give %s to groups in %s, which must hold no process but the runner: %w", want, c.base, err)
	}
	return nil
}

func (c *cgroup2) close() error { return nil }

func (c *cgroup2) tier() Tier {
	t := Tier{Name: TierCgroup2, SeparateUsers: os.Geteuid() == 0, Controllers: append(slices.Clone(c.controllers), "freezer")}
	t.Gaps = append(t.Gaps, "devices are limited by what is visible only")
	if !slices.Contains(c.controllers, "cpuset") {
		t.Gaps = append(t.Gaps, "a sandbox may leave the cores that it was given")
	}
	return t
}

type group2 struct {
	name, dir string
	handle    *os.File // the directory, for clone3
	has       []string
	ended     chan struct{}
}

func (c *cgroup2) group(name string, limits Limits, _ []int) (group, error) {
	g := &group2{name: name, dir: filepath.Join(c.base, name), has: c.controllers, ended: make(chan struct{})}
	err := os.Mkdir(g.dir, 0o755)
	if err == nil && c.groupFile != nil {
		err = c.groupFile(g.dir)
	}
	if err == nil {
		err = g.set(limits)
	}
	if err == nil {
		g.handle, err = os.Open(g.dir)
	}
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "control group %s: %w", name, errors.Join(err, g.remove()))
	}
	return g, nil
}

func (g *group2) set(limits Limits) error {
	type setting struct{ controller, file, value string }
	settings := []setting{
		{"memory", "memory.max", strconv.FormatInt(limits.MemoryBytes, 10)},
		{"memory", "memory.swap.max", "0"},
		{"memory", "memory.oom.group", "1"},
		{"pids", "pids.max", strconv.FormatInt(limits.PIDs, 10)},
		{"cpu", "cpu.max", fmt.Sprintf("%d 100000", cpuQuota(limits.CPUs))},
	}
	if limits.CPUWeight > 0 {
		settings = append(settings, setting{"cpu", "cpu.weight", strconv.FormatInt(limits.CPUWeight, 10)})
	}
	if limits.CPUSet != "" {
		settings = append(settings, setting{"cpuset", "cpuset.cpus", limits.CPUSet})
	}
	for _, s := range settings {
		if !slices.Contains(g.has, s.controller) {
			continue
		}
		err := writeControl(g.dir, s.file, s.value)
		if s.file == "memory.swap.max" && errors.Is(err, os.ErrNotExist) {
			continue // a kernel without swap
		}
		if err != nil {
			return fmt.Errorf("set %s to %q: %w", s.file, s.value, err)
		}
	}
	return nil
}

func (g *group2) fd() int { return int(g.handle.Fd()) }

// adopt does nothing: the process was born in the group.
func (g *group2) adopt(int) error { return nil }

func (g *group2) freeze(ctx context.Context) error {
	if err := writeControl(g.dir, "cgroup.freeze", "1"); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "freeze %s: %w", g.name, err)
	}
	return await(ctx, "freeze "+g.name, func() (bool, error) {
		if readKey(g.dir, "cgroup.events", "frozen") == 1 {
			return true, nil
		}
		_, err := os.Stat(g.dir)
		return false, err
	})
}

func (g *group2) thaw() error { return writeControl(g.dir, "cgroup.freeze", "0") }

func (g *group2) pids() ([]int, error) {
	pids, err := groupPIDs(g.dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil, nil
	}
	return pids, err
}

// kill uses cgroup.kill (Linux 5.14), which a fork cannot outrun.
func (g *group2) kill() error {
	if err := writeControl(g.dir, "cgroup.kill", "1"); err == nil {
		return nil
	}
	pids, err := g.pids()
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	return err
}

func (g *group2) usage() Usage {
	u := Usage{CPU: -1, MemoryPeakBytes: readCount(g.dir, "memory.peak"), PIDs: readCount(g.dir, "pids.current")}
	if us := readKey(g.dir, "cpu.stat", "usage_usec"); us >= 0 {
		u.CPU = time.Duration(us) * time.Microsecond
	}
	return u
}

func (g *group2) oomKilled() bool { return readKey(g.dir, "memory.events", "oom_kill") > 0 }

// watchOOM polls: memory.oom.group has already killed the sandbox.
func (g *group2) watchOOM(f func()) {
	go func() {
		for {
			select {
			case <-g.ended:
				return
			case <-time.After(100 * time.Millisecond):
				if g.oomKilled() {
					f()
					return
				}
			}
		}
	}()
}

func (g *group2) remove() error {
	if g.handle != nil {
		g.handle.Close()
		close(g.ended)
	}
	return removeGroup(g.dir)
}

func (c *cgroup2) reap(prefix string) (int, int, error) {
	return reapGroups(c.base, prefix, func(name string) group {
		return &group2{name: name, dir: filepath.Join(c.base, name), has: c.controllers}
	})
}
