package store

import "crypto/sha256"

// digest16 stands for a text in the maps of an import: 128 bits of its SHA-256.
type digest16 [16]byte

func digestOf(parts ...string) digest16 {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return digest16(h.Sum(nil)[:16])
}

// known is what is stored of an attempt: before the import and by it.
type known struct {
	key         digest16 // of dataset and native id
	pk          int64    // 0 when nothing is stored
	id          string
	taken       bool // another attempt has the id
	environment string
	profile     string
	number      int // of its last revision
	contents    []content
}

// content is the content of one revision.
type content struct {
	digest digest16
	number int
}

func (k *known) exists() bool { return k.pk != 0 }

// revision returns the number of the revision with that content, 0 for none.
func (k *known) revision(sha256 string) int {
	digest := digestOf(sha256)
	for _, c := range k.contents {
		if c.digest == digest {
			return c.number
		}
	}
	return 0
}

// added is what an import keeps of each attempt that it adds or revises. There can
// be a million of them, so that it holds no pointers.
type added struct {
	pk     int64
	number int32 // of the last revision
	place  int32 // of environment and profile in additions.places
	last   digest16
	isNew  bool // nothing of it was stored before the import
}

// additions are the attempts that an import has added or revised so far.
type additions struct {
	attempts map[digest16]added
	earlier  map[digest16][]content // revisions of this import before the last
	ids      map[digest16]struct{}  // public ids of new attempts
	places   [][2]string
}

func newAdditions() *additions {
	return &additions{attempts: map[digest16]added{}, earlier: map[digest16][]content{}, ids: map[digest16]struct{}{}}
}

// merge completes k, as it was stored before, with what the import has added to it.
func (a *additions) merge(k *known) {
	x, ok := a.attempts[k.key]
	if !ok {
		return
	}
	k.pk, k.number = x.pk, int(x.number)
	k.environment, k.profile = a.places[x.place][0], a.places[x.place][1]
	k.contents = append(append(k.contents, a.earlier[k.key]...), content{x.last, int(x.number)})
}

// isNew reports whether this import has created the attempt.
func (a *additions) isNew(key digest16) bool { return a.attempts[key].isNew }

// add notes the next revision of an attempt, which k is changed to have.
func (a *additions) add(k *known, pk int64, id, environment, profile, sha256 string) {
	x, again := a.attempts[k.key]
	if again {
		a.earlier[k.key] = append(a.earlier[k.key], content{x.last, int(x.number)})
	} else {
		x.isNew = !k.exists()
		x.place = a.place(environment, profile)
	}
	if !k.exists() {
		a.ids[digestOf(id)] = struct{}{}
	}
	x.pk, x.number, x.last = pk, int32(k.number+1), digestOf(sha256)
	a.attempts[k.key] = x
}

func (a *additions) place(environment, profile string) int32 {
	want := [2]string{environment, profile}
	for i, p := range a.places {
		if p == want {
			return int32(i)
		}
	}
	a.places = append(a.places, want)
	return int32(len(a.places) - 1)
}
