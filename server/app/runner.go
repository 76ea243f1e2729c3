package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"rebench/internal/config"
	"rebench/internal/rebench"
	"rebench/internal/store"
)

// runnerStop is how long a runner may take to put its work away.
const runnerStop = 30 * time.Second

// startRunner starts `runner work` beside the server, for everything on one
// machine. wait returns once it has ended, which it does with ctx.
func startRunner(ctx context.Context, program, address string, db *store.Store, logs io.Writer, log *slog.Logger) (wait func(), err error) {
	command, err := runnerCommand(program)
	if err != nil {
		return nil, err
	}
	name := "built-in runner " + time.Now().UTC().Format("2006-01-02 15:04:05.000")
	secret, err := db.CreateTrustedToken(ctx, name, store.ScopeUpload)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "work", "--server", address)...)
	cmd.Env = append(os.Environ(), config.EnvToken+"="+secret)
	cmd.Stdout, cmd.Stderr = logs, logs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = runnerStop
	// The runner must not go on without a server, whatever ends the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	started, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		// The death signal follows the thread that starts the process.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		if err := cmd.Wait(); ctx.Err() == nil {
			log.Error("the runner ended; queued runs wait until the server is started again", "error", fmt.Sprint(err))
		}
	}()
	if err := <-started; err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "the runner %s does not start: %w", command[0], err)
	}
	log.InfoContext(ctx, "runner started", "command", command, "pid", cmd.Process.Pid)
	return func() {
		<-done
		if err := db.RevokeToken(context.WithoutCancel(ctx), name); err != nil {
			log.Error("revoke the runner's token", "error", err.Error())
		}
	}, nil
}

// runnerCommand finds the runner: the program named, else the one beside this
// program, in ./bin or on PATH, else `go run ./runner` in a source checkout.
func runnerCommand(program string) ([]string, error) {
	if program != config.RunnerAuto {
		return []string{program}, nil
	}
	var places []string
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(self), "runner"))
	}
	for _, p := range append(places, filepath.Join("bin", "runner")) {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			path, err := filepath.Abs(p)
			return []string{path}, err
		}
	}
	if path, err := exec.LookPath("rebench-runner"); err == nil {
		return []string{path}, nil
	}
	if _, err := os.Stat(filepath.Join("runner", "main.go")); err == nil {
		if path, err := exec.LookPath("go"); err == nil {
			return []string{path, "run", "./runner"}, nil
		} else if !errors.Is(err, exec.ErrNotFound) {
			return nil, err
		}
	}
	return nil, rebench.Errorf(rebench.CodeInvalid, "no runner found beside the server, in ./bin or on PATH (rebench-runner); name one with --with-runner=PROGRAM")
}
