package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
	"rebench/runner/agent"
	"rebench/runner/attempt"
)

// escapeKey (Ctrl-]) begins a command of the person at the terminal.
const escapeKey = 0x1d

const humanHelp = "\r\n[Ctrl-] then p: break, r: go on, s: stop the attempt, t: time left, Ctrl-]: the key itself]\r\n"

// attachTerminal gives a human's sandbox a terminal of its own and connects it
// with the one the runner was started at. The returned function undoes it.
func attachTerminal(ctx context.Context, ag *agent.Agent, a *attempt.Attempt) (func(), error) {
	in := int(os.Stdin.Fd())
	before, err := unix.IoctlGetTermios(in, unix.TCGETS)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInvalid, "a human needs a terminal: standard input is none")
	}
	master, slave, err := openPTY()
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "terminal for the sandbox: %w", err)
	}
	ag.Terminal = slave
	resize := func() {
		if ws, err := unix.IoctlGetWinsize(in, unix.TIOCGWINSZ); err == nil {
			unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, ws)
		}
	}
	resize()
	if err := rawMode(in, *before); err != nil {
		master.Close()
		slave.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "terminal: %w", err)
	}
	fmt.Fprint(os.Stdout, humanHelp)
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-winch:
				resize()
			}
		}
	}()
	go io.Copy(os.Stdout, master)
	go relayKeys(ctx, os.Stdin, master, os.Stdout, a)
	return func() {
		cancel()
		signal.Stop(winch)
		unix.IoctlSetTermios(in, unix.TCSETS, before)
		slave.Close()
		master.Close()
	}, nil
}

// relayKeys passes what is typed on to the sandbox and carries out the escape
// key's commands.
func relayKeys(ctx context.Context, in io.Reader, out, screen io.Writer, a interface {
	Pause(context.Context) error
	Resume(context.Context) error
	Stop()
	Status() attempt.Status
}) {
	buf := make([]byte, 4096)
	escaped := false
	for {
		n, err := in.Read(buf)
		if err != nil || ctx.Err() != nil {
			return
		}
		var pass []byte
		for _, b := range buf[:n] {
			if !escaped {
				if escaped = b == escapeKey; !escaped {
					pass = append(pass, b)
				}
				continue
			}
			escaped = false
			switch b {
			case 'p':
				say(screen, "break: the sandbox is frozen, the clock stands still", a.Pause(ctx))
			case 'r':
				say(screen, "going on", a.Resume(ctx))
			case 's':
				say(screen, "stopping", nil)
				a.Stop()
			case 't':
				st := a.Status()
				say(screen, fmt.Sprintf("%.0f of %.0f s used, %d entries", st.ElapsedS, st.TimeLimitS, st.Entries), nil)
			case escapeKey:
				pass = append(pass, b)
			default:
				fmt.Fprint(screen, humanHelp)
			}
		}
		if _, err := out.Write(pass); err != nil {
			return
		}
	}
}

func say(screen io.Writer, text string, err error) {
	if err != nil {
		text = err.Error()
	}
	fmt.Fprintf(screen, "\r\n[%s]\r\n", text)
}

// openPTY opens a new pseudo-terminal (pts(4)).
func openPTY() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		var n int
		if n, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN); err == nil {
			slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	return master, slave, nil
}

// rawMode passes every key on as it is (termios(3), cfmakeraw).
func rawMode(fd int, t unix.Termios) error {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, &t)
}
