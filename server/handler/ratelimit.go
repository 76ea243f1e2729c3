package handler

import (
	"sync"

	"golang.org/x/time/rate"
)

// changesPerMinute is how many uploads and changes one token may make; bursts are
// allowed up to it.
const changesPerMinute = 240

// rateLimits counts the requests of each token.
type rateLimits struct {
	mu      sync.Mutex
	byToken map[int64]*rate.Limiter
}

func (l *rateLimits) allow(token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byToken == nil {
		l.byToken = map[int64]*rate.Limiter{}
	}
	limiter := l.byToken[token]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Limit(changesPerMinute)/60, changesPerMinute)
		l.byToken[token] = limiter
	}
	return limiter.Allow()
}
