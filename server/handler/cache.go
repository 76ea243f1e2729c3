package handler

import (
	"container/list"
	"sync"
)

const (
	maxCachedBytes = 24 << 20 // of all bodies
	maxCachedBody  = 2 << 20  // of one
)

// body is a response ready to be written.
type body struct {
	contentType string
	filename    string // for downloads, "" shows the body in the browser
	bytes       []byte
}

// bodyCache keeps the most recently used bodies by entity tag. A tag names the data
// revision, so that an entry can be old but never wrong.
type bodyCache struct {
	mu      sync.Mutex
	limit   int
	size    int
	order   *list.List // of *cachedBody, most recently used first
	entries map[string]*list.Element
}

type cachedBody struct {
	tag  string
	body body
}

func newBodyCache(limit int) *bodyCache {
	return &bodyCache{limit: limit, order: list.New(), entries: map[string]*list.Element{}}
}

func (b *bodyCache) get(tag string) (body, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[tag]
	if !ok {
		return body{}, false
	}
	b.order.MoveToFront(e)
	return e.Value.(*cachedBody).body, true
}

func (b *bodyCache) put(tag string, v body) {
	if len(v.bytes) > maxCachedBody {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.entries[tag]; ok {
		return
	}
	b.entries[tag] = b.order.PushFront(&cachedBody{tag, v})
	b.size += len(v.bytes)
	for b.size > b.limit {
		last := b.order.Remove(b.order.Back()).(*cachedBody)
		delete(b.entries, last.tag)
		b.size -= len(last.body.bytes)
	}
}
