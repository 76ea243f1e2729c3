package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/sandbox"
)

// serviceName is the service's socket in an attempt's directory.
const serviceName = "service.sock"

// ServiceSocket is the socket by which one solver reaches the service of its
// environment. What the service is asked is its own affair: the runner hands it
// the listening end and looks at nothing.
type ServiceSocket struct {
	path string
	file *os.File
}

// ListenService makes the socket in dir. The user of the workspace ws alone may
// connect.
func ListenService(dir string, ws sandbox.Workspace) (*ServiceSocket, error) {
	l, err := listenIn(dir, serviceName)
	if err != nil {
		return nil, err
	}
	s := &ServiceSocket{path: filepath.Join(dir, serviceName)}
	s.file, err = l.File()
	l.Close()
	if err == nil {
		err = forSolver(s.path, ws)
	}
	if err != nil {
		s.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "service socket: %w", err)
	}
	return s, nil
}

// forSolver gives a socket to the solver's user, who owns its workspace.
func forSolver(path string, ws sandbox.Workspace) error {
	var st unix.Stat_t
	if err := unix.Stat(ws.Path(), &st); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, 0o600), os.Chown(path, int(st.Uid), int(st.Gid)))
}

// Listener is the listening end, for the service.
func (s *ServiceSocket) Listener() *os.File { return s.file }

// Show lets a solver's sandbox see the socket.
func (s *ServiceSocket) Show(spec *sandbox.Spec) {
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Target: agent.ServiceSocket, Source: s.path})
	spec.Env["REBENCH_SERVICE"] = agent.ServiceSocket
}

// Close removes the socket.
func (s *ServiceSocket) Close() {
	if s.file != nil {
		s.file.Close()
	}
	os.Remove(s.path)
}

// Servant is a service at work: scoring.Serving.
type Servant interface {
	Stop() (state json.RawMessage, err error)
}

// service is an attempt's service with its socket; zero without one.
type service struct {
	socket  *ServiceSocket
	servant Servant
}

// startService starts what the environment offers its solvers, if anything.
func (a *Attempt) startService(ctx context.Context) error {
	if a.cfg.Serve == nil {
		return nil
	}
	var err error
	if a.service.socket, err = ListenService(a.cfg.Dir.Path, a.ws); err != nil {
		return err
	}
	servant, err := a.cfg.Serve(ctx, a.service.socket.Listener())
	if err != nil {
		return err
	}
	a.service.servant = servant
	return nil
}

// stopService ends the service and returns what it said last of what it did. A
// service that a solver managed to end is no reason to void the attempt: the
// log tells of it.
func (a *Attempt) stopService() (state json.RawMessage, err error) {
	if a.service.servant != nil {
		state, err = a.service.servant.Stop()
	}
	if a.service.socket != nil {
		a.service.socket.Close()
	}
	a.service = service{}
	return state, err
}
