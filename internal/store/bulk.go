package store

import (
	"strings"

	"gorm.io/gorm"
)

// bulkParameters bounds the parameters of one INSERT, well below SQLite's limit
// of 32,766.
const bulkParameters = 1_000

// bulk gathers rows of one table and inserts them many at a time.
type bulk struct {
	tx      *gorm.DB
	columns int
	rows    int    // in a full statement
	full    string // statement for rows rows
	insert  string
	args    []any
}

func newBulk(tx *gorm.DB, table string, columns ...string) *bulk {
	b := &bulk{tx: tx, columns: len(columns), rows: max(1, bulkParameters/len(columns)),
		insert: "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "}
	b.full = b.statement(b.rows)
	return b
}

// replace lets a row take the place of one with the same key.
func (b *bulk) replace() *bulk {
	b.insert = strings.Replace(b.insert, "INSERT", "INSERT OR REPLACE", 1)
	b.full = b.statement(b.rows)
	return b
}

func (b *bulk) statement(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", b.columns), ", ") + ")"
	return b.insert + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

func (b *bulk) add(values ...any) error {
	b.args = append(b.args, values...)
	if len(b.args) < b.rows*b.columns {
		return nil
	}
	return b.exec(b.full)
}

func (b *bulk) flush() error {
	if len(b.args) == 0 {
		return nil
	}
	return b.exec(b.statement(len(b.args) / b.columns))
}

// exec goes to the transaction's connection directly: GORM's own path parses
// the statement text again on every call.
func (b *bulk) exec(query string) error {
	_, err := b.tx.Statement.ConnPool.ExecContext(b.tx.Statement.Context, query, b.args...)
	clear(b.args)
	b.args = b.args[:0]
	return err
}
