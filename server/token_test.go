package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rebench/internal/config"
)

// said runs a command to its end and returns what it printed and its exit code.
func said(t *testing.T, env []string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := server(env, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// newToken makes a token and returns it: the last line printed.
func newToken(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, errs, code := said(t, nil, append([]string{"token", "create", "--data-dir", dir}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	token := lines[len(lines)-1]
	if code != 0 || !strings.HasPrefix(token, "rebench_") || len(token) < 40 {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	return token
}

// row is a line of METR's file.
func row(id int) string {
	return fmt.Sprintf(`{"run_id":%d,"task_id":"ai_rd_fix_embedding/main","task_family":"ai_rd_fix_embedding","alias":"A","model":"a","score":0.5,"time_limit":1800,"started_at":1,"completed_at":2,"fatal_error_from":null}`+"\n", id)
}

func request(t *testing.T, address, token string, files ...string) (*http.Request, error) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i, content := range files {
		part, err := w.CreateFormFile("file", fmt.Sprintf("runs-%d.jsonl", i))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, content)
	}
	w.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/v1/uploads", &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+token)
	return req, nil
}

func uploaded(t *testing.T, address, token string, files ...string) int {
	t.Helper()
	req, err := request(t, address, token, files...)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// Tokens are made, listed and revoked while the server runs, and take effect at once.
func TestTokensBesideARunningServer(t *testing.T) {
	dir := t.TempDir()
	_, address := started(t, nil, "--addr", "127.0.0.1:0", "--data-dir", dir)
	if got := uploaded(t, address, "rebench_nothing", row(1)); got != 401 {
		t.Errorf("without a token: %d", got)
	}
	token := newToken(t, dir, "--name", "team")
	if got := uploaded(t, address, token, row(1)); got != 201 {
		t.Errorf("with a new token: %d", got)
	}
	newToken(t, dir, "--name", "gpu-1", "--scope", "admin", "--trusted")
	out, _, code := said(t, nil, "token", "list", "--data-dir", dir)
	if code != 0 || !strings.Contains(out, "team") || !strings.Contains(out, "gpu-1") || strings.Contains(out, token) {
		t.Errorf("list: exit %d\n%s", code, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); strings.HasPrefix(line, "gpu-1") && (f[1] != "admin" || f[2] != "yes") || strings.HasPrefix(line, "team") && (f[1] != "upload" || f[2] != "no") {
			t.Errorf("list: %q", line)
		}
	}
	for args, want := range map[string]string{"--name team": "already a token named", "--name x --scope root": "expected upload or admin", "": `required flag(s) "name" not set`} {
		_, errs, code := said(t, nil, append([]string{"token", "create", "--data-dir", dir}, strings.Fields(args)...)...)
		if code != 1 || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("create %s: exit %d, %q, want %q", args, code, errs, want)
		}
	}
	if _, errs, code := said(t, nil, "token", "revoke", "team", "--data-dir", dir); code != 0 {
		t.Errorf("revoke: exit %d, %s", code, errs)
	}
	if got := uploaded(t, address, token, row(2)); got != 401 {
		t.Errorf("with a revoked token: %d", got)
	}
	if _, errs, code := said(t, nil, "token", "revoke", "team", "--data-dir", dir); code != 1 || !strings.Contains(errs, "no active token") {
		t.Errorf("revoked again: exit %d, %s", code, errs)
	}
}

// The environment's token is an administrator's, for as long as the environment has it.
func TestTokenOfTheEnvironment(t *testing.T) {
	dir, secret := t.TempDir(), "a-secret-of-the-environment"
	cmd, address := started(t, []string{config.EnvToken + "=" + secret}, "--addr", "127.0.0.1:0", "--data-dir", dir)
	if got := uploaded(t, address, secret, row(1)); got != 201 {
		t.Errorf("the environment's token: %d", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	cmd, address = started(t, []string{config.EnvToken + "=another-secret-of-the-environment"}, "--addr", "127.0.0.1:0", "--data-dir", dir)
	if got := uploaded(t, address, secret, row(1)); got != 401 {
		t.Errorf("the token before: %d", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	_, address = started(t, []string{config.EnvToken + "="}, "--addr", "127.0.0.1:0", "--data-dir", dir)
	if got := uploaded(t, address, "another-secret-of-the-environment", row(1)); got != 401 {
		t.Errorf("a token that the environment no longer has: %d", got)
	}
	if _, errs, code := said(t, []string{config.EnvToken + "=short"}, "--addr", "127.0.0.1:0", "--data-dir", t.TempDir()); code != 1 || !strings.Contains(errs, "too short") {
		t.Errorf("a short token: exit %d, %s", code, errs)
	}
}

// A server that other machines reach needs a token first.
func TestOpenAddressNeedsAToken(t *testing.T) {
	dir := t.TempDir()
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		out, errs, code := said(t, []string{config.EnvToken + "="}, "--addr", addr, "--data-dir", dir)
		if code != 1 || out != "" || !strings.Contains(errs, "needs a token first") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, %q", addr, code, out, errs)
		}
	}
	newToken(t, dir, "--name", "first")
	_, address := started(t, []string{config.EnvToken + "="}, "--addr", "0.0.0.0:0", "--data-dir", dir)
	res, err := http.Get(address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
