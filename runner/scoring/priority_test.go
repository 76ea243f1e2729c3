package scoring

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGoFirst(t *testing.T) {
	nice := func() map[int]bool {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, th := range threads {
			tid, _ := strconv.Atoi(th.Name())
			if p, err := unix.Getpriority(unix.PRIO_PROCESS, tid); err == nil {
				seen[20-p] = true
			}
		}
		return seen
	}
	before := nice()
	restore, err := goFirst()
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		if after := nice(); len(after) != 1 || !before[0] {
			t.Errorf("refused, but the nice values are %v, were %v", after, before)
		}
		t.Logf("no right to raise the priority: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if during := nice(); len(during) != 1 || !during[timingNice] {
		t.Errorf("while timing: found nice values %v, expected only %d", during, timingNice)
	}
	restore()
	for value := range nice() {
		if !before[value] {
			t.Errorf("afterwards: found nice value %d, expected one of %v", value, before)
		}
	}
}
