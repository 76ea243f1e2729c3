package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff bounds of a retry.
const (
	backoffFirst = 250 * time.Millisecond
	backoffMost  = 30 * time.Second
)

// backoff doubles from backoffFirst to backoffMost; each wait is drawn from its
// upper half, so that many runners do not return to a restarted server at once.
type backoff struct {
	next time.Duration
}

func (b *backoff) reset() { b.next = 0 }

// wait returns how long to wait now, at least atLeast.
func (b *backoff) wait(atLeast time.Duration) time.Duration {
	if b.next == 0 {
		b.next = backoffFirst
	}
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(2*b.next, backoffMost)
	return max(d, atLeast)
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
