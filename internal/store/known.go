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
	ids     hashSet // public ids of new attempts
	revised hashSet // attempts that were known, by dataset and native id
	// planned is what a preview, which stores nothing, would have stored.
	planned map[uint64][]planned
}

// planned is a revision that an import would add.
type planned struct {
	hash                 uint64
	environment, profile string
}

// may reports whether the import has probably touched the attempt or given away its
// id, which follows from dataset and native id.
func (a *additions) may(k *known) bool {
	if k.exists() {
		return a.revised.has(k.key)
	}
	return a.ids.has(hash64(k.id))
}

func (a *additions) add(k *known) {
	if k.exists() {
		a.revised.add(k.key)
	} else {
		a.ids.add(hash64(k.id))
	}
}

// plan notes a revision of a preview.
func (a *additions) plan(k *known, environment, profile, sha256 string) {
	a.add(k)
	if a.planned == nil {
		a.planned = map[uint64][]planned{}
	}
	a.planned[k.key] = append(a.planned[k.key], planned{hash64(sha256), environment, profile})
}

// merge completes k, as it is stored, with what a preview has planned.
func (a *additions) merge(k *known) {
	all, ok := a.planned[k.key]
	if !ok && !k.exists() && a.ids.has(hash64(k.id)) {
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

// hashSet is a set of hashes in a third of the memory of a map.
type hashSet struct {
	slots []uint64 // 0 is empty
	n     int
}

func (s *hashSet) find(h uint64) int {
	mask := len(s.slots) - 1
	i := int(h>>32) & mask
	for s.slots[i] != 0 && s.slots[i] != h {
		i = (i + 1) & mask
	}
	return i
}

func (s *hashSet) has(h uint64) bool { return s.n > 0 && s.slots[s.find(max(h, 1))] != 0 }

func (s *hashSet) add(h uint64) {
	h = max(h, 1)
	if 4*(s.n+1) > 3*len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		for _, x := range old {
			if x != 0 {
				s.slots[s.find(x)] = x
			}
		}
	}
	if i := s.find(h); s.slots[i] == 0 {
		s.slots[i] = h
		s.n++
	}
}
