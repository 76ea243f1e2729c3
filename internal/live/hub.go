package live

import "sync"

// hub tells watchers that an attempt has news. It keeps no news itself: a watcher
// that is slow misses none, since it reads the log again.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]bool
}

func (h *hub) watch(id string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[id] == nil {
		h.watchers[id] = map[chan struct{}]bool{}
	}
	h.watchers[id][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[id], c)
		if len(h.watchers[id]) == 0 {
			delete(h.watchers, id)
		}
	}
}

func (h *hub) notify(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.watchers[id] {
		select {
		case c <- struct{}{}:
		default: // it has not yet read the news before
		}
	}
}
