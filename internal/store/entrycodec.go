package store

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"time"

	"rebench/internal/rebench"
)

// Score entries are stored in blocks, each one blob: they are only ever read by
// revision, all of them, and a row for each costs ten times as much to write. A block
// is
//
//	1 (version), texts, entries, later
//	texts:   count, then length and bytes of each
//	entries: count, then for each its fields (mask, bits below), seq as the difference
//	         to the one before, basis, reason and, where the mask says so, t and at in
//	         ms as differences, raw, normalized, message, submission, scorer, re-scored
//	         raw and normalized
//	later:   count, then for each seq, mask and scores: later scorings of entries of
//	         earlier blocks
//
// Counts, masks, differences and places in texts are varints (differences zigzag),
// scores 8 bytes little-endian, hashes 32 bytes.
const entryCodecVersion = 1

// Bits of an entry's mask.
const (
	bitT = 1 << iota
	bitAt
	bitRaw
	bitNormalized
	bitValid
	bitMessage
	bitSubmission // 32 bytes
	bitScorer     // place in texts
	bitRescoredRaw
	bitRescored
	bitSubmissionText // place in texts: a text that is no hash
)

// entryEncoder makes blocks. It is used again for the next one.
type entryEncoder struct {
	body  []byte
	texts map[string]uint64
	order []string
	seq   int64
	t, at int64
}

func (x *entryEncoder) text(s string) uint64 {
	if i, ok := x.texts[s]; ok {
		return i
	}
	if x.texts == nil {
		x.texts = map[string]uint64{}
	}
	i := uint64(len(x.order))
	x.texts[s] = i
	x.order = append(x.order, s)
	return i
}

// encode returns a new block of entries and of later scorings.
func (x *entryEncoder) encode(entries, later []rebench.ScoreEntry) []byte {
	clear(x.texts)
	x.body, x.order, x.seq, x.t, x.at = x.body[:0], x.order[:0], 0, 0, 0
	x.body = binary.AppendUvarint(x.body, uint64(len(entries)))
	for i := range entries {
		x.entry(&entries[i])
	}
	x.body = binary.AppendUvarint(x.body, uint64(len(later)))
	for i := range later {
		x.later(&later[i])
	}
	size := 16
	for _, s := range x.order {
		size += len(s) + binary.MaxVarintLen32
	}
	out := make([]byte, 0, size+len(x.body))
	out = append(out, entryCodecVersion)
	out = binary.AppendUvarint(out, uint64(len(x.order)))
	for _, s := range x.order {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	return append(out, x.body...)
}

func (x *entryEncoder) entry(e *rebench.ScoreEntry) {
	var hash [32]byte
	submission, isHash := e.SubmissionSHA256, len(e.SubmissionSHA256) == 64
	if isHash {
		isHash = parseHash(&hash, submission)
	}
	mask := uint64(0)
	set := func(bit uint64, is bool) {
		if is {
			mask |= bit
		}
	}
	set(bitT, e.Elapsed != nil)
	set(bitAt, e.At != nil)
	set(bitRaw, e.Raw != nil)
	set(bitNormalized, e.Normalized != nil)
	set(bitValid, e.Valid)
	set(bitMessage, e.Message != "")
	set(bitSubmission, isHash)
	set(bitSubmissionText, !isHash && submission != "")
	set(bitScorer, e.ScorerSHA256 != "")
	set(bitRescoredRaw, e.RescoredRaw != nil)
	set(bitRescored, e.Rescored != nil)
	b := binary.AppendUvarint(x.body, mask)
	b = binary.AppendVarint(b, int64(e.Seq)-x.seq)
	x.seq = int64(e.Seq)
	b = binary.AppendUvarint(b, x.text(string(e.Basis)))
	b = binary.AppendUvarint(b, x.text(e.Reason))
	if e.Elapsed != nil {
		ms := e.Elapsed.Milliseconds()
		b = binary.AppendVarint(b, ms-x.t)
		x.t = ms
	}
	if e.At != nil {
		ms := e.At.UnixMilli()
		b = binary.AppendVarint(b, ms-x.at)
		x.at = ms
	}
	b = appendScores(b, e.Raw, e.Normalized)
	if e.Message != "" {
		b = binary.AppendUvarint(b, x.text(e.Message))
	}
	switch {
	case isHash:
		b = append(b, hash[:]...)
	case submission != "":
		b = binary.AppendUvarint(b, x.text(submission))
	}
	if e.ScorerSHA256 != "" {
		b = binary.AppendUvarint(b, x.text(e.ScorerSHA256))
	}
	x.body = appendScores(b, e.RescoredRaw, e.Rescored)
}

// parseHash reads 64 lower-case hex digits: only those come back from the bytes.
func parseHash(to *[32]byte, s string) bool {
	for i := range to {
		high, low := hexDigit(s[2*i]), hexDigit(s[2*i+1])
		if high > 15 || low > 15 {
			return false
		}
		to[i] = high<<4 | low
	}
	return true
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

func (x *entryEncoder) later(e *rebench.ScoreEntry) {
	mask := uint64(0)
	if e.RescoredRaw != nil {
		mask |= bitRescoredRaw
	}
	if e.Rescored != nil {
		mask |= bitRescored
	}
	x.body = binary.AppendVarint(x.body, int64(e.Seq))
	x.body = binary.AppendUvarint(x.body, mask)
	x.body = appendScores(x.body, e.RescoredRaw, e.Rescored)
}

func appendScores(b []byte, scores ...*float64) []byte {
	for _, s := range scores {
		if s != nil {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(*s))
		}
	}
	return b
}

var errBlock = errors.New("a block of score entries is damaged")

// entryDecoder reads a block. After the first fault everything reads as nothing.
type entryDecoder struct {
	b     []byte
	bad   bool
	texts []string
	seq   int64
	t, at int64
}

// decodeEntries appends a block's entries to known, applies its later scorings to
// them, and returns the whole.
func decodeEntries(known []rebench.ScoreEntry, block []byte) ([]rebench.ScoreEntry, error) {
	if len(block) == 0 || block[0] != entryCodecVersion {
		return known, errBlock
	}
	d := &entryDecoder{b: block[1:]}
	for n := d.count(); n > 0 && !d.bad; n-- {
		d.texts = append(d.texts, string(d.bytes(d.count())))
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		known = append(known, d.entry())
	}
	var later []rebench.ScoreEntry
	for n := d.count(); n > 0 && !d.bad; n-- {
		e := rebench.ScoreEntry{Seq: int(d.varint())}
		mask := d.uvarint()
		e.RescoredRaw, e.Rescored = d.score(mask&bitRescoredRaw), d.score(mask&bitRescored)
		later = append(later, e)
	}
	if d.bad || len(d.b) > 0 {
		return known, errBlock
	}
	for _, l := range later {
		for i := len(known) - 1; i >= 0; i-- {
			if known[i].Seq == l.Seq {
				known[i].RescoredRaw, known[i].Rescored = l.RescoredRaw, l.Rescored
				break
			}
		}
	}
	return known, nil
}

func (d *entryDecoder) entry() rebench.ScoreEntry {
	mask := d.uvarint()
	d.seq += d.varint()
	e := rebench.ScoreEntry{Seq: int(d.seq), Basis: rebench.Basis(d.text()), Reason: d.text(), Valid: mask&bitValid != 0}
	if mask&bitT != 0 {
		d.t += d.varint()
		t := time.Duration(d.t) * time.Millisecond
		e.Elapsed = &t
	}
	if mask&bitAt != 0 {
		d.at += d.varint()
		at := time.UnixMilli(d.at).UTC()
		e.At = &at
	}
	e.Raw, e.Normalized = d.score(mask&bitRaw), d.score(mask&bitNormalized)
	if mask&bitMessage != 0 {
		e.Message = d.text()
	}
	switch {
	case mask&bitSubmission != 0:
		e.SubmissionSHA256 = hex.EncodeToString(d.bytes(32))
	case mask&bitSubmissionText != 0:
		e.SubmissionSHA256 = d.text()
	}
	if mask&bitScorer != 0 {
		e.ScorerSHA256 = d.text()
	}
	e.RescoredRaw, e.Rescored = d.score(mask&bitRescoredRaw), d.score(mask&bitRescored)
	return e
}

func (d *entryDecoder) fail() {
	d.bad, d.b = true, nil
}

func (d *entryDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *entryDecoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of things that each take at least a byte of what is left.
func (d *entryDecoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *entryDecoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *entryDecoder) text() string {
	i := d.uvarint()
	if i >= uint64(len(d.texts)) {
		d.fail()
		return ""
	}
	return d.texts[i]
}

func (d *entryDecoder) score(present uint64) *float64 {
	if present == 0 {
		return nil
	}
	b := d.bytes(8)
	if b == nil {
		return nil
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(b))
	return &x
}
