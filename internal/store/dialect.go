package store

import (
	"database/sql"
	"errors"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// driverName is under which modernc.org/sqlite registers itself.
const driverName = "sqlite"

// dialector joins GORM with modernc.org/sqlite, which needs no C compiler and keeps
// prepared statements compiled: the published dialectors bring drivers that do not.
// Tables come from migrations/, so that it makes none.
type dialector struct{ dsn string }

// Name implements gorm.Dialector.
func (dialector) Name() string { return "sqlite" }

// Initialize implements gorm.Dialector.
func (d dialector) Initialize(db *gorm.DB) error {
	pool, err := sql.Open(driverName, d.dsn)
	if err != nil {
		return err
	}
	db.ConnPool = pool
	// One statement that inserts several rows reports the id of the last of them.
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{LastInsertIDReversed: true})
	return nil
}

// Migrator implements gorm.Dialector.
func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d, CreateIndexAfterCreateTable: true}}
}

// DataTypeOf implements gorm.Dialector with SQLite's storage classes.
func (dialector) DataTypeOf(f *schema.Field) string {
	switch f.DataType {
	case schema.Bool, schema.Int, schema.Uint:
		return "integer"
	case schema.Float:
		return "real"
	case schema.Bytes:
		return "blob"
	}
	return "text"
}

// DefaultValueOf implements gorm.Dialector.
func (dialector) DefaultValueOf(*schema.Field) clause.Expression { return clause.Expr{SQL: "NULL"} }

// BindVarTo implements gorm.Dialector.
func (dialector) BindVarTo(w clause.Writer, _ *gorm.Statement, _ any) { _ = w.WriteByte('?') }

// QuoteTo implements gorm.Dialector. table.column is quoted part by part.
func (dialector) QuoteTo(w clause.Writer, name string) {
	for i, part := range strings.Split(name, ".") {
		if i > 0 {
			_ = w.WriteByte('.')
		}
		_, _ = w.WriteString("`" + strings.ReplaceAll(part, "`", "``") + "`")
	}
}

// Explain implements gorm.Dialector.
func (dialector) Explain(query string, vars ...any) string {
	return logger.ExplainSQL(query, nil, `"`, vars...)
}

// Translate implements gorm.ErrorTranslator.
func (dialector) Translate(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return gorm.ErrDuplicatedKey
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return gorm.ErrForeignKeyViolated
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return gorm.ErrCheckConstraintViolated
	}
	return err
}

// SavePoint implements gorm.SavePointerDialectorInterface.
func (dialector) SavePoint(tx *gorm.DB, name string) error {
	return tx.Exec("SAVEPOINT " + name).Error
}

// RollbackTo implements gorm.SavePointerDialectorInterface.
func (dialector) RollbackTo(tx *gorm.DB, name string) error {
	return tx.Exec("ROLLBACK TO SAVEPOINT " + name).Error
}
