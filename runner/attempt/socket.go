package attempt

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"

	"rebench/internal/rebench"
)

// Bounds of what a flood of connections can cost: each takes a slot until it is
// answered, and no more than this many a second are looked at. The rest waits
// in the kernel's queue at the flooder's expense.
const (
	maxConnections = 32
	connectionRate = 200
	connectBurst   = 50
)

// scoreSocket serves the solver's requests.
type scoreSocket struct {
	path   string
	l      *net.UnixListener
	uid    int // of the solver on the host; -1: not checked (a fake sandbox)
	handle func(Op) Answer
	// stalled tells frozen time from a slow request: whether the solver is
	// frozen, and a count of freezes.
	stalled func() (frozen bool, freezes int)
	logger  *slog.Logger

	limiter *rate.Limiter
	slots   chan struct{}
	wg      sync.WaitGroup
	refused int64 // connections of the wrong user, seen by serve only
}

// listenScores makes the attempt's score socket.
func (a *Attempt) listenScores() (*scoreSocket, error) {
	l, err := listenIn(a.cfg.Dir.Path, socketName)
	if err != nil {
		return nil, err
	}
	s := &scoreSocket{
		path: filepath.Join(a.cfg.Dir.Path, socketName), l: l, uid: -1, handle: a.handle, logger: a.logger,
		limiter: rate.NewLimiter(connectionRate, connectBurst), slots: make(chan struct{}, maxConnections),
		stalled: func() (bool, int) {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.freezes > 0, a.freezeCount
		},
	}
	// The solver's user owns its workspace, and alone may connect.
	var st unix.Stat_t
	if err := unix.Stat(a.ws.Path(), &st); err != nil {
		s.close()
		return nil, rebench.Errorf(rebench.CodeInternal, "score socket: %w", err)
	}
	s.uid = int(st.Uid)
	if err := errors.Join(os.Chmod(s.path, 0o600), os.Chown(s.path, int(st.Uid), int(st.Gid))); err != nil {
		s.close()
		return nil, rebench.Errorf(rebench.CodeInternal, "score socket: %w", err)
	}
	return s, nil
}

// listenIn listens on dir/name. A socket's address holds 107 bytes at most, so
// the directory is named by a descriptor.
func listenIn(dir, name string) (*net.UnixListener, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "socket: %w", err)
	}
	defer d.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name)})
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // its name leads through a descriptor that is closed by then
	return l, nil
}

// dialIn connects to dir/name.
func dialIn(dir, name string) (*net.UnixConn, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name)})
}

// serve accepts connections until ctx ends or the socket is closed.
func (s *scoreSocket) serve(ctx context.Context) {
	for {
		if s.limiter.Wait(ctx) != nil {
			return
		}
		conn, err := s.l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the client is gone: go on
			s.logger.Warn("score socket", "error", err.Error())
			continue
		}
		if err := s.checkPeer(conn); err != nil {
			conn.Close()
			if s.refused++; s.refused == 1 {
				s.logger.Warn("score socket: connection refused", "error", err.Error())
			}
			continue
		}
		select {
		case s.slots <- struct{}{}:
			s.wg.Go(func() {
				defer func() { <-s.slots }()
				defer conn.Close()
				s.serveOne(conn)
			})
		default:
			s.answer(conn, refusal(ErrBusy, fmt.Sprintf("more than %d connections", maxConnections)))
			conn.Close()
		}
	}
}

// checkPeer refuses connections of other users than the solver's.
func (s *scoreSocket) checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var serr error
	if err := raw.Control(func(fd uintptr) {
		cred, serr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if serr != nil {
		return serr
	}
	if s.uid >= 0 && int(cred.Uid) != s.uid {
		return rebench.Errorf(rebench.CodeUnauthorized, "peer has user id %d, expected %d", cred.Uid, s.uid)
	}
	return nil
}

// serveOne reads one request and answers it.
func (s *scoreSocket) serveOne(conn *net.UnixConn) {
	line, err := s.readRequest(conn)
	if err != nil {
		s.answer(conn, refusal(ErrMalformed, err.Error()))
		return
	}
	op, err := parseRequest(line)
	if err != nil {
		s.answer(conn, refusal(ErrMalformed, err.Error()))
		return
	}
	s.answer(conn, s.handle(op))
}

// readRequest reads one line. Its deadline starts again after the solver was
// frozen, which is not its fault.
func (s *scoreSocket) readRequest(conn *net.UnixConn) ([]byte, error) {
	r := bufio.NewReaderSize(io.LimitReader(conn, maxRequestBytes+1), maxRequestBytes+1)
	var line []byte
	_, freezes := s.stalled()
	for {
		if err := conn.SetReadDeadline(time.Now().Add(requestDeadline)); err != nil {
			return nil, rebench.Errorf(rebench.CodeInternal, "score socket: %w", err)
		}
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			frozen, now := s.stalled()
			if !frozen && now == freezes {
				return nil, rebench.Errorf(rebench.CodeInvalid, "no whole line within %v", requestDeadline)
			}
			freezes = now
		case len(line) > maxRequestBytes:
			return nil, rebench.Errorf(rebench.CodeInvalid, "a request line has at most %d bytes", maxRequestBytes)
		default:
			return nil, rebench.Errorf(rebench.CodeInvalid, "the connection ended before the line did")
		}
	}
}

// answer writes one line. A solver that does not take it has had its chance.
func (s *scoreSocket) answer(conn *net.UnixConn, a Answer) {
	b, err := json.Marshal(a)
	if err != nil {
		s.logger.Error("score socket: answer", "error", err.Error())
		return
	}
	if conn.SetWriteDeadline(time.Now().Add(answerDeadline)) == nil {
		conn.Write(append(b, '\n'))
	}
}

// close ends the service; requests being served are waited for.
func (s *scoreSocket) close() {
	s.l.Close()
	s.wg.Wait()
	os.Remove(s.path)
}
