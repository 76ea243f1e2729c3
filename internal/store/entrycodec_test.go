package store

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

// drawEntries draws entries with every combination of known and unknown fields.
func drawEntries(r *rand.Rand, n int) []rebench.ScoreEntry {
	maybe := func() bool { return r.IntN(2) == 0 }
	number := func() *float64 {
		x := [...]float64{0, -0.0, 1, math.MaxFloat64, math.SmallestNonzeroFloat64, -1e-300, r.NormFloat64()}[r.IntN(7)]
		return &x
	}
	texts := []string{"", "raw", "wrong_output", "a\x00b", "é𝛼", strings.Repeat("x", 300)}
	hashes := []string{"", strings.Repeat("0", 64), strings.Repeat("f", 63), strings.Repeat("F", 64), "no hash", strings.Repeat("zz", 32)}
	out := make([]rebench.ScoreEntry, n)
	for i := range out {
		e := &out[i]
		e.Seq = i*(1+r.IntN(1000)) + 1
		e.Basis, e.Reason, e.Message = rebench.Basis(texts[r.IntN(3)]), texts[r.IntN(6)], texts[r.IntN(6)]
		e.Valid, e.SubmissionSHA256, e.ScorerSHA256 = maybe(), hashes[r.IntN(6)], hashes[r.IntN(6)]
		if maybe() {
			var b [32]byte
			for k := range b {
				b[k] = byte(r.Uint32())
			}
			e.SubmissionSHA256 = hex.EncodeToString(b[:])
		}
		if maybe() {
			d := time.Duration(r.Int64N(1<<40)) * time.Millisecond
			e.Elapsed = &d
		}
		if maybe() {
			at := time.UnixMilli(r.Int64N(1<<45) - 1<<44).UTC()
			e.At = &at
		}
		for _, p := range []**float64{&e.Raw, &e.Normalized, &e.RescoredRaw, &e.Rescored} {
			if maybe() {
				*p = number()
			}
		}
	}
	return out
}

func TestEntriesSurviveTheirBlocks(t *testing.T) {
	var x entryEncoder
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		want := drawEntries(r, r.IntN(40))
		cut := 0
		if len(want) > 0 {
			cut = r.IntN(len(want))
		}
		got, err := decodeEntries(nil, x.encode(want[:cut], nil))
		if err == nil {
			got, err = decodeEntries(got, x.encode(want[cut:], nil))
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" && len(want) > 0 {
			t.Fatal(d)
		}
	}
}

func TestLaterScoringsReachEarlierBlocks(t *testing.T) {
	var x entryEncoder
	seven, eight := 7.0, 8.0
	first := x.encode([]rebench.ScoreEntry{{Seq: 1}, {Seq: 2}}, nil)
	second := x.encode(nil, []rebench.ScoreEntry{{Seq: 2, RescoredRaw: &seven, Rescored: &eight}, {Seq: 99, Rescored: &eight}})
	got, err := decodeEntries(nil, first)
	if err == nil {
		got, err = decodeEntries(got, second)
	}
	if err != nil || len(got) != 2 || got[0].Rescored != nil || *got[1].RescoredRaw != 7 || *got[1].Rescored != 8 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A damaged block is an error: never a panic, never entries that were not there.
func TestDamagedBlocksAreErrors(t *testing.T) {
	var x entryEncoder
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		block := x.encode(drawEntries(r, 10), nil)
		for cut := range block {
			if _, err := decodeEntries(nil, block[:cut]); err == nil {
				t.Fatalf("a block cut at %d of %d is read", cut, len(block))
			}
		}
		if _, err := decodeEntries(nil, append(block, 0)); err == nil {
			t.Fatal("a block with a byte too many is read")
		}
	}
}

func FuzzDecodeEntries(f *testing.F) {
	var x entryEncoder
	f.Add(x.encode(drawEntries(rand.New(rand.NewPCG(5, 6)), 5), []rebench.ScoreEntry{{Seq: 1}}))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, block []byte) {
		entries, err := decodeEntries(nil, block)
		if err != nil {
			return
		}
		again, err := decodeEntries(nil, x.encode(entries, nil))
		if err != nil || len(again) != len(entries) {
			t.Errorf("%d entries become %d (%v)", len(entries), len(again), err)
		}
	})
}

// A database whose score entries are rows is converted when it is opened.
func TestOldEntriesAreConverted(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "rebench.db")
	old, err := open("file:"+path, 1)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := old.DB()
	if err != nil {
		t.Fatal(err)
	}
	provider, err := migrationsOf(pool)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(ctx, blocksVersion-1); err != nil {
		t.Fatal(err)
	}
	// The revisions that the entries belong to; nothing else of them is read.
	var columns []string
	if err := old.Raw("SELECT name FROM pragma_table_info('revisions') WHERE name <> 'id'").Scan(&columns).Error; err != nil {
		t.Fatal(err)
	}
	for _, id := range []int{7, 9} {
		if err := old.Exec("INSERT INTO revisions (id, "+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns))+")", append([]any{id}, repeated(id, len(columns))...)...).Error; err != nil {
			t.Fatal(err)
		}
	}
	const rows = blockEntries + 10
	for _, statement := range []string{
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1034) INSERT INTO score_entries SELECT 7, i, i * 1000, NULL, i / 4.0, NULL, 'raw', i % 2, '', 'm' || i, '', 'c', NULL, NULL FROM n",
		"INSERT INTO score_entries VALUES (9, 1, NULL, 86400000, NULL, 0.5, 'normalized', 1, '', '', 's', '', 2.5, 0.25)",
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Entries(ctx, []int64{7, 9, 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[7]) != rows {
		t.Fatalf("%d revisions, %d entries", len(got), len(got[7]))
	}
	for i, e := range got[7] {
		if e.Seq != i+1 || *e.Elapsed != time.Duration(i+1)*time.Second || *e.Raw != float64(i+1)/4 || e.Normalized != nil || e.Valid != ((i+1)%2 == 1) || e.Message == "" || e.ScorerSHA256 != "c" {
			t.Fatalf("entry %d: %+v", i, e)
		}
	}
	if e := got[9][0]; e.Elapsed != nil || !e.At.Equal(time.UnixMilli(86400000)) || *e.Normalized != 0.5 || e.SubmissionSHA256 != "s" || *e.RescoredRaw != 2.5 || *e.Rescored != 0.25 {
		t.Errorf("%+v", e)
	}
}

func repeated(v any, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v
	}
	return out
}
