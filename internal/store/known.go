package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// hash64 stands for texts where millions of them must be told apart: 64 bits of their
// SHA-256. What is found by it alone is looked up in full before it counts.
func hash64(parts ...string) uint64 {
	var space [256]byte
	b := space[:0]
	for _, p := range parts {
		b = append(append(b, p...), 0)
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// known is what is stored of an attempt: before the import and by it.
type known struct {
	key         uint64 // of dataset and native id
	pk          int64  // 0 when nothing is stored
	id          string
	taken       bool // another attempt has the id
	environment string
	profile     string
	number      int // of its last revision
	contents    []content
}

// content is the content of one revision.
type content struct {
	hash   uint64
	number int
}

func (k *known) exists() bool { return k.pk != 0 }

// revision returns the number of the revision with that content, 0 for none.
func (k *known) revision(sha256 string) int {
	hash := hash64(sha256)
	for _, c := range k.contents {
		if c.hash == hash {
			return c.number
		}
	}
	return 0
}

// additions tell which attempts an import has added or revised, of which there can be
// a million.
type additions struct {
	attempts map[uint64]struct{} // by dataset and native id
	ids      map[uint64]struct{} // public ids of new ones
	// planned is what a preview, which stores nothing, would have stored.
	planned map[uint64][]planned
}

// planned is a revision that an import would add.
type planned struct {
	hash                 uint64
	environment, profile string
}

func newAdditions() *additions {
	return &additions{attempts: map[uint64]struct{}{}, ids: map[uint64]struct{}{}, planned: map[uint64][]planned{}}
}

// may reports whether the import has probably touched the attempt or given away its id.
func (a *additions) may(k *known) bool {
	_, attempt := a.attempts[k.key]
	_, id := a.ids[hash64(k.id)]
	return attempt || id && !k.exists()
}

func (a *additions) add(k *known) {
	a.attempts[k.key] = struct{}{}
	if !k.exists() {
		a.ids[hash64(k.id)] = struct{}{}
	}
}

// plan notes a revision of a preview.
func (a *additions) plan(k *known, environment, profile, sha256 string) {
	a.add(k)
	a.planned[k.key] = append(a.planned[k.key], planned{hash64(sha256), environment, profile})
}

// merge completes k, as it is stored, with what a preview has planned.
func (a *additions) merge(k *known) {
	all, ok := a.planned[k.key]
	if _, id := a.ids[hash64(k.id)]; id && !ok && !k.exists() {
		k.taken = true
	}
	for _, p := range all {
		if !k.exists() {
			k.pk, k.environment, k.profile, k.taken = -1, p.environment, p.profile, false
		}
		k.number++
		k.contents = append(k.contents, content{p.hash, k.number})
	}
}
