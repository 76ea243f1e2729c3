package attemptlog

import "io"

// Relation says how a log compares with an earlier version of it.
type Relation string

// Relations between a new log and the head of an old one.
const (
	// RelationNew: no earlier version is known.
	RelationNew Relation = "new"
	// RelationSame: the head is the same, so is every line before it.
	RelationSame Relation = "same"
	// RelationExtends: the new log starts with the whole old one.
	RelationExtends Relation = "extends"
	// RelationShorter: the new log ends before the old head. Whether it is a
	// prefix can be told from the old log's hash at the new log's last seq.
	RelationShorter Relation = "shorter"
	// RelationFork: the new log differs at or before the old head.
	RelationFork Relation = "fork"
)

// Relation compares the current log with the head that Options.Known gave for
// it; call it once Next has returned false.
func (r *Reader) Relation() Relation {
	switch {
	case !r.hasOld:
		return RelationNew
	case r.atKnown == nil:
		return RelationShorter
	case *r.atKnown != r.known.Hash:
		return RelationFork
	case r.st.head.Seq == r.known.Seq:
		return RelationSame
	}
	return RelationExtends
}

// Extends reads and verifies a log and compares it with the head of an old
// version. A log with faults is returned as Faults; such a log neither extends
// nor forks anything.
func Extends(old Head, log io.Reader) (Relation, Summary, error) {
	r := NewReader(log, Options{Known: func(*Header) (Head, bool) { return old, old.Seq >= 0 }})
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		return "", Summary{}, err
	}
	if f := r.Faults(); len(f) > 0 {
		return "", r.Summary(), Faults(f)
	}
	return r.Relation(), r.Summary(), nil
}
