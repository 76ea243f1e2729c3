package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// confiner makes the group of processes that is one sandbox.
type confiner interface {
	tier() Tier
	// group makes the group named name with the given limits; gpus are the
	// device minors that it may open.
	group(name string, limits Limits, gpus []int) (group, error)
	// reap kills and removes all groups whose name has the prefix.
	reap(prefix string) (killed, groups int, err error)
	close() error
}

// group is the set of all processes of one sandbox.
type group interface {
	// fd is a descriptor for clone3(CLONE_INTO_CGROUP), or -1.
	fd() int
	// adopt moves a process that has not started its program yet.
	adopt(pid int) error
	freeze(ctx context.Context) error
	thaw() error
	pids() ([]int, error)
	// kill sends SIGKILL to every process, frozen or not.
	kill() error
	usage() Usage
	// oomKilled says whether the memory limit has killed something.
	oomKilled() bool
	// watchOOM calls f once when that happens; it ends with the group.
	watchOOM(f func())
	remove() error
}

// groupPrefix starts the names of all control groups of runners.
const groupPrefix = "rebench-"

// cgroupMount is one mounted hierarchy.
type cgroupMount struct {
	root, dir   string   // directory of the hierarchy mounted, and where
	controllers []string // v1 only
	v2          bool
}

// parseMounts finds control group hierarchies in the text of /proc/self/mountinfo.
func parseMounts(mountinfo string) []cgroupMount {
	var out []cgroupMount
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := cgroupMount{root: unescapeMount(left[3]), dir: unescapeMount(left[4])}
		switch right[0] {
		case "cgroup2":
			m.v2 = true
		case "cgroup":
			m.controllers = strings.Split(right[2], ",")
		default:
			continue
		}
		out = append(out, m)
	}
	return out
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// parseOwn reads the text of /proc/self/cgroup: the path of this process by
// controller, under "" for v2.
func parseOwn(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			out[c] = parts[2]
		}
	}
	return out
}

// own returns where below the mount the path lies, if it does.
func (m cgroupMount) own(path string) string {
	rel := path
	if m.root != "/" {
		if rel = strings.TrimPrefix(path, m.root); rel == path {
			return m.dir
		}
	}
	dir := filepath.Join(m.dir, rel)
	if _, err := os.Stat(dir); err != nil {
		return m.dir
	}
	return dir
}

// newConfiner returns the strongest tier that works here, or the wanted one.
func newConfiner(want TierName, id string) (confiner, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "control groups: %w", err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "control groups: %w", err)
	}
	mounts, paths := parseMounts(string(mountinfo)), parseOwn(string(own))
	var why []error
	if want == "" || want == TierCgroup2 {
		c, err := newCgroup2(mounts, paths[""], id)
		if err == nil {
			return c, nil
		}
		why = append(why, err)
	}
	if want == "" || want == TierCgroup1 {
		c, err := newCgroup1(mounts, paths, id)
		if err == nil {
			return c, nil
		}
		why = append(why, err)
	}
	if want == "" || want == TierRlimit {
		return newRlimits(errors.Join(why...)), nil
	}
	return nil, rebench.Errorf(rebench.CodeInvalid, "limits tier %s: %w", want, errors.Join(why...))
}

// writeControl writes one value to a control file.
func writeControl(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func readControl(dir, file string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, file))
	return strings.TrimSpace(string(raw)), err
}

// readCount reads a file of one number; -1 when there is none.
func readCount(dir, file string) int64 {
	s, err := readControl(dir, file)
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// readKey reads the value of key in a file of "key value" lines; -1 when absent.
func readKey(dir, file, key string) int64 {
	s, err := readControl(dir, file)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), key+" "); ok {
			if n, err := strconv.ParseInt(rest, 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

func groupPIDs(dir string) ([]int, error) {
	s, err := readControl(dir, "cgroup.procs")
	if err != nil {
		return nil, err
	}
	var out []int
	for f := range strings.FieldsSeq(s) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	return out, nil
}

// removeGroup removes an emptied group; the kernel may need a moment.
func removeGroup(dir string) error {
	deadline := time.Now().Add(2 * time.Second)
	for {
		err := unix.Rmdir(dir)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(deadline) {
			return fmt.Errorf("remove control group %s: %w", dir, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// await polls until done: stopping takes microseconds. After the first looks it
// sleeps between them, since what is to stop may need this very core to do so.
// nanosleep(2) directly, because the runtime's own timers are a millisecond coarse.
func await(ctx context.Context, what string, done func() (bool, error)) error {
	start := time.Now()
	pause := unix.Timespec{Nsec: 10_000}
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		waited := time.Since(start)
		switch {
		case waited < 20*time.Microsecond:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case waited > 30*time.Second:
			return rebench.Errorf(rebench.CodeInternal, "%s: not done after %v", what, waited)
		case waited > 20*time.Millisecond:
			pause.Nsec = 1_000_000
		}
		_ = unix.Nanosleep(&pause, nil)
	}
}

// killEmpty kills until the group has no process left.
func killEmpty(g group, most time.Duration) error {
	deadline := time.Now().Add(most)
	for {
		pids, err := g.pids()
		if err != nil || len(pids) == 0 {
			return err
		}
		if err := g.kill(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return rebench.Errorf(rebench.CodeInternal, "processes %v do not die", pids)
		}
		time.Sleep(300 * time.Microsecond)
	}
}

// reapGroups kills and removes the groups below base with the prefix.
func reapGroups(base, prefix string, open func(dir string) group) (killed, groups int, err error) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		g := open(e.Name())
		pids, _ := g.pids()
		killed += len(pids)
		if err := killEmpty(g, 10*time.Second); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, g.remove())
		groups++
	}
	return killed, groups, errors.Join(errs...)
}
