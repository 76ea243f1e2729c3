package attempt

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rebench/internal/rebench"
)

// ControlOp is what the user's other commands may ask a running attempt.
type ControlOp string

// The control operations.
const (
	ControlStatus ControlOp = "status"
	ControlPause  ControlOp = "pause"
	ControlResume ControlOp = "resume"
	ControlStop   ControlOp = "stop"
)

type controlRequest struct {
	Op ControlOp `json:"op"`
}

type controlAnswer struct {
	Error  string  `json:"error,omitempty"`
	Status *Status `json:"status,omitempty"`
}

// controlSocket serves `runner status|pause|resume|stop`. It lies in the state
// directory, which only the runner's user can enter.
type controlSocket struct {
	l    *net.UnixListener
	path string
	wg   sync.WaitGroup
}

func (a *Attempt) listenControl() (*controlSocket, error) {
	l, err := listenIn(a.cfg.Dir.Path, controlName)
	if err != nil {
		return nil, err
	}
	c := &controlSocket{l: l, path: filepath.Join(a.cfg.Dir.Path, controlName)}
	c.wg.Go(func() {
		for {
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			c.wg.Go(func() {
				defer conn.Close()
				a.control(conn)
			})
		}
	})
	return c, nil
}

func (c *controlSocket) close() {
	c.l.Close()
	c.wg.Wait()
	os.Remove(c.path)
}

func (a *Attempt) control(conn *net.UnixConn) {
	conn.SetDeadline(time.Now().Add(controlTimeout))
	line, err := bufio.NewReaderSize(conn, 4096).ReadSlice('\n')
	var req controlRequest
	if err != nil || json.Unmarshal(line, &req) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), controlTimeout)
	defer cancel()
	switch req.Op {
	case ControlStatus:
	case ControlPause:
		err = a.Pause(ctx)
	case ControlResume:
		err = a.Resume(ctx)
	case ControlStop:
		a.Stop()
	default:
		err = rebench.Errorf(rebench.CodeInvalid, "unknown control operation %q", req.Op)
	}
	var out controlAnswer
	if err != nil {
		out.Error = err.Error()
	} else {
		st := a.Status()
		out.Status = &st
	}
	json.NewEncoder(conn).Encode(out)
}

const (
	controlTimeout = 30 * time.Second
	statusTimeout  = 3 * time.Second
)

// Control asks the running attempt in d; CodeConflict when none runs there.
func (d *Dir) Control(op ControlOp) (Status, error) {
	conn, err := dialIn(d.Path, controlName)
	if err != nil {
		return Status{}, rebench.Errorf(rebench.CodeConflict, "attempt %s is not running", d.Meta.ID)
	}
	defer conn.Close()
	timeout := controlTimeout
	if op == ControlStatus {
		timeout = statusTimeout // a runner that is stopped does not answer
	}
	conn.SetDeadline(time.Now().Add(timeout))
	if err := json.NewEncoder(conn).Encode(controlRequest{op}); err != nil {
		return Status{}, rebench.Errorf(rebench.CodeInternal, "attempt %s: %w", d.Meta.ID, err)
	}
	var out controlAnswer
	if err := json.NewDecoder(conn).Decode(&out); err != nil {
		return Status{}, rebench.Errorf(rebench.CodeInternal, "attempt %s does not answer: %w", d.Meta.ID, err)
	}
	if out.Error != "" {
		return Status{}, rebench.Errorf(rebench.CodeConflict, "attempt %s: %s", d.Meta.ID, out.Error)
	}
	if out.Status == nil {
		return Status{}, rebench.Errorf(rebench.CodeInternal, "attempt %s gave no status", d.Meta.ID)
	}
	return *out.Status, nil
}
