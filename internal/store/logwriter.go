package store

import (
	"slices"

	"rebench/internal/rebench"
)

const (
	// maxHeld bounds what a LogWriter holds in memory: a longer log is written to
	// the database while it comes in, and taken back if it turns out to be known.
	maxHeld = 4 << 20
	// chunkBytes is the length at which a log is cut into chunks.
	chunkBytes = 1 << 20
	// entryBytes estimates the memory of one held entry without its message.
	entryBytes = 320
)

// LogWriter receives the log of one revision: every line, and every score entry.
// It holds a short log in memory and streams a long one to the database.
type LogWriter struct {
	im *importer

	entries  []rebench.ScoreEntry
	log      []byte // lines since the last chunk
	chunk    int64  // number of the next chunk
	block    int64  // number of the next block of entries
	chunks   [][]byte
	held     int
	bytes    int64
	n, valid int
	scorer   string
	spilled  bool
	first    bool                 // spilling began the import's data revision
	rescores []rebench.ScoreEntry // Seq, RescoredRaw and Rescored of entries that are written already
	err      error
	readOnly bool // entries are kept in memory, whatever their number, and lines only counted
}

func (w *LogWriter) reset() {
	*w = LogWriter{im: w.im, entries: w.entries[:0], log: w.log[:0], chunks: w.chunks[:0]}
}

// Line adds one line of the log, without its LF.
func (w *LogWriter) Line(raw []byte) error {
	if w.err != nil {
		return w.err
	}
	w.bytes += int64(len(raw)) + 1
	if w.im.preview || w.readOnly {
		return nil
	}
	w.log = append(append(w.log, raw...), '\n')
	if len(w.log) >= chunkBytes {
		w.cut()
	}
	return w.spillIfLong()
}

// Read returns an item's attempt with its entries as an import would store them,
// without a database.
func Read(item Item) (*rebench.Attempt, error) {
	w := &LogWriter{im: &importer{}, readOnly: true}
	content, err := item.Write(w)
	if err != nil {
		return nil, err
	}
	a := content.Attempt
	a.ID, a.Dataset, a.NativeID, a.Environment, a.Profile = item.ID, item.Dataset, item.NativeID, item.Environment, item.Profile
	a.LogHead, a.LogBytes, a.Entries = content.LogHead, w.bytes, w.entries
	return &a, nil
}

// cut makes a chunk of the lines so far.
func (w *LogWriter) cut() {
	w.chunks = append(w.chunks, slices.Clone(w.log))
	w.held += len(w.log)
	w.log = w.log[:0]
}

// Entry adds one score entry. Its Message is kept as it is.
func (w *LogWriter) Entry(e rebench.ScoreEntry) error {
	if w.err != nil {
		return w.err
	}
	w.n++
	if e.Valid {
		w.valid++
	}
	if w.scorer == "" {
		w.scorer = e.ScorerSHA256
	}
	if w.im.preview {
		return nil
	}
	w.entries = append(w.entries, e)
	w.held += entryBytes + len(e.Message)
	return w.spillIfLong()
}

// Rescore records a later scoring of an earlier entry. Either score may be nil.
func (w *LogWriter) Rescore(seq int, raw, normalized *float64) error {
	if w.err != nil || w.im.preview {
		return w.err
	}
	for i := len(w.entries) - 1; i >= 0; i-- {
		if w.entries[i].Seq == seq {
			w.entries[i].RescoredRaw, w.entries[i].Rescored = raw, normalized
			return nil
		}
	}
	w.rescores = append(w.rescores, rebench.ScoreEntry{Seq: seq, RescoredRaw: raw, Rescored: normalized})
	return nil
}

// spillIfLong writes what is held to the database once it is too much.
func (w *LogWriter) spillIfLong() error {
	if w.readOnly || w.held+len(w.log) < maxHeld {
		return nil
	}
	if !w.spilled {
		w.spill()
	}
	if w.err == nil {
		w.write(w.im.nextRevision + 1)
		w.err = w.im.rows.start()
	}
	return w.err
}

// spill begins to write the log before it is known whether it is new.
func (w *LogWriter) spill() {
	w.spilled, w.first = true, w.im.revision.ID == 0
	// Rows of earlier attempts must survive if this log is taken back.
	if w.err = w.im.rows.flush(); w.err == nil {
		w.err = w.im.tx.SavePoint("log").Error
	}
	if w.err == nil {
		w.err = w.im.begin()
	}
}

// blockEntries is how many entries a block holds at most.
const blockEntries = 1_024

// write moves what is held into the bulk inserts.
func (w *LogWriter) write(revision int64) {
	for all := range slices.Chunk(w.entries, blockEntries) {
		w.addBlock(revision, all, nil)
	}
	for _, c := range w.chunks {
		w.im.chunks.add(revision, w.chunk, c)
		w.chunk++
	}
	w.entries, w.chunks, w.held = w.entries[:0], w.chunks[:0], 0
}

func (w *LogWriter) addBlock(revision int64, entries, later []rebench.ScoreEntry) {
	w.im.entries.add(revision, w.block, w.im.encoder.encode(entries, later))
	w.block++
}

// commit writes the rest under the revision's id and returns what its row counts.
func (w *LogWriter) commit(revision int64) (entries, valid int, scorer string, bytes int64, err error) {
	if w.err != nil {
		return 0, 0, "", 0, w.err
	}
	if len(w.log) > 0 {
		w.cut()
	}
	w.write(revision)
	if len(w.rescores) > 0 {
		w.addBlock(revision, nil, w.rescores)
	}
	return w.n, w.valid, w.scorer, w.bytes, nil
}

// discard takes back what was written.
func (w *LogWriter) discard() error {
	if w.err != nil || !w.spilled {
		return w.err
	}
	if err := w.im.rows.flush(); err != nil {
		return err
	}
	if w.first { // the data revision was begun for this log
		w.im.revision.ID, w.im.upload.ID = 0, 0
	}
	return w.im.tx.RollbackTo("log").Error
}
