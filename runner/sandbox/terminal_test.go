package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two sides of a pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal"), slave
}

// TestTerminal checks that a person's shell works: it reads lines, its jobs can
// be interrupted, and its end is the sandbox's.
func TestTerminal(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		master, slave := openTerminal(t)
		defer master.Close()
		root := testRoot(t, b)
		env := BaseEnv(root, 1)
		env["PS1"], env["TERM"] = "ready> ", "dumb"
		p := start(t, b, Spec{Role: RoleAgent, Root: root, Env: env, Terminal: slave, Limits: Limits{Wall: -1},
			Argv: []string{"bash", "--norc", "--noprofile", "--noediting", "-i"}})
		slave.Close()
		var seen strings.Builder
		until := func(want string) {
			t.Helper()
			buf := make([]byte, 4096)
			for begin := seen.Len(); !strings.Contains(seen.String()[begin:], want); {
				_ = master.SetReadDeadline(time.Now().Add(20 * time.Second))
				n, err := master.Read(buf)
				seen.Write(buf[:n])
				if err != nil {
					t.Fatalf("%v before %q; saw %q", err, want, seen.String())
				}
			}
		}
		say := func(s string) {
			t.Helper()
			if _, err := master.WriteString(s); err != nil {
				t.Fatal(err)
			}
		}
		until("ready> ")
		say("test -t 0 && echo term$((1+1)); id -u; set -o | grep monitor\n")
		until("term2\r\n1000\r\n")
		until("ready> ")
		say("echo go; sleep 1000\n")
		until("1000\r\ngo\r\n")
		time.Sleep(100 * time.Millisecond) // until sleep has started
		say("\x03")
		until("ready> ")
		say("echo status $?\n")
		until("status 130")
		say("exit 7\n")
		res := wait(t, p)
		if res.Cause != CauseExit || res.ExitCode != 7 {
			t.Errorf("found %+v; saw %q", res, seen.String())
		}
		if strings.Contains(seen.String(), "no job control") {
			t.Errorf("the shell has no job control: %q", seen.String())
		}
	})
}
