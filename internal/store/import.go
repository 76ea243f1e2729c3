package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// Item is one attempt to import: its identity and a function that hands over its
// content.
type Item struct {
	ID          string // public id
	Dataset     string
	NativeID    string // with Dataset the identity for good
	Environment rebench.EnvironmentID
	Profile     rebench.Profile
	// Flags are raised with the attempt when it is new.
	Flags []rebench.Flag
	// Stated are flags that the item's source states. They are raised when its content
	// becomes current, unless a flag of their kind stands already.
	Stated []rebench.Flag
	// Hold keeps a restated attempt as a revision that does not become current.
	Hold bool
	Note string // why the revision exists
	// Write writes the log and its entries to w and returns the attempt's facts.
	// It is called once.
	Write func(w *LogWriter) (Content, error)
}

// Content is what a revision holds besides its log.
type Content struct {
	Attempt rebench.Attempt // Entries and the identity are not read
	SHA256  string          // identity of the content: the same one again changes nothing
	LogHead string          // SHA-256 of the log's last line, "" without a log
	// Flags are what rules say of this content. They are raised when it becomes current,
	// unless the flag stands already, and take the place of an item's flag of their kind.
	Flags []rebench.Flag
}

// Outcome says what importing an Item did.
type Outcome string

// Outcomes of an import.
const (
	Created   Outcome = "created"
	Revised   Outcome = "revised"
	Held      Outcome = "held" // a revision that did not become current
	Unchanged Outcome = "unchanged"
	Skipped   Outcome = "skipped" // Item.Write returned ErrSkip
	Refused   Outcome = "refused" // it contradicts what is known; Result.Problem says how
)

// ErrSkip is what Item.Write returns to leave its attempt out of the import.
var ErrSkip = errors.New("skip this attempt")

// Result is the outcome for one Item.
type Result struct {
	AttemptID string
	Outcome   Outcome
	Revision  int             // number of the attempt's revision
	Attempt   rebench.Attempt // Flags of a new content are those that rules raise
	Problem   string          // why the item was refused
}

// Upload is the provenance of an import.
type Upload struct {
	ID       int64
	At       time.Time
	Author   string
	FileName string
	Format   string
	SHA256   string
	Bytes    int64
	Note     string
	Ref      string // under which the upload was answered, "" for what came otherwise
}

// Import writes all items in one transaction: all of them or, on an error, none.
// When something changed, one data revision is added and returned; otherwise the
// returned revision is the latest. each, if not nil, hears every result in order;
// an error from it undoes everything.
//
// Identity is (dataset, native id). The same content again is Unchanged; other
// content becomes a new revision, current unless the item holds it back.
func (s *Store) Import(ctx context.Context, upload Upload, reason string, items iter.Seq2[Item, error], each func(Result) error) (rebench.DataRevision, error) {
	var revision rebench.DataRevision
	err := s.writeOn(ctx, func(tx *gorm.DB, conn *sql.Conn) error {
		im, err := s.newImporter(tx, conn, upload, reason)
		if err != nil {
			return err
		}
		defer im.close()
		if err := im.addAll(ctx, items, each); err != nil {
			return err
		}
		if err := im.rows.flush(); err != nil {
			return err
		}
		if im.revision.ID != 0 {
			revision = im.revision.domain()
		} else if revision, err = latestRevision(tx); err != nil || im.upload.Ref == "" {
			return err // that loading the published data again changes nothing is no event
		}
		return addAudit(tx, rebench.AuditEvent{At: time.UnixMilli(im.upload.AtMs), Actor: im.upload.Author, Action: "import", Object: im.upload.FileName, Detail: im.detail()})
	})
	return revision, err
}

// Preview reports what Import would do, without writing.
func (s *Store) Preview(ctx context.Context, items iter.Seq2[Item, error], each func(Result) error) error {
	im, err := s.newImporter(s.reader.WithContext(ctx), nil, Upload{}, "")
	if err != nil {
		return err
	}
	im.preview = true
	defer im.close()
	return im.addAll(ctx, items, each)
}

type importer struct {
	tx       *gorm.DB
	preview  bool
	upload   uploadRow
	revision dataRevisionRow // ID 0 until the first change
	reason   string
	agents   map[rebench.Agent]int64
	find     *sql.Stmt // on a reading connection
	findOwn  *sql.Stmt // in the transaction, nil until needed
	added    additions
	count    map[Outcome]int

	nextAttempt, nextRevision int64
	attempts, revisions       *bulk
	current                   *bulk
	entries                   *bulk
	chunks, flags             *bulk
	rows                      *inserter
	pendingBytes              int64 // of logs since rows were handed over last
	packer                    *zstd.Encoder
	packedSize                int // of the logs packed together last
	encoder                   entryEncoder
	log                       *LogWriter
}

// newImporter makes an importer for a transaction and its connection, which a
// preview, writing nothing, has not.
func (s *Store) newImporter(tx *gorm.DB, conn *sql.Conn, u Upload, reason string) (*importer, error) {
	if u.At.IsZero() {
		u.At = time.Now()
	}
	im := &importer{
		tx: tx, reason: reason, agents: map[rebench.Agent]int64{}, count: map[Outcome]int{},
		upload: uploadRow{AtMs: u.At.UnixMilli(), Author: u.Author, FileName: u.FileName, Format: u.Format,
			SHA256: u.SHA256, Bytes: u.Bytes, Note: u.Note, Ref: u.Ref},
		attempts:  newBulk("attempts", "pk", "id", "dataset", "native_id", "environment", "profile"),
		revisions: newBulk("revisions", revisionColumns...),
		current:   newBulk("current_revisions", "attempt_pk", "data_revision", "revision_id").replace(),
		entries:   newBulk("score_entries", "revision_id", "block", "entries"),
		chunks:    newBulk("attempt_logs", "revision_id", "chunk", "log"),
		flags:     newBulk("flags", "attempt_pk", "kind", "is_set", "author", "reason", "at_ms", "data_revision"),
	}
	var err error
	if im.packer, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(chunkBytes), zstd.WithLowerEncoderMem(true)); err != nil {
		return nil, err
	}
	im.chunks.finish = im.pack
	im.log = &LogWriter{im: im}
	pool, err := s.reader.DB()
	if err != nil {
		return nil, err
	}
	if im.find, err = pool.PrepareContext(tx.Statement.Context, findAttempt); err != nil {
		return nil, err
	}
	im.rows = newInserter(tx.Statement.Context, conn, im.attempts, im.revisions, im.current, im.entries, im.chunks, im.flags)
	return im, nil
}

// pack compresses the logs of attempt_logs rows.
func (im *importer) pack(args []driver.NamedValue) {
	packed := make([]byte, 0, im.packedSize)
	for i := 2; i < len(args); i += im.chunks.columns {
		at, log := len(packed), args[i].Value.([]byte)
		packed = im.packer.EncodeAll(log, packed)
		args[i].Value = packed[at:len(packed):len(packed)]
	}
	im.packedSize = len(packed)
}

func (im *importer) close() {
	im.rows.close()
	_ = im.packer.Close()
	_ = im.find.Close()
	if im.findOwn != nil {
		_ = im.findOwn.Close()
	}
}

// detail counts what the import did, for the audit trail.
func (im *importer) detail() string {
	text := fmt.Sprintf("%s: %d created, %d revised, %d held, %d unchanged", im.reason,
		im.count[Created], im.count[Revised], im.count[Held], im.count[Unchanged])
	if im.upload.Ref != "" {
		text += "; upload " + im.upload.Ref
	}
	return text
}

func (im *importer) addAll(ctx context.Context, items iter.Seq2[Item, error], each func(Result) error) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		res, err := im.add(item)
		if err != nil {
			return fmt.Errorf("import attempt %s: %w", item.ID, err)
		}
		im.count[res.Outcome]++
		if each != nil {
			if err := each(res); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin adds the upload and the data revision before the first change.
func (im *importer) begin() error {
	if im.revision.ID != 0 {
		return nil
	}
	// Rows of several tables are inserted in batches, parents and children in any order.
	if err := im.tx.Exec("PRAGMA defer_foreign_keys = ON").Error; err != nil {
		return err
	}
	if err := im.tx.Create(&im.upload).Error; err != nil {
		return err
	}
	im.revision = dataRevisionRow{AtMs: im.upload.AtMs, Author: im.upload.Author, Reason: im.reason}
	if err := im.tx.Create(&im.revision).Error; err != nil {
		return err
	}
	row := im.tx.Raw("SELECT (SELECT COALESCE(MAX(pk), 0) FROM attempts), (SELECT COALESCE(MAX(id), 0) FROM revisions)").Row()
	return row.Scan(&im.nextAttempt, &im.nextRevision)
}

// lookup returns what is stored of an attempt. It asks a reading connection, which is
// free: while this import holds the write lock, nothing else changes. Only for what
// the import has added itself must its own connection be asked.
func (im *importer) lookup(item Item) (*known, error) {
	k, err := im.ask(im.find, item)
	if err != nil || im.preview {
		im.added.merge(k)
		return k, err
	}
	if !im.added.may(k) {
		return k, nil
	}
	if err := im.rows.flush(); err != nil {
		return nil, err
	}
	if im.findOwn == nil {
		if im.findOwn, err = im.tx.Statement.ConnPool.PrepareContext(im.tx.Statement.Context, findAttempt); err != nil {
			return nil, err
		}
	}
	return im.ask(im.findOwn, item)
}

func (im *importer) ask(find *sql.Stmt, item Item) (*known, error) {
	k := &known{key: hash64(item.Dataset, item.NativeID), id: item.ID}
	rows, err := find.QueryContext(im.tx.Statement.Context, item.Dataset, item.NativeID, item.ID, item.Dataset, item.NativeID)
	if err != nil {
		return k, err
	}
	defer rows.Close()
	for rows.Next() {
		var twin bool
		var pk int64
		var id, environment, profile, sum string
		var number int
		if err := rows.Scan(&twin, &pk, &id, &environment, &profile, &sum, &number); err != nil {
			return k, err
		}
		if twin {
			k.taken = true
			continue
		}
		k.pk, k.id, k.environment, k.profile, k.number = pk, id, environment, profile, number
		k.contents = append(k.contents, content{hash64(sum), number})
	}
	return k, rows.Err()
}

// findAttempt finds the revisions of an attempt, and another attempt that has its id.
const findAttempt = `SELECT 0, a.pk, a.id, a.environment, a.profile, r.content_sha256, r.number
FROM attempts a JOIN revisions r ON r.attempt_pk = a.pk WHERE a.dataset = ? AND a.native_id = ?
UNION ALL SELECT 1, pk, id, '', '', '', 0 FROM attempts WHERE id = ? AND (dataset <> ? OR native_id <> ?)
ORDER BY 1, 7`

func (im *importer) add(item Item) (Result, error) {
	k, err := im.lookup(item)
	if err != nil {
		return Result{}, err
	}
	if problem := im.contradicts(k, item); problem != "" {
		return Result{AttemptID: item.ID, Outcome: Refused, Problem: problem}, nil
	}
	im.log.reset()
	content, err := item.Write(im.log)
	if errors.Is(err, ErrSkip) {
		return Result{AttemptID: item.ID, Outcome: Skipped}, im.log.discard()
	}
	if err != nil {
		return Result{}, err
	}
	if number := k.revision(content.SHA256); number > 0 {
		return Result{AttemptID: k.id, Outcome: Unchanged, Revision: number, Attempt: content.Attempt}, im.log.discard()
	}
	content.Attempt.Flags = content.Flags
	res := Result{AttemptID: k.id, Outcome: Created, Revision: k.number + 1, Attempt: content.Attempt}
	if k.exists() {
		res.Outcome = Revised
		if item.Hold {
			res.Outcome = Held
		}
	}
	if im.preview {
		im.added.plan(k, string(item.Environment), string(item.Profile), content.SHA256)
		return res, im.log.discard()
	}
	im.added.add(k)
	return res, im.addRevision(k, item, content, res.Outcome)
}

// contradicts says why an item cannot be what is stored under its identity, or why
// its id is not free; "" when nothing is wrong.
func (im *importer) contradicts(k *known, item Item) string {
	if k.exists() {
		if k.environment == string(item.Environment) && k.profile == string(item.Profile) {
			return ""
		}
		return fmt.Sprintf("attempt %s is known as one of %s (profile %s) and cannot become one of %s (profile %s)",
			k.id, k.environment, k.profile, item.Environment, item.Profile)
	}
	if k.taken {
		return fmt.Sprintf("the id %s is that of another attempt, from another dataset", item.ID)
	}
	return ""
}

func (im *importer) addRevision(k *known, item Item, content Content, outcome Outcome) error {
	if err := im.begin(); err != nil {
		return err
	}
	pk := k.pk
	if outcome == Created {
		im.nextAttempt++
		pk = im.nextAttempt
		im.attempts.add(pk, item.ID, item.Dataset, item.NativeID, string(item.Environment), string(item.Profile))
	}
	im.nextRevision++
	entries, valid, scorer, logBytes, err := im.log.commit(im.nextRevision)
	if err != nil {
		return err
	}
	values, err := im.revisionValues(pk, k.number+1, item.Note, content)
	if err != nil {
		return err
	}
	im.revisions.add(append(values, int64(entries), int64(valid), scorer, logBytes)...)
	if outcome != Held {
		im.current.add(pk, im.revision.ID, im.nextRevision)
	}
	if err := im.raise(pk, item, content, outcome); err != nil {
		return err
	}
	if im.pendingBytes += logBytes; im.rows.pending() > pendingArguments || im.pendingBytes > maxHeld {
		im.pendingBytes = 0
		return im.rows.start()
	}
	return nil
}

// pendingArguments is how many column values are gathered before they are handed
// to the inserter.
const pendingArguments = 4_096

// raise adds the flags of a new attempt, and those of a content that became current.
func (im *importer) raise(pk int64, item Item, content Content, outcome Outcome) error {
	if outcome == Held {
		return nil
	}
	all := slices.Concat(content.Flags, item.Stated)
	if outcome == Created {
		all = slices.Concat(content.Flags, item.Flags, item.Stated)
	}
	for i, f := range all {
		if slices.ContainsFunc(all[:i], func(g rebench.Flag) bool { return g.Kind == f.Kind }) {
			continue
		}
		if outcome == Revised {
			if stands, err := im.stands(pk, f.Kind); err != nil {
				return err
			} else if stands {
				continue
			}
		}
		im.addFlag(pk, f)
	}
	return nil
}

// stands reports whether the latest statement of the kind sets it.
func (im *importer) stands(pk int64, kind rebench.FlagKind) (bool, error) {
	if err := im.rows.flush(); err != nil {
		return false, err
	}
	var last flagRow
	err := im.tx.Where("attempt_pk = ? AND kind = ?", pk, kind).Order("id DESC").Limit(1).Find(&last).Error
	return last.IsSet, err
}

func (im *importer) addFlag(pk int64, f rebench.Flag) {
	if f.At.IsZero() {
		f.At = time.UnixMilli(im.upload.AtMs)
	}
	im.flags.add(pk, string(f.Kind), f.Set, f.Author, f.Reason, f.At.UnixMilli(), im.revision.ID)
}

// revisionColumns are in the order of revisionValues, then what LogWriter.commit returns.
var revisionColumns = []string{
	"id", "attempt_pk", "number", "content_sha256", "log_head", "data_revision", "at_ms", "author", "note", "upload_id",
	"source_file", "source_line", "source_sha256", "agent_id", "cohort", "person_id", "scorer_version",
	"calibration_id", "hardware_json", "hardware_class", "time_limit_ms", "duration_ms", "started_at_ms", "zone_unknown",
	"ended_at_ms", "end_reason", "clock", "seed", "cost_usd", "tokens", "badge", "start_raw", "reference_raw",
	"final_normalized", "final_raw", "basis", "has_log", "unranked", "extra_json", "submission_sha256",
	"n_entries", "n_valid", "scorer_sha256", "log_bytes",
}

func (im *importer) revisionValues(pk int64, number int, note string, c Content) ([]driver.Value, error) {
	a := c.Attempt
	agent, err := im.agentID(a.Agent)
	if err != nil {
		return nil, err
	}
	extra := []byte("{}")
	if len(a.Extra) > 0 {
		if extra, err = json.Marshal(a.Extra); err != nil {
			return nil, err
		}
	}
	var final driver.Value
	if a.FinalKnown {
		final = a.Final
	}
	return []driver.Value{
		im.nextRevision, pk, int64(number), c.SHA256, c.LogHead, im.revision.ID, im.upload.AtMs, im.upload.Author, note, im.upload.ID,
		a.SourceFile, int64(a.SourceLine), a.SourceSHA256, agent, string(a.Cohort), a.PersonID, a.ScorerVersion,
		a.Calibration, a.Hardware, a.HardwareClass, orNull(millisOf(a.TimeLimit)), orNull(millisOf(a.Duration)), orNull(millisOfTime(a.StartedAt)), a.ZoneUnknown,
		orNull(millisOfTime(a.EndedAt)), a.EndReason, string(a.Clock), orNull(a.Seed), orNull(a.CostUSD), orNull(a.Tokens), string(a.Badge),
		orNull(a.StartRaw), orNull(a.ReferenceRaw), final, orNull(a.FinalRaw), string(a.Basis), a.HasLog, a.Unranked, string(extra), a.SubmissionSHA256,
	}, nil
}

// orNull is a column value of what p points to: drivers follow pointers slowly.
func orNull[T int64 | float64](p *T) driver.Value {
	if p == nil {
		return nil
	}
	return *p
}

// agentID finds or adds the agent. Its ID field plays no part in its identity.
func (im *importer) agentID(a rebench.Agent) (int64, error) {
	a.ID = 0
	if id, ok := im.agents[a]; ok {
		return id, nil
	}
	row := agentRow{Name: a.Name, Model: a.Model, Scaffold: a.Scaffold, Kind: string(a.Kind)}
	err := im.tx.Where("name = ? AND model = ? AND scaffold = ? AND kind = ?", row.Name, row.Model, row.Scaffold, row.Kind).
		FirstOrCreate(&row).Error
	if err != nil {
		return 0, err
	}
	im.agents[a] = row.ID
	return row.ID, nil
}
