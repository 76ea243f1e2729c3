package scoring

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"rebench/internal/rebench"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// serviceEntry is the trusted program that answers a solver during its attempt,
// where an environment has one: a judge, a model, a trainer.
const serviceEntry = "scorer/service.py"

// HasService says whether an environment serves its solvers.
func HasService(env *environment.Environment) bool {
	st, err := os.Lstat(filepath.Join(env.Dir, serviceEntry))
	return err == nil && st.Mode().IsRegular()
}

// Serving is a service at work.
type Serving struct {
	proc   sandbox.Process
	state  *tail // standard output
	stderr *tail
	temp   string
}

// Serve starts scorer/service.py in a sandbox like the scorer's. Its descriptor
// 3 is listener, a listening Unix socket that the solver can reach; what it was
// asked for is that of prepare.py. It runs until Stop.
func (s *Service) Serve(ctx context.Context, req PrepareRequest, listener *os.File) (*Serving, error) {
	if req.Environment == nil || req.Profile == nil || req.Attempt == "" || listener == nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "service: expected an attempt, an environment, a profile and a socket")
	}
	temp, err := os.MkdirTemp(s.cfg.TempDir, "rebench-service-")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "service: %w", err)
	}
	v := &Serving{state: &tail{most: 64 << 10}, stderr: &tail{most: 16 << 10}, temp: temp}
	if v.proc, err = s.startService(ctx, req, v, listener); err != nil {
		os.RemoveAll(temp)
		return nil, rebench.Errorf(rebench.ErrorCode(err), "service of %s: %w", req.Environment.ID, err)
	}
	return v, nil
}

func (s *Service) startService(ctx context.Context, req PrepareRequest, v *Serving, listener *os.File) (sandbox.Process, error) {
	root, err := s.cfg.Executor.Root(ctx, req.Environment.RootSpec(req.Profile))
	if err != nil {
		return nil, err
	}
	trusted, err := s.stage(ctx, req.Environment, v.temp)
	if err != nil {
		return nil, err
	}
	key := AttemptKey(s.cfg.Secret, req.Attempt, req.Environment.ID)
	spec, err := trustedSpec(req, key, root, trusted, serviceEntry)
	if err != nil {
		return nil, err
	}
	spec.Name, spec.Dir = "service", "/tmp"
	spec.Files = []*os.File{listener}
	spec.Stdout, spec.Stderr = v.state, v.stderr
	spec.Limits.Wall = -1             // it lasts as long as the attempt
	spec.Limits.OutputBytes = 1 << 40 // the ends of both are kept
	return s.cfg.Executor.Start(context.WithoutCancel(ctx), spec)
}

// stopTimeout is how long a service may take to die.
const stopTimeout = 30 * time.Second

// Stop ends the service and returns the last whole line that it printed, a JSON
// object on what it did; nil when there is none. The error says that the service
// had ended by itself, or does not die.
func (v *Serving) Stop() (json.RawMessage, error) {
	defer os.RemoveAll(v.temp)
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var early bool
	select {
	case <-v.proc.Done():
		early = true
	default:
	}
	if err := v.proc.Kill(ctx); err != nil {
		return nil, err
	}
	res, err := v.proc.Wait(ctx)
	state := lastObject(v.state.String())
	if err != nil {
		return state, err
	}
	if early {
		return state, rebench.Errorf(rebench.CodeInternal, "the service ended early, by %s %d %s: %s", res.Cause, res.ExitCode, res.Detail, v.stderr.String())
	}
	return state, nil
}

// lastObject returns the last whole line of text that is a JSON object.
func lastObject(text string) json.RawMessage {
	for end := len(text); end > 0; {
		for end > 0 && text[end-1] != '\n' {
			end-- // a line that was cut off
		}
		start := end - 1
		for start > 0 && text[start-1] != '\n' {
			start--
		}
		if start < 0 {
			return nil
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text[start:end]), &object) == nil && object != nil {
			return json.RawMessage(text[start : end-1])
		}
		end = start
	}
	return nil
}
