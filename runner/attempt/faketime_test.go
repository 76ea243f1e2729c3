package attempt

import (
	"context"
	"sync"
	"time"
)

// fakeTime is a Source that moves only when told to. Wall and monotonic time
// move together unless Jump moves the wall alone.
type fakeTime struct {
	mu      sync.Mutex
	now     time.Duration
	wall    time.Time
	changed chan struct{}
}

func newFakeTime() *fakeTime {
	return &fakeTime{wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), changed: make(chan struct{})}
}

func (f *fakeTime) Now() time.Duration { f.mu.Lock(); defer f.mu.Unlock(); return f.now }
func (f *fakeTime) Wall() time.Time    { f.mu.Lock(); defer f.mu.Unlock(); return f.wall }

// Advance moves both clocks.
func (f *fakeTime) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += d
	f.wall = f.wall.Add(d)
	close(f.changed)
	f.changed = make(chan struct{})
}

// Jump sets the calendar without moving monotonic time.
func (f *fakeTime) Jump(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wall = f.wall.Add(d)
}

func (f *fakeTime) SleepUntil(ctx context.Context, until time.Duration) error {
	for {
		f.mu.Lock()
		done, changed := f.now >= until, f.changed
		f.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
