package store

import (
	"context"
	"database/sql"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"rebench/internal/rebench"
)

// blocksVersion is the schema in which score entries are stored in blocks.
const blocksVersion = 4

func (s *Store) migrate(ctx context.Context) error {
	pool, err := s.writer.DB()
	if err != nil {
		return err
	}
	provider, err := migrationsOf(pool)
	if err != nil {
		return err
	}
	have, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	if want := sources[len(sources)-1].Version; have > want {
		return rebench.Errorf(rebench.CodeInvalid, "it was written by a newer version (schema %d, this program knows %d)", have, want)
	}
	_, err = provider.Up(ctx)
	return err
}

func migrationsOf(pool *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, pool, files,
		goose.WithGoMigrations(goose.NewGoMigration(blocksVersion, &goose.GoFunc{RunTx: entriesToBlocks}, nil)))
}

// entriesToBlocks turns the table with a row for each score entry into one with a row
// for each block of them (entrycodec.go).
func entriesToBlocks(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range []string{
		"ALTER TABLE score_entries RENAME TO entry_rows",
		`CREATE TABLE score_entries (
  revision_id INTEGER NOT NULL REFERENCES revisions (id),
  block       INTEGER NOT NULL,
  entries     BLOB NOT NULL,
  PRIMARY KEY (revision_id, block)
) WITHOUT ROWID`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := convertEntries(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DROP TABLE entry_rows")
	return err
}

func convertEntries(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT revision_id, seq, t_ms, at_ms, raw, normalized, basis, valid, reason, message,
submission_sha256, scorer_sha256, rescored_raw, rescored_normalized FROM entry_rows ORDER BY revision_id, seq`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var encoder entryEncoder
	var held []rebench.ScoreEntry
	var revision, block int64
	put := func() error {
		if len(held) == 0 {
			return nil
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO score_entries VALUES (?, ?, ?)", revision, block, encoder.encode(held, nil))
		held = held[:0]
		block++
		return err
	}
	for rows.Next() {
		var e rebench.ScoreEntry
		var of int64
		var t, at *int64
		if err := rows.Scan(&of, &e.Seq, &t, &at, &e.Raw, &e.Normalized, &e.Basis, &e.Valid, &e.Reason, &e.Message,
			&e.SubmissionSHA256, &e.ScorerSHA256, &e.RescoredRaw, &e.Rescored); err != nil {
			return err
		}
		if t != nil {
			d := time.Duration(*t) * time.Millisecond
			e.Elapsed = &d
		}
		e.At = timeOf(at)
		if of != revision || len(held) == blockEntries {
			if err := put(); err != nil {
				return err
			}
		}
		if of != revision {
			revision, block = of, 0
		}
		held = append(held, e)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return put()
}
