package store

import (
	"context"
	"math"

	"rebench/internal/rebench"
)

// evidence is what makes one re-scored attempt reproduce another.
type evidence struct {
	attempt     int64 // its key
	submission  string
	scorer      string
	author      string // token that delivered it
	environment string
	profile     string
	version     string // of the scorer
	final       float64
	out         bool // flagged as suspected, invalid or retracted
}

// reproduces reports whether two attempts are independent scorings of one submission
// that agree: delivered under different trusted tokens, with the same scorer, within
// rebench.ReproducedWithin.
func (e evidence) reproduces(o evidence) bool {
	return e.attempt != o.attempt && e.author != o.author && e.submission == o.submission && e.scorer == o.scorer &&
		e.environment == o.environment && e.profile == o.profile && e.version == o.version && !e.out && !o.out &&
		math.Abs(e.final-o.final) <= rebench.ReproducedWithin
}

// reproduced returns the keys of the re-scored attempts that another one reproduces,
// as all stood at data revision asof. attempt, if not 0, asks about that one only.
func (s *Store) reproduced(ctx context.Context, asof int64, flags map[int64]flagState, attempt int64) (map[int64]bool, error) {
	query := `SELECT a.pk, r.submission_sha256, r.scorer_sha256, r.author, a.environment, a.profile, r.scorer_version, r.final_normalized` + currentAt +
		` AND r.badge = '` + string(rebench.BadgeRescored) + `' AND r.submission_sha256 <> '' AND r.final_normalized IS NOT NULL`
	args := []any{asof}
	if attempt != 0 {
		query += ` AND r.submission_sha256 IN (SELECT submission_sha256 FROM revisions WHERE attempt_pk = ? AND submission_sha256 <> '')`
		args = append(args, attempt)
	}
	pool, err := s.reader.DB()
	if err != nil {
		return nil, err
	}
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	bySubmission := map[string][]evidence{}
	for rows.Next() {
		var e evidence
		if err := rows.Scan(&e.attempt, &e.submission, &e.scorer, &e.author, &e.environment, &e.profile, &e.version, &e.final); err != nil {
			return nil, err
		}
		f := flags[e.attempt]
		e.out = f.suspected || f.invalid || f.retracted
		bySubmission[e.submission] = append(bySubmission[e.submission], e)
	}
	out := map[int64]bool{}
	for _, same := range bySubmission {
		for i, e := range same {
			for _, o := range same[i+1:] {
				if e.reproduces(o) {
					out[e.attempt], out[o.attempt] = true, true
				}
			}
		}
	}
	return out, rows.Err()
}
