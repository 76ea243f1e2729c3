package device

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rebench/internal/rebench"
)

// fakeGPUs is an inventory that tests change.
type fakeGPUs struct {
	mu   sync.Mutex
	gpus []GPU
}

func (f *fakeGPUs) GPUs(context.Context) ([]GPU, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.gpus), nil
}

func gpuN(n int) GPU {
	return GPU{Index: n, Minor: n, UUID: fmt.Sprintf("GPU-00000000-0000-0000-0000-%012d", n), MemoryBytes: 80 << 30}
}

func newPool(t *testing.T, dir string, gpus *fakeGPUs, cores ...int) *Pool {
	t.Helper()
	locks, err := OpenLocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &Pool{Locks: locks, Inventory: gpus, Cores: cores}
}

func TestLeasesExcludeOneAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	gpus := &fakeGPUs{gpus: []GPU{gpuN(0), gpuN(1), gpuN(2)}}
	// Two pools are two runners: descriptors of their own.
	a, b := newPool(t, dir, gpus, 0, 1, 2, 3), newPool(t, dir, gpus, 0, 1, 2, 3)
	ctx := context.Background()
	first, err := a.Acquire(ctx, Want{GPUs: 2, Cores: 3, Owner: "first"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Acquire(ctx, Want{GPUs: 1, Cores: 1, Owner: "second"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.CPUSet() != "0,1,2" || second.CPUSet() != "3" || slices.Contains(first.UUIDs(), second.UUIDs()[0]) {
		t.Errorf("%v %v %v %v", first.Cores, first.UUIDs(), second.Cores, second.UUIDs())
	}
	// A third has to wait, takes nothing meanwhile, and says what for.
	told := make(chan string, 1)
	got := make(chan *Lease)
	go func() {
		l, err := b.Acquire(ctx, Want{GPUs: 1, Cores: 1, Owner: "third"}, func(why string) { told <- why })
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	if why := <-told; !strings.Contains(why, "1 CPU cores are wanted, 0 are free") {
		t.Error(why)
	}
	second.Release()
	second.Release() // twice is harmless
	l := <-got
	if l.CPUSet() != "3" || len(l.GPUs) != 1 {
		t.Errorf("%+v", l)
	}
	short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
	defer cancel()
	if _, err := a.Acquire(short, Want{Cores: 1}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// What was taken before something lacked is given back.
func TestNoPartialLease(t *testing.T) {
	gpus := &fakeGPUs{gpus: []GPU{gpuN(0)}}
	p := newPool(t, filepath.Join(t.TempDir(), "l"), gpus, 0, 1)
	held, err := p.Locks.try("gpu-"+gpuN(0).UUID+".lock", false, "someone")
	if err != nil || held == nil {
		t.Fatal(err)
	}
	if lease, why, err := p.tryAcquire(context.Background(), Want{GPUs: 1, Cores: 2}); lease != nil || why == "" || err != nil {
		t.Fatalf("%v %q %v", lease, why, err)
	}
	if lease, why, err := p.tryAcquire(context.Background(), Want{Cores: 2}); lease == nil || err != nil {
		t.Errorf("cores are still held: %q %v", why, err)
	}
}

func TestImpossibleWantsFailAtOnce(t *testing.T) {
	mig := gpuN(1)
	mig.MIG = true
	p := newPool(t, filepath.Join(t.TempDir(), "l"), &fakeGPUs{gpus: []GPU{gpuN(0), mig}}, 0, 1)
	for _, w := range []Want{{Cores: 3}, {GPUs: 2}} {
		if _, err := p.Acquire(context.Background(), w, nil); rebench.ErrorCode(err) != rebench.CodeConflict {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestBusyGPUsAreNotLeased(t *testing.T) {
	busy, crowded := gpuN(0), gpuN(1)
	busy.UsedBytes, crowded.Processes = 2<<30, 1
	gpus := &fakeGPUs{gpus: []GPU{busy, crowded, gpuN(2)}}
	p := newPool(t, filepath.Join(t.TempDir(), "l"), gpus, 0)
	lease, err := p.Acquire(context.Background(), Want{GPUs: 1}, nil)
	if err != nil || lease.GPUs[0].Index != 2 {
		t.Fatalf("%+v, %v", lease, err)
	}
	_, why, err := p.tryAcquire(context.Background(), Want{GPUs: 1})
	if err != nil || !strings.Contains(why, "2048 MiB") || !strings.Contains(why, "1 compute processes") {
		t.Errorf("%q %v", why, err)
	}
	ctx := context.Background()
	if err := CheckIdle(ctx, gpus, lease.UUIDs(), 0); err != nil {
		t.Error(err)
	}
	gpus.gpus[2].UsedBytes = FreeSlack + 1
	var be *BusyError
	if err := CheckIdle(ctx, gpus, lease.UUIDs(), 0); !errors.As(err, &be) || be.GPU.Index != 2 {
		t.Error(err)
	}
	go func() { // a killed process's memory takes a moment
		time.Sleep(100 * time.Millisecond)
		gpus.mu.Lock()
		gpus.gpus[2].UsedBytes = 0
		gpus.mu.Unlock()
	}()
	if err := CheckIdle(ctx, gpus, lease.UUIDs(), 10*time.Second); err != nil {
		t.Error(err)
	}
	if err := CheckIdle(ctx, gpus, []string{"GPU-gone"}, 0); rebench.ErrorCode(err) != rebench.CodeInternal {
		t.Error(err)
	}
}

func TestCalibrationAndAttemptsExclude(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l")
	a, _ := OpenLocks(dir)
	b, _ := OpenLocks(dir)
	ctx := context.Background()
	r1, err1 := a.Running(ctx, "1", nil)
	r2, err2 := b.Running(ctx, "2", nil) // attempts share
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	short := func() context.Context {
		c, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		t.Cleanup(cancel)
		return c
	}
	if _, err := b.Calibrating(short(), "c", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("calibrating beside attempts: %v", err)
	}
	r1.Release()
	r2.Release()
	c, err := b.Calibrating(ctx, "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := a.Holder(); !ok || h.PID != os.Getpid() || h.Owner != "c" || time.Since(h.Since) > time.Hour {
		t.Errorf("holder %+v, %v", h, ok)
	}
	if _, err := a.Running(short(), "3", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an attempt beside a calibration: %v", err)
	}
	c.Release()
	t1, err := a.Timing(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Timing(short(), "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two timed sections: %v", err)
	}
	t1.Release()
}

// A lease ends with its process, however that ended.
func TestLeaseOfAKilledProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l")
	if held := os.Getenv("REBENCH_TEST_HOLD"); held != "" {
		l, err := OpenLocks(held)
		if err == nil {
			_, err = (&Pool{Locks: l, Inventory: &fakeGPUs{}, Cores: []int{0}}).Acquire(context.Background(), Want{Cores: 1}, nil)
		}
		fmt.Println("held", err)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestLeaseOfAKilledProcess$")
	cmd.Env = append(os.Environ(), "REBENCH_TEST_HOLD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held <nil>\n" {
		t.Fatal(line, err)
	}
	p := newPool(t, dir, &fakeGPUs{}, 0)
	if l, _, err := p.tryAcquire(context.Background(), Want{Cores: 1}); l != nil || err != nil {
		t.Fatalf("a core was leased twice: %v %v", l, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if l, why, err := p.tryAcquire(context.Background(), Want{Cores: 1}); l == nil || err != nil {
		t.Errorf("not free after its holder was killed: %q %v", why, err)
	}
}

func TestLockDirectoryIsForAllUsers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l")
	l, err := OpenLocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.Timing(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer k.Release()
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | os.ModeSticky | 0o777, filepath.Join(dir, "timing.lock"): 0o666} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v; expected %v", path, st.Mode(), err, want)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "pool.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.try("pool.lock", false, "x"); err == nil {
		t.Error("a symbolic link was followed")
	}
	file := filepath.Join(t.TempDir(), "f")
	os.WriteFile(file, nil, 0o600)
	if _, err := OpenLocks(file); err == nil {
		t.Error("a file was taken for a directory")
	}
}

func TestParseCPUInfo(t *testing.T) {
	x86 := "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu sse avx2\n\nprocessor\t: 1\nmodel name\t: other\n"
	same := "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: avx2 fpu sse\n\n"
	model, flags, err := parseCPUInfo(strings.NewReader(x86))
	_, sorted, _ := parseCPUInfo(strings.NewReader(same))
	if err != nil || model != "AMD EPYC 7B13" || len(flags) != 16 || flags != sorted {
		t.Error(model, flags, sorted, err)
	}
	model, _, err = parseCPUInfo(strings.NewReader("processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"))
	if err != nil || model != "0x41/0xd0c" {
		t.Error(model, err)
	}
}

func TestFingerprintSeparates(t *testing.T) {
	h, err := Describe(nil)
	if err != nil || h.CPUs < 1 || h.RAMGB < 1 {
		t.Fatalf("%+v, %v", h, err)
	}
	again, _ := Describe(nil)
	if h.Fingerprint() != again.Fingerprint() || len(h.Fingerprint()) != 16 {
		t.Error("the fingerprint does not repeat")
	}
	for i, change := range []func(*Hardware){
		func(h *Hardware) { h.CPUModel += "x" }, func(h *Hardware) { h.CPUFlags += "x" }, func(h *Hardware) { h.CPUs++ }, func(h *Hardware) { h.RAMGB++ },
		func(h *Hardware) { h.GPUs = append(h.GPUs, "H100") }, func(h *Hardware) { h.GPUDriver = "1" }, func(h *Hardware) { h.Arch = "x" },
	} {
		c := h
		change(&c)
		if c.Fingerprint() == h.Fingerprint() {
			t.Errorf("change %d does not show", i)
		}
	}
	cores, err := AllowedCores()
	if err != nil || len(cores) != h.CPUs {
		t.Error(cores, err)
	}
}
