package attempt

import (
	"context"
	"testing"
	"time"
)

func TestClockChargesRunningTimeOnly(t *testing.T) {
	src := newFakeTime()
	c := NewClock(src, 100*time.Second)
	src.Advance(5 * time.Second) // not started
	if got := c.Elapsed(); got != 0 {
		t.Fatalf("before the start: %v", got)
	}
	c.Release()
	src.Advance(10 * time.Second)
	c.Hold()
	src.Advance(time.Hour)
	c.Hold() // a second reason to stop
	src.Advance(time.Hour)
	c.Release()
	src.Advance(time.Hour)
	if got := c.Elapsed(); got != 10*time.Second {
		t.Fatalf("held: %v", got)
	}
	c.Release()
	src.Advance(3 * time.Second)
	if got := c.Elapsed(); got != 13*time.Second {
		t.Fatalf("after the holds: %v", got)
	}
	if got := c.Remaining(); got != 87*time.Second {
		t.Fatalf("remaining: %v", got)
	}
	src.Jump(-24 * time.Hour) // the calendar does not matter
	src.Advance(time.Second)
	if got := c.Elapsed(); got != 14*time.Second {
		t.Fatalf("after the calendar was set back: %v", got)
	}
}

func TestClockChargeNeverPassesTheLimit(t *testing.T) {
	src := newFakeTime()
	c := NewClock(src, 60*time.Second)
	c.Release()
	src.Advance(50 * time.Second)
	c.Hold()
	for _, step := range []struct{ charge, added, elapsed time.Duration }{
		{4 * time.Second, 4 * time.Second, 54 * time.Second},
		{-time.Second, 0, 54 * time.Second},
		{time.Hour, 6 * time.Second, 60 * time.Second},
		{time.Second, 0, 60 * time.Second},
	} {
		if got := c.Charge(step.charge); got != step.added {
			t.Errorf("Charge(%v) added %v, expected %v", step.charge, got, step.added)
		}
		if got := c.Elapsed(); got != step.elapsed {
			t.Errorf("after Charge(%v): %v, expected %v", step.charge, got, step.elapsed)
		}
	}
}

func TestWaitLimit(t *testing.T) {
	reached := func(c *Clock) chan error {
		done := make(chan error, 1)
		go func() { done <- c.WaitLimit(context.Background()) }()
		return done
	}
	stays := func(t *testing.T, done chan error, why string) {
		t.Helper()
		select {
		case <-done:
			t.Fatalf("limit reported %s", why)
		case <-time.After(20 * time.Millisecond):
		}
	}
	comes := func(t *testing.T, done chan error) {
		t.Helper()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("limit not reported")
		}
	}
	t.Run("running", func(t *testing.T) {
		src := newFakeTime()
		c := NewClock(src, 10*time.Second)
		done := reached(c)
		stays(t, done, "before the start")
		c.Release()
		src.Advance(10*time.Second - 1)
		stays(t, done, "a nanosecond early")
		src.Advance(1)
		comes(t, done)
	})
	t.Run("a pause moves it", func(t *testing.T) {
		src := newFakeTime()
		c := NewClock(src, 10*time.Second)
		c.Release()
		done := reached(c)
		src.Advance(9 * time.Second)
		c.Hold()
		src.Advance(time.Hour)
		stays(t, done, "during a pause")
		c.Release()
		stays(t, done, "with a second left")
		src.Advance(time.Second)
		comes(t, done)
	})
	t.Run("charged during a hold, reported after it", func(t *testing.T) {
		src := newFakeTime()
		c := NewClock(src, 10*time.Second)
		c.Release()
		done := reached(c)
		c.Hold()
		c.Charge(time.Minute)
		stays(t, done, "while the solver is frozen")
		c.Release()
		comes(t, done)
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		c := NewClock(newFakeTime(), time.Second)
		c.Release()
		done := make(chan error, 1)
		go func() { done <- c.WaitLimit(ctx) }()
		cancel()
		if err := <-done; err != context.Canceled {
			t.Fatal(err)
		}
	})
}
