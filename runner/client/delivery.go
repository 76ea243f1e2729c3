package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// errStalled: the server answers, but holds no more than before.
var errStalled = errors.New("the server acknowledged nothing new")

// Bounds of one request. A single line may have attemptlog.MaxLineBytes.
const (
	batchLines = 512
	batchBytes = 512 << 10
)

// Delivery carries one attempt log to a server. Run does the work; the other
// methods may be called from any goroutine.
type Delivery struct {
	client    *Client
	attemptID string
	path      string
	logger    *slog.Logger
	sleep     func(context.Context, time.Duration) error

	wake     chan struct{}
	synced   atomic.Int64 // bytes of the file that may be sent
	finished atomic.Bool  // no more bytes will come
	acked    atomic.Int64

	mu      sync.Mutex
	lastErr error

	// Used by Run alone.
	offsets []int64 // offsets[i] is where line i starts, and one more for the end
}

// NewDelivery prepares the delivery of the log at path. Nothing is sent before
// Synced has said how much of the file is on disk, or Finish that all of it is.
func NewDelivery(c *Client, attemptID, path string, logger *slog.Logger) *Delivery {
	d := &Delivery{
		client: c, attemptID: attemptID, path: path, sleep: sleep, wake: make(chan struct{}, 1), offsets: []int64{0},
		logger: logger.With("attempt", attemptID, "server", c.Server()),
	}
	d.acked.Store(-1)
	return d
}

// Synced says that the first size bytes of the file are on disk: only they may
// leave, or a crash could leave the server with a line that the log has not.
func (d *Delivery) Synced(size int64) {
	for {
		old := d.synced.Load()
		if size <= old || d.synced.CompareAndSwap(old, size) {
			break
		}
	}
	d.poke()
}

// Finish says that the log is closed with size bytes; Run returns when they are delivered.
func (d *Delivery) Finish(size int64) {
	d.Synced(size)
	d.finished.Store(true)
	d.poke()
}

func (d *Delivery) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Acknowledged is the highest seq that the server has acknowledged, -1 for none.
func (d *Delivery) Acknowledged() int64 { return d.acked.Load() }

// Err is the error that delivery is waiting out, or ended with.
func (d *Delivery) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lastErr
}

func (d *Delivery) setErr(err error) {
	d.mu.Lock()
	d.lastErr = err
	d.mu.Unlock()
}

// Run delivers until Finish was called and everything is acknowledged, ctx
// ends, or the server refuses the log for good; a refusal is a *StatusError.
func (d *Delivery) Run(ctx context.Context) error {
	f, err := os.Open(d.path)
	if err != nil {
		return rebench.Errorf(rebench.CodeInternal, "deliver attempt %s: %w", d.attemptID, err)
	}
	defer f.Close()
	if err := d.run(ctx, f); err != nil {
		d.setErr(err)
		return err
	}
	d.setErr(nil)
	return nil
}

func (d *Delivery) run(ctx context.Context, f *os.File) error {
	next, err := d.resume(ctx, f)
	if err != nil {
		return err
	}
	var wait backoff
	for {
		finished := d.finished.Load() // before the scan: nothing comes after it
		if err := d.scan(f); err != nil {
			return err
		}
		if next >= d.lines() {
			if finished {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-d.wake:
			}
			continue
		}
		after, err := d.post(ctx, f, next)
		if err != nil {
			if err := d.pauseFor(ctx, err, &wait); err != nil {
				return err
			}
			continue
		}
		if after <= next { // the server took nothing, or lost some of what it had
			next = after
			if err := d.pauseFor(ctx, errStalled, &wait); err != nil {
				return err
			}
			continue
		}
		wait.reset()
		next = after
	}
}

// resume asks the server where to go on. It steps back by one line, so that a
// log which forked from the server's is noticed even when no line is new.
func (d *Delivery) resume(ctx context.Context, f *os.File) (int64, error) {
	var wait backoff
	for {
		head, err := d.client.Head(ctx, d.attemptID)
		if err != nil {
			if err := d.pauseFor(ctx, err, &wait); err != nil {
				return 0, err
			}
			continue
		}
		d.setErr(nil)
		d.acked.Store(head)
		if err := d.scan(f); err != nil {
			return 0, err
		}
		return max(0, min(head, d.lines()-1)), nil
	}
}

// pauseFor waits before a retry, or returns the error that ends the delivery.
func (d *Delivery) pauseFor(ctx context.Context, err error, b *backoff) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !Retryable(err) {
		return err
	}
	first := d.Err() == nil
	d.setErr(err)
	var atLeast time.Duration
	var status *StatusError
	if errors.As(err, &status) {
		atLeast = status.RetryAfter
	}
	delay := b.wait(atLeast)
	if first {
		d.logger.Warn("the server does not take events; they stay in the log and are sent later", "error", err.Error())
	}
	return d.sleep(ctx, delay)
}

// post sends a batch from line `from` and returns the line to send next.
func (d *Delivery) post(ctx context.Context, f *os.File, from int64) (int64, error) {
	to := from + 1
	for to < d.lines() && to-from < batchLines && d.offsets[to+1]-d.offsets[from] <= batchBytes {
		to++
	}
	body := make([]byte, d.offsets[to]-d.offsets[from])
	if _, err := f.ReadAt(body, d.offsets[from]); err != nil {
		return 0, rebench.Errorf(rebench.CodeInternal, "deliver attempt %s: %w", d.attemptID, err)
	}
	ack, err := d.client.PostEvents(ctx, d.attemptID, body)
	var status *StatusError
	if errors.As(err, &status) && status.Code == "gap" && status.Expected != nil {
		// The server lost what it had acknowledged, or another runner's batch
		// came between: go where it says. A place that is not before this one
		// would loop.
		if want := *status.Expected; want >= 0 && want < from {
			d.logger.Warn("the server asks for earlier events again", "expected", want, "sent", from)
			return want, nil
		}
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	if d.Err() != nil {
		d.logger.Info("the server takes events again", "acknowledged", ack)
		d.setErr(nil)
	}
	d.acked.Store(ack)
	if ack >= d.lines() {
		return 0, &StatusError{Status: http.StatusConflict, Code: "fork", Detail: "the server holds events of this attempt that the log here has not"}
	}
	return ack + 1, nil
}

func (d *Delivery) lines() int64 { return int64(len(d.offsets) - 1) }

// scan extends offsets by the whole lines among the synced bytes.
func (d *Delivery) scan(f *os.File) error {
	start, end := d.offsets[len(d.offsets)-1], d.synced.Load()
	if end <= start {
		return nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, start, end-start), 64<<10)
	pos, lineStart := start, start
	for {
		chunk, err := r.ReadSlice('\n')
		pos += int64(len(chunk))
		switch {
		case err == nil:
			d.offsets = append(d.offsets, pos)
			lineStart = pos
		case errors.Is(err, bufio.ErrBufferFull):
			if pos-lineStart > attemptlog.MaxLineBytes+1 {
				return rebench.Errorf(rebench.CodeInvalid, "%s: line %d is longer than %d bytes", d.path, d.lines()+1, attemptlog.MaxLineBytes)
			}
		case errors.Is(err, io.EOF):
			return nil // a torn last line is not an event
		default:
			return rebench.Errorf(rebench.CodeInternal, "deliver attempt %s: %w", d.attemptID, err)
		}
	}
}
