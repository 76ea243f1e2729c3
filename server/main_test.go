package main

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rebench/internal/config"
)

// asServer makes the test binary behave as the server.
const asServer = "REBENCH_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func server(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), append([]string{asServer + "=1"}, env...)...)
	return cmd
}

// started runs the server and returns the address that it prints.
func started(t *testing.T, env []string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := server(env, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v", err)
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "rebench is serving on ")
	if !ok {
		t.Fatalf("printed %q", line)
	}
	return cmd, address
}

// The settings come from flags or from the environment; a signal ends the server
// with exit code 0.
func TestServesUntilSignalled(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			var cmd *exec.Cmd
			var address string
			database := filepath.Join(dir, "rebench.db")
			if signal == syscall.SIGTERM {
				cmd, address = started(t, nil, "--addr", "127.0.0.1:0", "--data-dir", dir)
			} else {
				database = filepath.Join(dir, "other.db")
				cmd, address = started(t, []string{config.EnvAddr + "=127.0.0.1:0", config.EnvDatabase + "=" + database})
			}
			resp, err := http.Get(address + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
			if _, err := os.Stat(database); err != nil {
				t.Error(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}

// Whatever keeps the server from starting is one line on standard error and a
// non-zero exit.
func TestOneLineAndNonZeroExit(t *testing.T) {
	dir := t.TempDir()
	letter := filepath.Join(dir, "letter.db")
	if err := os.WriteFile(letter, []byte("Dear reader, this is no database."), 0o600); err != nil {
		t.Fatal(err)
	}
	_, address := started(t, nil, "--addr", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "first"))
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"port in use", []string{"--addr", strings.TrimPrefix(address, "http://"), "--data-dir", filepath.Join(dir, "second")}, "is in use"},
		{"same file", []string{"--addr", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "first")}, "another server is using it"},
		{"no database", []string{"--addr", "127.0.0.1:0", "--database", letter}, "not an SQLite file"},
		{"bad address", []string{"--addr", "8080", "--data-dir", dir}, "is not host:port"},
		{"bad level", []string{"--log-level", "loud", "--data-dir", dir}, "not one of debug"},
		{"unknown flag", []string{"--prot", "80"}, "unknown flag: --prot"},
		{"argument", []string{"serve"}, `unknown command "serve"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := server(nil, tt.args...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 1 {
				t.Errorf("exit %v, want code 1", err)
			}
			if got := errs.String(); !strings.HasPrefix(got, "server: ") || !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("standard error %q, want one line with %q", got, tt.want)
			}
			if out.Len() != 0 {
				t.Errorf("standard output %q", out.String())
			}
		})
	}
}
