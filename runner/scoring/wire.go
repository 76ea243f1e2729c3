package scoring

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// maxLine bounds a request, in bytes.
const maxLine = 16 << 20

// wire carries JSON lines and, with a reply, at most one descriptor.
type wire struct {
	conn *net.UnixConn
	in   *bufio.Reader
}

// newWire takes over f.
func newWire(f *os.File) (*wire, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("not a unix socket")
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (w *wire) close() { w.conn.Close() }

// errGone: the other side has closed its end between two requests.
var errGone = errors.New("closed")

// read returns the next request.
func (w *wire) read() (ask, error) {
	var line []byte
	for {
		part, err := w.in.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(bytes.TrimSpace(line)) == 0 || errors.Is(err, net.ErrClosed) || !errors.Is(err, io.EOF) {
				return ask{}, errGone
			}
			return ask{}, rebench.Errorf(rebench.CodeInvalid, "request cut off: %.100q", line)
		}
		if len(line) > maxLine {
			return ask{}, rebench.Errorf(rebench.CodeInvalid, "request of more than %d bytes", maxLine)
		}
	}
	var a ask
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return ask{}, rebench.Errorf(rebench.CodeInvalid, "request: %v: %.200q", err, line)
	}
	return a, nil
}

// write sends a reply, with the descriptor of f when not nil.
func (w *wire) write(reply any, f *os.File) error {
	line, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if f == nil {
		_, err = w.conn.Write(line)
		return err
	}
	n, _, err := w.conn.WriteMsgUnix(line, unix.UnixRights(int(f.Fd())), nil)
	if err == nil && n < len(line) {
		_, err = w.conn.Write(line[n:])
	}
	return err
}

// ask is a request of the scorer; which fields count depends on Op.
type ask struct {
	Op       string            `json:"op"`
	Stage    string            `json:"stage"`
	Source   string            `json:"source"`
	Argv     []string          `json:"argv"`
	Env      map[string]string `json:"env"`
	Limits   askLimits         `json:"limits"`
	Writable bool              `json:"writable"`
	Keep     string            `json:"keep"`
	Socket   bool              `json:"socket"`
	Files    map[string][]byte `json:"files"` // base64
	Data     string            `json:"data"`
	Device   bool              `json:"device"`
	Handle   int               `json:"handle"`
	Signal   string            `json:"signal"`
	TimeoutS *float64          `json:"timeout_s"`
	Path     string            `json:"path"`
	MaxBytes int64             `json:"max_bytes"`
	Acquire  bool              `json:"acquire"`
}

type askLimits struct {
	WallS    float64 `json:"wall_s"`
	MemoryMB int64   `json:"memory_mb"`
	PIDs     int64   `json:"pids"`
	CPUs     float64 `json:"cpus"`
}

type okReply struct {
	OK bool `json:"ok"`
}

type handleReply struct {
	OK     bool `json:"ok"`
	Handle int  `json:"handle"`
}

type errorReply struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
	Refused string `json:"refused,omitempty"`
}

type waitReply struct {
	OK              bool     `json:"ok"`
	Running         bool     `json:"running"`
	Exit            *int     `json:"exit"`
	Signal          *int     `json:"signal"`
	OOM             bool     `json:"oom"`
	TimedOut        bool     `json:"timed_out"`
	Limit           *string  `json:"limit"`
	Stdout          string   `json:"stdout"`
	Stderr          string   `json:"stderr"`
	StdoutBytes     int64    `json:"stdout_bytes"`
	StderrBytes     int64    `json:"stderr_bytes"`
	WallS           float64  `json:"wall_s"`
	CPUS            *float64 `json:"cpu_s"`
	MemoryPeakBytes *int64   `json:"memory_peak_bytes"`
}
