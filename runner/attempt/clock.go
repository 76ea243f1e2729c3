package attempt

import (
	"context"
	"sync"
	"time"
)

// Source is where time comes from.
type Source interface {
	// Now is monotonic time since an arbitrary origin. Setting the machine's
	// clock does not move it.
	Now() time.Duration
	// Wall is the calendar time, which may jump.
	Wall() time.Time
	// SleepUntil waits until Now has reached t, or the end of ctx.
	SleepUntil(ctx context.Context, t time.Duration) error
}

// SystemTime is the machine's time.
type SystemTime struct{}

var processStart = time.Now()

// Now is the time since the process started.
func (SystemTime) Now() time.Duration { return time.Since(processStart) }

// Wall is the calendar time.
func (SystemTime) Wall() time.Time { return time.Now().Round(0) }

// SleepUntil waits until t or the end of ctx.
func (s SystemTime) SleepUntil(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t - s.Now())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Clock measures the charged time of one attempt against its limit. It starts
// stopped; holds nest. It is safe for concurrent use.
type Clock struct {
	src   Source
	limit time.Duration

	mu      sync.Mutex
	charged time.Duration // of all running intervals that are over, and Charge
	since   time.Duration // when the current running interval began
	holds   int           // > 0: stopped
	changed chan struct{} // closed and renewed whenever the clock stops, starts or is charged
}

// NewClock returns a stopped clock with one hold; Release starts it.
func NewClock(src Source, limit time.Duration) *Clock {
	return &Clock{src: src, limit: limit, holds: 1, changed: make(chan struct{})}
}

// Limit is the time limit.
func (c *Clock) Limit() time.Duration { return c.limit }

// Elapsed is the charged time.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed()
}

func (c *Clock) elapsed() time.Duration {
	if c.holds > 0 {
		return c.charged
	}
	return c.charged + c.src.Now() - c.since
}

// Remaining is what is left of the limit, never negative.
func (c *Clock) Remaining() time.Duration {
	return max(0, c.limit-c.Elapsed())
}

// Hold stops the clock until a matching Release.
func (c *Clock) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == 0 {
		c.charged += c.src.Now() - c.since
		c.notify()
	}
	c.holds++
}

// Release undoes one Hold; the last one starts the clock.
func (c *Clock) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == 0 {
		panic("attempt: Release without Hold")
	}
	if c.holds--; c.holds == 0 {
		c.since = c.src.Now()
		c.notify()
	}
}

// Charge adds time that passed during a hold but is the solver's after all, and
// returns how much of d was added: never more than the limit leaves.
func (c *Clock) Charge(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	d = min(max(0, d), max(0, c.limit-c.elapsed()))
	c.charged += d
	c.notify()
	return d
}

func (c *Clock) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// WaitLimit returns nil once the limit is reached on a running clock, or ctx's
// error. Reaching it during a hold counts when the hold ends: until then the
// solver is frozen anyway.
func (c *Clock) WaitLimit(ctx context.Context) error {
	for {
		c.mu.Lock()
		now := c.src.Now()
		left, held, changed := c.limit-c.charged, c.holds > 0, c.changed
		if !held {
			left -= now - c.since
		}
		c.mu.Unlock()
		if !held && left <= 0 {
			return nil
		}
		if err := c.waitChange(ctx, changed, now+left, held); err != nil {
			return err
		}
	}
}

// waitChange waits until the clock changed or, when it runs, until t.
func (c *Clock) waitChange(ctx context.Context, changed <-chan struct{}, t time.Duration, held bool) error {
	if held {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			return nil
		}
	}
	sleeping, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-sleeping.Done():
		}
	}()
	if err := c.src.SleepUntil(sleeping, t); err != nil {
		return ctx.Err() // nil when only the clock changed
	}
	return nil
}
