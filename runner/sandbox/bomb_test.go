package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bomb is a program that takes without end, and how that must end.
type bomb struct {
	name   string
	argv   []string
	limits Limits
	mounts []Mount
	causes []Cause // nil: it exits by itself
	out    string  // what it then prints
	weak   *bomb   // other expectations in the weak tier
	alone  *bomb   // and where sandboxes run as the runner's own user
}

var smallTmp = Space{Bytes: 8 << 20, Inodes: 500}

func bombs() []bomb {
	mem := Limits{MemoryBytes: 128 << 20, Tmp: Space{Bytes: 1 << 30, Inodes: 10_000}}
	const grow = "b = []\nwhile True: b.append(bytearray(os.urandom(1 << 20)))"
	return []bomb{
		{name: "memory", argv: python("import os\n" + grow), limits: mem, causes: []Cause{CauseOOM},
			// RLIMIT_AS refuses first: Python prints MemoryError.
			weak: &bomb{causes: []Cause{CauseOOM, CauseExit}}},
		{name: "memory of many", limits: Limits{MemoryBytes: 128 << 20, PIDs: 64}, causes: []Cause{CauseOOM},
			argv: python("import os, time\nfor i in range(16):\n  if os.fork() == 0:\n    b = bytearray(os.urandom(24 << 20)); time.sleep(60)\ntime.sleep(60)")},
		{name: "memfd", limits: mem, causes: []Cause{CauseOOM},
			argv: python("import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))"),
			weak: &bomb{causes: []Cause{CauseExit}}},
		{name: "shared mapping", limits: mem, causes: []Cause{CauseOOM},
			argv: python("import mmap, time\nm = mmap.mmap(-1, 100 << 20)\nn = mmap.mmap(-1, 100 << 20)\nfor i in range(0, 100 << 20, 4096): m[i] = n[i] = 1\ntime.sleep(60)"),
			weak: &bomb{causes: []Cause{CauseOOM, CauseExit}}},
		{name: "shm", limits: mem, causes: []Cause{CauseOOM},
			argv: python("import time\nf = open('/dev/shm/x', 'wb')\nfor i in range(900): f.write(bytes(1 << 20)); f.flush()\ntime.sleep(60)")},
		{name: "tmp as memory", limits: mem, causes: []Cause{CauseOOM},
			argv: python("import time\nf = open('/tmp/x', 'wb')\nfor i in range(900): f.write(bytes(1 << 20)); f.flush()\ntime.sleep(60)")},
		{name: "disk", limits: Limits{Tmp: smallTmp}, out: "ENOSPC True",
			argv: python("import errno\nf = open('/tmp/x', 'wb', buffering=0); n = 0\ntry:\n  while True: n += f.write(bytes(65536))\nexcept OSError as e: print(errno.errorcode[e.errno], 7 << 20 < n <= 8 << 20)")},
		{name: "inodes", limits: Limits{Tmp: smallTmp}, out: "ENOSPC True",
			argv:  python("import errno, time\nn = 0\ntry:\n  while True: open('/tmp/%d' % n, 'w').close(); n += 1\nexcept OSError as e: print(errno.errorcode[e.errno], 490 < n < 510)"),
			alone: &bomb{causes: []Cause{CauseLimit}}},
		{name: "descriptors", limits: Limits{OpenFiles: 64}, out: "EMFILE 61",
			argv: python("import errno, os\nn = 0\ntry:\n  while True: os.dup(0); n += 1\nexcept OSError as e: print(errno.errorcode[e.errno], n)")},
		{name: "large file", limits: Limits{FileBytes: 1 << 20}, out: "EFBIG 1048576",
			argv: python("import errno, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nf = open('/tmp/x', 'wb', buffering=0); n = 0\ntry:\n  while True: n += f.write(bytes(65536))\nexcept OSError as e: print(errno.errorcode[e.errno], n)")},
		{name: "threads", limits: Limits{PIDs: 32}, out: "True",
			argv: python("import threading, time\nn = 0\ntry:\n  while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\nexcept RuntimeError: print(20 < n < 32, flush=True)\nimport os; os._exit(0)")},
		{name: "spin", limits: Limits{Wall: 300 * time.Millisecond}, causes: []Cause{CauseTimeout}, argv: python("while True: pass")},
		{name: "sleep", limits: Limits{Wall: 300 * time.Millisecond}, causes: []Cause{CauseTimeout}, argv: sh("sleep 60")},
		{name: "deaf", limits: Limits{Wall: 300 * time.Millisecond}, causes: []Cause{CauseTimeout},
			argv: python("import signal, time\nfor s in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(s, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(60)")},
	}
}

// TestBombs checks how each attempt to take without end ends, and that nothing
// of it is left.
func TestBombs(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		weak := b.Tier().Name == TierRlimit
		for _, tc := range bombs() {
			t.Run(tc.name, func(t *testing.T) {
				want := tc
				if weak && tc.weak != nil {
					want = *tc.weak
				}
				if !b.Tier().SeparateUsers && tc.alone != nil {
					want = *tc.alone
				}
				marker := fmt.Sprintf("bomb-%s-%d", b.id, time.Now().UnixNano())
				r := run(t, b, Spec{Argv: append(tc.argv, marker), Limits: tc.limits, Mounts: tc.mounts})
				if want.causes == nil {
					if r.wantExit(t, 0); r.out != want.out {
						t.Errorf("found %q, expected %q", r.out, want.out)
					}
				} else {
					r.wantCause(t, want.causes...)
				}
				wantNone(t, marker)
			})
		}
	})
}

// TestForkBomb checks that processes are counted, that the machine stays usable
// and that all of them die.
func TestForkBomb(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		marker := "forkbomb-" + b.id
		p := start(t, b, Spec{Limits: Limits{PIDs: 48, Wall: 700 * time.Millisecond, CPUs: 0.5},
			Argv: python("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass # " + marker)}).(*process)
		most := 0
		for !p.ended() {
			pids, err := p.group.pids()
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, len(pids))
			time.Sleep(5 * time.Millisecond)
		}
		if most < 20 || most > 48 {
			t.Errorf("%d processes at most, expected about 48", most)
		}
		if res := wait(t, p); res.Cause != CauseTimeout {
			t.Errorf("found %+v, expected a timeout", res)
		}
		wantNone(t, marker)
	})
}

// TestDaemonsDie checks that processes that left their parents, sessions and
// process groups end with the program.
func TestDaemonsDie(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		marker := "daemon-" + b.id
		r := run(t, b, Spec{Argv: python(`
import os, signal, time
r, w = os.pipe()
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.write(w, b"x")
            time.sleep(300)
        os._exit(0)
n = 0
while n < 5: n += len(os.read(r, 5))
print("daemons run") # ` + marker)})
		if r.wantExit(t, 0); r.out != "daemons run" {
			t.Errorf("found %q", r.out)
		}
		wantNone(t, marker)
	})
}

// TestOutputFlood checks that a flood neither fills memory nor stalls, and that
// all of it is counted.
func TestOutputFlood(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		const most = 1000
		r := run(t, b, Spec{Limits: Limits{OutputBytes: most}, Argv: sh("head -c 50000000 /dev/zero; head -c 3000 /dev/zero >&2; exit 5")})
		r.wantExit(t, 5)
		if len(r.out) != most || len(r.err) != most || r.StdoutBytes != 50_000_000 || r.StderrBytes != 3000 {
			t.Errorf("kept %d and %d of %d and %d bytes; expected %d each of 50000000 and 3000", len(r.out), len(r.err), r.StdoutBytes, r.StderrBytes, most)
		}
	})
}

// TestWorkspaceBounds checks bytes and inodes of a solution directory: as root by
// the file system, else by the watchdog.
func TestWorkspaceBounds(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		for what, script := range map[string]string{
			"bytes":  "head -c 3000000 /dev/zero > big; sleep 1",
			"inodes": "i=0; while [ $i -lt 300 ]; do : > f$i || exit 9; i=$((i+1)); done; sleep 1",
		} {
			t.Run(what, func(t *testing.T) {
				w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 100})
				r := run(t, b, Spec{Dir: "/solution", Argv: sh(script), Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}})
				if b.Tier().SeparateUsers {
					r.wantCause(t, CauseExit)
					if !strings.Contains(r.err, "No space left on device") {
						t.Errorf("found %q, expected a full file system", r.err)
					}
					return
				}
				r.wantCause(t, CauseLimit)
			})
		}
	})
}

// TestUsage checks the counters against a program that takes a known amount.
func TestUsage(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		r := run(t, b, Spec{Limits: Limits{CPUs: 2}, Argv: python(`
import time
b = bytearray(64 << 20)
for i in range(0, len(b), 4096): b[i] = 1
while time.process_time() < 0.5: pass
`)})
		r.wantExit(t, 0)
		if mem := r.Usage.MemoryPeakBytes; mem < 64<<20 || mem > 200<<20 {
			t.Errorf("memory peak %d, expected a little over 64 MiB", mem)
		}
		if cpu := r.Usage.CPU; cpu < 400*time.Millisecond || cpu > 5*time.Second {
			t.Errorf("processor time %v, expected about 0.5 s", cpu)
		}
	})
}

// TestCPULimit checks that half a core gives about half a second in each.
func TestCPULimit(t *testing.T) {
	b := newExecutor(t, "")
	if b.Tier().Name == TierRlimit {
		t.Logf("tier %s does not limit processor time, and says so: %v", b.Tier().Name, b.Tier().Gaps)
		return
	}
	r := run(t, b, Spec{Limits: Limits{CPUs: 0.2}, Argv: python("import time\nt = time.monotonic()\nwhile time.monotonic() - t < 1: pass\nprint(time.process_time())")})
	cpu, err := strconv.ParseFloat(r.out, 64)
	if err != nil || cpu > 0.45 {
		t.Errorf("used %q seconds of processor time in one second, expected about 0.2", r.out)
	}
}

// TestCores checks that a sandbox stays on its cores where a controller keeps it.
func TestCores(t *testing.T) {
	b := newExecutor(t, "")
	r := run(t, b, Spec{Limits: Limits{CPUSet: "0"}, Argv: python("import os\nprint(sorted(os.sched_getaffinity(0)))\ntry: os.sched_setaffinity(0, range(os.cpu_count()))\nexcept OSError: pass\nprint(sorted(os.sched_getaffinity(0)))")})
	want := "[0]\n[0]"
	if strings.Contains(strings.Join(b.Tier().Gaps, " "), "cores") || b.Tier().Name == TierRlimit {
		want = "[0]\n" // the gap is declared
	}
	if !strings.HasPrefix(r.out, want) {
		t.Errorf("found %q, expected %q", r.out, want)
	}
}
