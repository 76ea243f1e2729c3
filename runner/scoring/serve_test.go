package scoring

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toyService answers each connection's line with it, the parameter and the key,
// and tells how often.
const toyService = `import json, socket, sys
asked, n = json.load(sys.stdin), 0
listener = socket.socket(fileno=3)
listener.setblocking(True)
while True:
    conn, _ = listener.accept()
    line = conn.makefile().readline().strip()
    if line == "end":
        sys.exit(7)
    n += 1
    print(json.dumps({"asked": n}), flush=True)
    print("{ no object", end="", flush=True) if line == "half" else None
    conn.sendall(("%s %s %s\n" % (line, asked["params"]["n"], asked["attempt_key"])).encode())
    conn.close()
`

// served starts the toy's service; ask sends it a line.
func served(t *testing.T, s *Service, program string) (v *Serving, ask func(string) string) {
	t.Helper()
	env := toy(t, "")
	if HasService(env) {
		t.Error("a service is found where there is none")
	}
	if err := os.WriteFile(filepath.Join(env.Dir, serviceEntry), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if !HasService(env) {
		t.Error("the service is not found")
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	defer file.Close()
	v, err = s.Serve(context.Background(), PrepareRequest{Attempt: "attempt-1", Environment: env, Profile: env.Profiles["test"]}, file)
	if err != nil {
		t.Fatal(err)
	}
	return v, func(line string) string {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintln(conn, line)
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		return strings.TrimSpace(answer)
	}
}

// A service is asked over its socket, knows its attempt's key, and says at the end what it did.
func TestServe(t *testing.T) {
	s := service(t, "")
	v, ask := served(t, s, toyService)
	key := AttemptKey(s.cfg.Secret, "attempt-1", "toy")
	for _, line := range []string{"one", "half"} {
		if got, want := ask(line), fmt.Sprintf("%s 3 %x", line, key); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
	state, err := v.Stop()
	if err != nil || string(state) != `{"asked": 2}` {
		t.Errorf("found %s, %v; expected the last whole line", state, err)
	}
}

func TestServiceThatEndsIsTold(t *testing.T) {
	v, ask := served(t, service(t, ""), toyService)
	ask("one")
	ask("end")
	<-v.proc.Done()
	state, err := v.Stop()
	if string(state) != `{"asked": 1}` || err == nil || !strings.Contains(err.Error(), "ended early") || !strings.Contains(err.Error(), "7") {
		t.Errorf("found %s, %v; expected the state, and that it ended early with 7", state, err)
	}
}

func TestLastObject(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"{}":                         "",
		"{}\n":                       "{}",
		"{\"a\":1}\nnull\n[2]\n{\"b": `{"a":1}`,
		"\n\n{\"a\":2}\n\n":          `{"a":2}`,
		"text\n":                     "",
	} {
		if got := string(lastObject(text)); got != want {
			t.Errorf("%q: found %q, expected %q", text, got, want)
		}
	}
}
