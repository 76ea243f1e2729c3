package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// lines collects output that is read while the sandbox runs.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.buf.Write(b) }

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.buf.Bytes(), []byte("\n"))
}

// until waits for at least n lines.
func (l *lines) until(tb testing.TB, p Process, n int) {
	tb.Helper()
	for l.count() < n {
		select {
		case <-p.Done():
			tb.Fatalf("found %d lines, expected %d; ended with %+v", l.count(), n, wait(tb, p))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// busy are programs that never rest: a frozen one must not advance a counter in
// a file that it maps, not by one.
var busy = map[string]string{
	"one thread": `
import mmap
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
print("run", flush=True)
i = 0
while True:
    i += 1; m[:8] = i.to_bytes(8, "little")`,
	"threads": `
import mmap, threading
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
def work():
    i = 0
    while True:
        i += 1; m[:8] = i.to_bytes(8, "little")
for _ in range(4): threading.Thread(target=work).start()
print("run", flush=True)`,
	"processes": `
import mmap, os
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
for _ in range(3): os.fork()
print("run", flush=True)
i = 0
while True:
    i += 1; m[:8] = i.to_bytes(8, "little")`,
	"forks without end": `
import mmap, os
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
print("run", flush=True)
os.fork(); os.fork()
i = 0
while True:
    pid = os.fork()
    if pid == 0:
        for i in range(3000): m[:8] = i.to_bytes(8, "little")
        os._exit(0)
    i += 1; m[:8] = i.to_bytes(8, "little")
    os.waitpid(pid, 0)`,
	"waits for a child": `
import mmap, subprocess
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
print("run", flush=True)
i = 0
while True:
    i += 1; m[:8] = i.to_bytes(8, "little")
    subprocess.run(["true"])`,
	"wakes the other": `
import mmap, os, signal
f = open("/solution/n", "r+b"); m = mmap.mmap(f.fileno(), 8)
a = os.getpid()
b = os.fork() or a
print("run", flush=True)
i = 0
while True:
    i += 1; m[:8] = i.to_bytes(8, "little")
    try: os.kill(b, signal.SIGCONT)
    except OSError: pass`,
}

// wantStopped checks, where stopping is by signals, that every thread has taken
// its own: in the other tiers the kernel says so.
func wantStopped(t *testing.T, p Process) {
	t.Helper()
	g, ok := p.(*process).group.(*rlimitGroup)
	if !ok {
		return
	}
	pids, err := g.pids()
	if err != nil || len(pids) == 0 {
		t.Fatalf("found processes %v, %v", pids, err)
	}
	for _, pid := range pids {
		if !everyThread(pid, "TtZXD") {
			t.Errorf("process %d is not stopped", pid)
		}
	}
}

// TestFreeze checks that a frozen sandbox does nothing, at the moment Freeze
// returns and after, and that it goes on when thawed.
func TestFreeze(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		for name, script := range busy {
			t.Run(name, func(t *testing.T) {
				w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 100})
				src := t.TempDir()
				if err := os.WriteFile(src+"/n", make([]byte, 8), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := w.Fill(t.Context(), src); err != nil {
					t.Fatal(err)
				}
				read := func() string {
					raw, err := os.ReadFile(w.Path() + "/n")
					if err != nil {
						t.Fatal(err)
					}
					return fmt.Sprintf("%x", raw)
				}
				var out lines
				p := start(t, b, Spec{Argv: python(script), Stdout: &out, Limits: Limits{CPUs: 2}, Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}})
				out.until(t, p, 1)
				for round := range 10 {
					if err := p.Freeze(t.Context()); err != nil {
						t.Fatal(err)
					}
					wantStopped(t, p)
					before := read()
					time.Sleep(3 * time.Millisecond)
					if after := read(); after != before {
						t.Fatalf("round %d: went from %s to %s while frozen", round, before, after)
					}
					if err := p.Thaw(t.Context()); err != nil {
						t.Fatal(err)
					}
					for tries := 0; read() == before; tries++ {
						if tries > 1000 {
							t.Fatalf("round %d: does not go on", round)
						}
						time.Sleep(time.Millisecond)
					}
				}
				if err := p.Kill(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// TestFrozenTimeIsFree checks that the wall limit does not run while frozen.
func TestFrozenTimeIsFree(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		p := start(t, b, Spec{Argv: []string{"sleep", "60"}, Limits: Limits{Wall: 400 * time.Millisecond}})
		for range 3 {
			if err := p.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := p.Freeze(t.Context()); err != nil { // twice is no error
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			if err := p.Thaw(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-p.Done():
			t.Fatalf("ended during frozen time: %+v", wait(t, p))
		default:
		}
		res := wait(t, p)
		if res.Cause != CauseTimeout || res.Frozen < 600*time.Millisecond || res.Wall < 400*time.Millisecond {
			t.Errorf("found %+v, expected a timeout after 0.4 s with 0.6 s frozen", res)
		}
	})
}

// TestKillFrozen checks that a frozen sandbox dies like any other.
func TestKillFrozen(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		marker := "frozen-" + b.id
		p := start(t, b, Spec{Argv: sh("sleep 60; : " + marker)})
		if err := p.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if res := wait(t, p); res.Cause != CauseKilled {
			t.Errorf("found %+v, expected killed", res)
		}
		wantNone(t, marker)
		for _, err := range []error{p.Kill(t.Context()), p.Freeze(t.Context()), p.Thaw(t.Context())} {
			if err != nil {
				t.Errorf("after the end: %v", err)
			}
		}
	})
}

// TestFreezeRaces freezes, thaws and kills from several sides at once.
func TestFreezeRaces(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		for range 5 {
			p := start(t, b, Spec{Argv: sh("while :; do :; done"), Limits: Limits{Wall: 50 * time.Millisecond}})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 20 {
						if err := p.Freeze(t.Context()); err != nil {
							t.Error(err)
						}
						if err := p.Thaw(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Go(func() { time.Sleep(20 * time.Millisecond); _ = p.Kill(context.Background()) })
			wg.Wait()
			if res := wait(t, p); res.Cause != CauseKilled && res.Cause != CauseTimeout {
				t.Errorf("found %+v", res)
			}
		}
	})
}

// TestEnds checks how each way to end is named.
func TestEnds(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		for name, tc := range map[string]struct {
			argv   []string
			cause  Cause
			code   int
			signal int
		}{
			"zero":           {sh("exit 0"), CauseExit, 0, 0},
			"status":         {sh("exit 77"), CauseExit, 77, 0},
			"255":            {sh("exit 255"), CauseExit, 255, 0},
			"not found":      {[]string{"/solution/none"}, CauseExit, 127, 0},
			"not executable": {[]string{"/etc/passwd"}, CauseExit, 126, 0},
			"abort":          {python("import os; os.abort()"), CauseSignal, -1, 6},
			"segfault":       {python("import ctypes; ctypes.string_at(0)"), CauseSignal, -1, 11},
			"kill":           {sh("kill -9 $$"), CauseSignal, -1, 9},
			"first process":  {python("import os; os.kill(1, 9); print('lives')"), CauseExit, 0, 0},
		} {
			t.Run(name, func(t *testing.T) {
				r := run(t, b, Spec{Argv: tc.argv})
				if r.Cause != tc.cause || r.ExitCode != tc.code || int(r.Signal) != tc.signal {
					t.Errorf("found %s %d signal %d, expected %s %d %d; %s", r.Cause, r.ExitCode, r.Signal, tc.cause, tc.code, tc.signal, r.err)
				}
			})
		}
		t.Run("context", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p, err := b.Start(ctx, completed(t, b, Spec{Argv: []string{"sleep", "60"}}))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if res := wait(t, p); res.Cause != CauseKilled {
				t.Errorf("found %+v, expected killed", res)
			}
		})
	})
}

// TestBadSpecs checks that wrong specs are refused before anything starts, and
// that a set-up that fails is told from a program that fails.
func TestBadSpecs(t *testing.T) {
	b := newExecutor(t, "")
	ok := completed(t, b, Spec{Argv: []string{"true"}})
	for name, change := range map[string]func(*Spec){
		"name":           func(s *Spec) { s.Name = "../x" },
		"role":           func(s *Spec) { s.Role = "king" },
		"no command":     func(s *Spec) { s.Argv = nil },
		"zero byte":      func(s *Spec) { s.Argv = []string{"a\x00b"} },
		"variable":       func(s *Spec) { s.Env = map[string]string{"A=B": "c"} },
		"relative mount": func(s *Spec) { s.Mounts = []Mount{{Target: "x", Data: []byte("y")}} },
		"dotted mount":   func(s *Spec) { s.Mounts = []Mount{{Target: "/x/../y", Data: []byte("y")}} },
		"two sources":    func(s *Spec) { s.Mounts = []Mount{{Target: "/x", Data: []byte("y"), Source: "/etc"}} },
		"no source":      func(s *Spec) { s.Mounts = []Mount{{Target: "/x", Source: "/nonexistent"}} },
		"cores":          func(s *Spec) { s.Limits.CPUSet = "all" },
		"GPU":            func(s *Spec) { s.GPUs = []int{251} },
		"descriptors":    func(s *Spec) { s.Files = make([]*os.File, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			s := ok
			change(&s)
			if _, err := b.Start(t.Context(), s); rebench.ErrorCode(err) != rebench.CodeInvalid {
				t.Errorf("found %v, expected %s", err, rebench.CodeInvalid)
			}
		})
	}
	t.Run("set-up", func(t *testing.T) {
		s := ok
		s.Dir = "/nonexistent"
		p, err := b.Start(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Wait(t.Context())
		if rebench.ErrorCode(err) != rebench.CodeInternal || !strings.Contains(err.Error(), "nonexistent") {
			t.Errorf("found %v, expected bubblewrap's own words", err)
		}
	})
}

// TestMounts checks what each kind of mount shows.
func TestMounts(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		private := t.TempDir() // 0700 above it: the sandbox's user may not pass
		if err := os.WriteFile(private+"/f", []byte("from the host"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := run(t, b, Spec{
			Argv: sh(`cat /host/f /one /data; /data2; echo x > /room/a && cat /room/a; for f in /host/f /host/new /one /data; do echo x 2>/dev/null > $f || echo no; done`),
			Mounts: []Mount{
				{Target: "/host", Source: private}, {Target: "/one", Source: private + "/f"}, {Target: "/data", Data: []byte(" and memory\n")},
				{Target: "/data2", Data: []byte("#!/bin/sh\necho ran"), Executable: true}, {Target: "/room", Tmpfs: &Space{Bytes: 1 << 20, Inodes: 10}, Writable: true},
			},
		})
		r.wantExit(t, 0)
		if want := "from the hostfrom the host and memory\nran\nx\n" + strings.TrimSpace(strings.Repeat("no\n", 4)); r.out != want {
			t.Errorf("found %q, expected %q; %s", r.out, want, r.err)
		}
	})
}

// TestFiles checks that given descriptors arrive as 3 and up, and no others, not
// even one that this process has without close-on-exec.
func TestFiles(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		inherited, err := unix.Dup(2)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(inherited)
		var files []*os.File
		for i := range 2 {
			f, err := memoryFile("given", []byte("file "+strconv.Itoa(i)))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files = append(files, f)
		}
		r := run(t, b, Spec{Files: files, Stdin: strings.NewReader("input"), Argv: sh("cat; cat <&3; cat <&4; ls /proc/self/fd | tr '\\n' ' '")})
		if want := "inputfile 0file 10 1 2 3 4 5"; r.out != want {
			t.Errorf("found %q, expected %q", r.out, want)
		}
	})
}
