package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// bulkParameters is how many parameters one INSERT of several rows has, well below
// SQLite's limit of 32,766: longer statements are not faster.
const bulkParameters = 512

// bulk gathers rows of one table, to be inserted many at a time.
type bulk struct {
	columns  int
	rows     int // in a full statement
	insert   string
	args     []driver.NamedValue
	one, all driver.StmtExecContext // for one row and for rows rows; nil until used
	// finish, if not nil, completes rows before they are inserted, beside the
	// goroutines that gather and insert.
	finish func(args []driver.NamedValue)
}

func newBulk(table string, columns ...string) *bulk {
	return &bulk{columns: len(columns), rows: max(1, bulkParameters/len(columns)),
		insert: "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "}
}

// replace lets a row take the place of one with the same key.
func (b *bulk) replace() *bulk {
	b.insert = strings.Replace(b.insert, "INSERT", "INSERT OR REPLACE", 1)
	return b
}

func (b *bulk) statement(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", b.columns), ", ") + ")"
	return b.insert + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

// add takes one row of int64, float64, bool, string, []byte or nil. Other types are
// refused by the driver.
func (b *bulk) add(values ...driver.Value) {
	for _, v := range values {
		b.args = append(b.args, driver.NamedValue{Value: v})
	}
}

// exec inserts rows. It speaks to the driver itself: for some hundred values in each
// statement, what database/sql does about them costs as much as the insertion.
func (b *bulk) exec(ctx context.Context, conn driver.ConnPrepareContext, args []driver.NamedValue) error {
	for full := b.rows * b.columns; len(args) >= full; args = args[full:] {
		if err := b.run(ctx, conn, &b.all, b.rows, args[:full]); err != nil {
			return err
		}
	}
	for ; len(args) > 0; args = args[b.columns:] {
		if err := b.run(ctx, conn, &b.one, 1, args[:b.columns]); err != nil {
			return err
		}
	}
	return nil
}

func (b *bulk) run(ctx context.Context, conn driver.ConnPrepareContext, st *driver.StmtExecContext, rows int, args []driver.NamedValue) error {
	if *st == nil {
		made, err := conn.PrepareContext(ctx, b.statement(rows))
		if err != nil {
			return err
		}
		*st = made.(driver.StmtExecContext)
	}
	for i := range args {
		args[i].Ordinal = i + 1
	}
	_, err := (*st).ExecContext(ctx, args)
	return err
}

func (b *bulk) close() {
	for _, st := range []driver.StmtExecContext{b.one, b.all} {
		if st != nil {
			_ = st.(driver.Stmt).Close()
		}
	}
}

// inserter inserts the rows of several bulks while the next ones are made. Only
// the goroutine that made it calls its methods.
type inserter struct {
	conn   *sql.Conn        // in a transaction
	tables []*bulk          // parents before children
	work   chan []tableRows // to be finished
	ready  chan []tableRows // to be inserted
	idle   sync.WaitGroup   // batches handed over and not yet inserted
	done   chan struct{}
	failed atomic.Pointer[error]
	spare  chan []driver.NamedValue // slices to use again
}

type tableRows struct {
	table *bulk
	args  []driver.NamedValue
}

// newInserter starts inserting on a connection. The context's end is noticed between
// attempts: the driver would start a goroutine to watch it in every statement.
func newInserter(ctx context.Context, conn *sql.Conn, tables ...*bulk) *inserter {
	in := &inserter{conn: conn, tables: tables, work: make(chan []tableRows, 2), ready: make(chan []tableRows), done: make(chan struct{}),
		spare: make(chan []driver.NamedValue, 3*len(tables))}
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(in.ready)
		for batch := range in.work {
			for _, t := range batch {
				if t.table.finish != nil {
					t.table.finish(t.args)
				}
			}
			in.ready <- batch
		}
	}()
	go func() {
		defer close(in.done)
		for batch := range in.ready {
			if err := in.insert(ctx, batch); err != nil {
				in.failed.CompareAndSwap(nil, &err)
			}
			in.idle.Done()
		}
	}()
	return in
}

func (in *inserter) insert(ctx context.Context, batch []tableRows) error {
	err := in.err()
	for _, t := range batch {
		if err == nil {
			err = in.conn.Raw(func(raw any) error {
				conn, ok := raw.(driver.ConnPrepareContext)
				if !ok {
					return fmt.Errorf("the driver's %T prepares no statements", raw)
				}
				return t.table.exec(ctx, conn, t.args)
			})
		}
		clear(t.args)
		select {
		case in.spare <- t.args[:0]:
		default:
		}
	}
	return err
}

// pending is how many values wait to be handed over.
func (in *inserter) pending() int {
	n := 0
	for _, t := range in.tables {
		n += len(t.args)
	}
	return n
}

// start hands over all rows gathered so far, parents first: a row that comes before
// the one it refers to would make SQLite search its table for every later parent.
func (in *inserter) start() error {
	var batch []tableRows
	for _, t := range in.tables {
		if len(t.args) == 0 {
			continue
		}
		batch = append(batch, tableRows{t, t.args})
		t.args = nil
		select {
		case t.args = <-in.spare:
		default:
		}
	}
	if len(batch) > 0 {
		in.idle.Add(1)
		in.work <- batch
	}
	return in.err()
}

// flush inserts everything and waits for it.
func (in *inserter) flush() error {
	err := in.start()
	in.idle.Wait()
	if err == nil {
		err = in.err()
	}
	return err
}

func (in *inserter) err() error {
	if p := in.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// close waits for what was handed over and frees the statements.
func (in *inserter) close() {
	close(in.work)
	<-in.done
	for _, t := range in.tables {
		t.close()
	}
}
