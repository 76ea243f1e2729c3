package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// probeCalls are the system calls that escapes.py makes by number.
var probeCalls = map[string]int{
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "unshare": unix.SYS_UNSHARE, "clone": unix.SYS_CLONE,
	"clone3": unix.SYS_CLONE3, "mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT,
	"setns": unix.SYS_SETNS, "bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "keyctl": unix.SYS_KEYCTL,
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "userfaultfd": unix.SYS_USERFAULTFD, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
	"kexec_load": unix.SYS_KEXEC_LOAD, "init_module": unix.SYS_INIT_MODULE, "fsopen": unix.SYS_FSOPEN, "move_mount": unix.SYS_MOVE_MOUNT,
	"open_tree": unix.SYS_OPEN_TREE, "pidfd_getfd": unix.SYS_PIDFD_GETFD, "add_key": unix.SYS_ADD_KEY, "ioctl": unix.SYS_IOCTL,
	"timer_create": unix.SYS_TIMER_CREATE, "timerfd_create": unix.SYS_TIMERFD_CREATE,
}

// deniedProbes are those of them that the filter refuses whatever their arguments.
var deniedProbes = []string{
	"setns", "bpf", "perf_event_open", "keyctl", "io_uring_setup", "userfaultfd", "open_by_handle_at", "kexec_load",
	"init_module", "fsopen", "move_mount", "open_tree", "pidfd_getfd", "add_key", "timer_create", "timerfd_create",
}

const scorerSecret = "scorer-secret-7b1f"

// TestEscapes tries what a hostile submission would, while a scorer runs beside
// it, and checks that every attempt is refused, and how.
func TestEscapes(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		t.Setenv("REBENCH_SECRET", scorerSecret)
		abstract, err := net.Listen("unix", "@rebench-test-"+b.id)
		if err != nil {
			t.Fatal(err)
		}
		defer abstract.Close()
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		hidden := filepath.Join(b.cfg.RunDir, "public-secret-"+b.id)
		if err := os.WriteFile(hidden, []byte(scorerSecret), 0o644); err != nil {
			t.Fatal(err)
		}
		staged, err := b.Stage(t.Context(), "testdata")
		if err != nil {
			t.Fatal(err)
		}
		start(t, b, Spec{Role: RoleScorer, Name: "scorer", Argv: []string{"sleep", "60", scorerSecret}})
		wd, _ := os.Getwd()
		script, err := os.ReadFile("testdata/escapes.py")
		if err != nil {
			t.Fatal(err)
		}
		asked, _ := json.Marshal(map[string]any{
			"hidden": []string{"/etc/shadow", hidden, staged.Path + "/escapes.py", filepath.Join(wd, "doc.go"), "/root", "/home", "/var/lib/dpkg/status",
				"/run/rebench", "/proc/kcore", "/proc/1/root/etc/shadow"},
			"abstract": "rebench-test-" + b.id, "tcp": tcp.Addr().(*net.TCPAddr).Port, "pid": os.Getpid(), "machine": runtime.GOARCH,
			"secrets": []string{scorerSecret, testDir, "bwrap --unshare"}, "syscalls": probeCalls, "denied": deniedProbes,
		})
		r := run(t, b, Spec{
			Argv: []string{"python3", "-I", "-B", "/harness/escapes.py"}, Stdin: strings.NewReader(string(asked)),
			Mounts: []Mount{{Target: "/harness/escapes.py", Data: script}, {Target: "/solution", Source: staged.Path}},
		})
		r.wantExit(t, 0)
		var found map[string]any
		if err := json.Unmarshal([]byte(r.out), &found); err != nil {
			t.Fatalf("%v: %q", err, r.out)
		}
		checkEscapes(t, found, hidden, staged.Path, wd)
	})
}

// TestNoInternet checks that sockets of the loopback interface, which all
// sandboxes have, are refused where they are to be, and no others.
func TestNoInternet(t *testing.T) {
	const script = `import socket
for f in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try: socket.socket(f); print(int(f), "made")
    except OSError as e: print(int(f), e.errno)
`
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		for denied, want := range map[bool]string{false: "2 made\n10 made\n1 made", true: "2 97\n10 97\n1 made"} {
			r := run(t, b, Spec{Argv: []string{"python3", "-I", "-c", script}, NoInternet: denied})
			r.wantExit(t, 0)
			if r.out != want {
				t.Errorf("NoInternet %v: found %q, expected %q", denied, r.out, want)
			}
		}
	})
}

// refusals says how each attempt must fail; several where kernels differ.
func refusals(hidden, staged, wd string) map[string][]string {
	want := map[string][]string{
		"abstract socket": {"ECONNREFUSED"}, "host tcp": {"ECONNREFUSED"}, "internet": {"ENETUNREACH"},
		"vsock": {"EAFNOSUPPORT"}, "packet": {"EAFNOSUPPORT"}, "crypto socket": {"EAFNOSUPPORT"}, "uevents": {"EAFNOSUPPORT"},
		"raw socket": {"EPERM"}, "signal host process": {"ESRCH"},
		"ptrace init": {"EPERM"}, "ptrace host": {"EPERM"}, "process_vm_readv": {"EPERM"},
		"write /sys/devices/system/cpu/x": {"EACCES", "EROFS", "EPERM"}, "write /etc/passwd": {"EACCES", "EROFS"},
		"set /proc/sys/kernel/hostname": {"EACCES", "EPERM"}, "set /proc/sysrq-trigger": {"EACCES", "ENOENT"}, "set /proc/sys/kernel/core_pattern": {"EACCES"},
		"mknod": {"EPERM"}, "setuid": {"EPERM", "EINVAL"}, "setgroups": {"EPERM"}, "chroot": {"EPERM"},
		"clone3": {"ENOSYS"}, "mount": {"EPERM"}, "umount": {"EPERM"}, "pivot_root": {"EPERM"}, "TIOCSTI": {"EPERM"},
	}
	for _, path := range []string{"/usr/bin/x", "/x", "/dev/x", "/bin/x", "/solution/x"} {
		want["write "+path] = []string{"EROFS"}
	}
	for _, dev := range []string{"mem", "kmsg", "vda", "sda", "kvm", "fuse", "vsock", "nvidiactl"} {
		want["open /dev/"+dev] = []string{"ENOENT"}
	}
	for _, ns := range []string{"user", "mount", "net"} {
		want["unshare "+ns], want["clone "+ns] = []string{"EPERM"}, []string{"EPERM"}
	}
	for _, name := range deniedProbes {
		want[name] = []string{"EPERM"}
	}
	for _, path := range []string{"/etc/shadow", hidden, staged + "/escapes.py", filepath.Join(wd, "doc.go"), "/root", "/home", "/var/lib/dpkg/status", "/run/rebench", "/proc/1/root/etc/shadow"} {
		want["read "+path] = []string{"ENOENT"}
		// The first process is bubblewrap, which a namespace does not let look into.
		want["through init "+path] = []string{"ENOENT", "EACCES", "EPERM"}
	}
	want["read /proc/1/root/etc/shadow"] = []string{"ENOENT", "EACCES", "EPERM"}
	want["read /proc/kcore"] = []string{"EACCES", "EPERM", "ENOENT"}
	want["through init /proc/kcore"] = []string{"ENOENT", "EACCES", "EPERM"}
	return want
}

func checkEscapes(t *testing.T, found map[string]any, hidden, staged, wd string) {
	t.Helper()
	tried := 0
	for probe, want := range refusals(hidden, staged, wd) {
		got, _ := found[probe].(string)
		if !slices.Contains(want, got) {
			t.Errorf("%s: found %q, expected %v", probe, got, want)
		}
		delete(found, probe)
		tried++
	}
	if n, _ := found["processes"].(float64); n > 4 {
		t.Errorf("sees %v processes, expected at most 4 of its own", n)
	}
	delete(found, "processes")
	if abi, ok := found["other abi"]; ok {
		// SIGSYS from the filter, or SIGSEGV where the kernel has no such entry.
		if abi != float64(-31) && abi != float64(-11) {
			t.Errorf("32-bit system call: found status %v, expected death by SIGSYS", abi)
		}
		delete(found, "other abi")
	}
	env := fmt.Sprint(found["environment"])
	for _, name := range []string{"REBENCH_SECRET", "HOSTNAME", "SUDO", "SSH"} {
		if strings.Contains(env, name) {
			t.Errorf("environment %s: expected no %s", env, name)
		}
	}
	delete(found, "environment")
	want := map[string]any{
		"interfaces": []any{"lo"}, "leaks": []any{}, "no_new_privs": "1", "seccomp": "2",
		"capabilities": []any{"0000000000000000", "0000000000000000", "0000000000000000", "0000000000000000", "0000000000000000"},
		"descriptors":  []any{0.0, 1.0, 2.0}, "ids": []any{1000.0, 1000.0, []any{}},
		"first process": []any{"0000000000000000", "0000000000000000", "1", "2"},
		"setuid files":  []any{}, "writable": []any{"/tmp", "/dev/shm"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("what is inherited (-expected +found):\n%s", diff)
	}
	t.Logf("%d escapes tried and refused", tried+1)
}

// TestRootHoldsNothingElse scans all that a sandbox can read for texts, scorers
// and solutions that environments keep from solvers.
func TestRootHoldsNothingElse(t *testing.T) {
	b := newExecutor(t, "")
	root, err := b.Root(t.Context(), RootSpec{PythonModules: []string{"numpy"}, Tools: []string{"cc", "edit"}})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, b, Spec{Root: root, Limits: Limits{MemoryBytes: 1 << 30}, Argv: python(`
import os, re
names = re.compile(r"bible|kjv|austen|gutenberg|corpora|nltk|scorer|optimize_kernel|fix_embedding|shakespeare|wordlist|dict/words", re.I)
texts = [b"MUST NOT APPEAR IN " + b"TRAINING DATA", b"In the beginning God " + b"created", b"It is a truth universally " + b"acknowledged", b"Mr. Bennet", b"universally acknow" + b"ledged"]
seen = files = 0
for top in os.listdir("/"):
    if top in ("proc", "sys", "dev"): continue
    for d, _, fs in os.walk("/" + top):
        for f in fs:
            p = os.path.join(d, f)
            if names.search(p): print("name", p)
            if os.path.islink(p): continue
            b = open(p, "rb").read(); files += 1; seen += len(b)
            for t in texts:
                if t in b: print("text", p, t)
print("scanned", files > 1000, seen > 50e6)
`)})
	if r.out != "scanned True True" {
		t.Errorf("found %s %s; expected nothing but the count", r.out, r.err)
	}
}

// TestCompilerAndNumpy checks that the allow-list is enough to work with.
func TestCompilerAndNumpy(t *testing.T) {
	b := newExecutor(t, "")
	root, err := b.Root(t.Context(), fullRoot)
	if err != nil {
		t.Fatal(err)
	}
	run(t, b, Spec{Root: root, Dir: "/tmp", Argv: sh(`set -e
cat > a.c <<'EOF'
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
int main(void) { printf("%.3f\n", sqrt(atof("2"))); return 0; }
EOF
gcc -O3 -Wall -o a a.c -lm -lpthread && test "$(./a)" = 1.414
gcc -O2 -static -o b a.c -lm && test "$(./b)" = 1.414
gcc -O2 -fopenmp -shared -fPIC -o c.so a.c -lm
gcc -flto -O2 -c a.c && gcc -flto -o d a.o -lm && ./d >/dev/null`)}).wantExit(t, 0)
	r := run(t, b, Spec{Root: root, Argv: python(`
import ctypes, json, hashlib, sqlite3, ssl, subprocess, multiprocessing.shared_memory as m, numpy as np
print(np.linalg.svd(np.eye(3))[1].sum(), subprocess.run(["sh", "-c", "echo hi"], capture_output=True).stdout, np.random.default_rng(1).integers(10))
s = m.SharedMemory(create=True, size=100); s.close(); s.unlink()
`)})
	if r.wantExit(t, 0); r.out != "3.0 b'hi\\n' 4" {
		t.Errorf("found %q", r.out)
	}
}
