package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// maxStatements bounds the cached statements of a connection. The package has fewer queries, all of them
// constant except for the filters of the journal.
const maxStatements = 128

// sqliteConn is the part of the driver's connection that this package needs.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	driver.Pinger
}

// statements is a connection with a cache of prepared statements, because parsing a query takes longer
// than running it. A running statement is taken out of the cache, so that a query may run again while its
// rows are read.
//
// Like every [driver.Conn], it is used by one goroutine at a time.
type statements struct {
	sqliteConn
	idle map[string]driver.Stmt
}

var _ sqliteConn = (*statements)(nil)

// keepStatements returns the driver's connection with a cache of statements.
func keepStatements(conn driver.Conn) (driver.Conn, error) {
	inner, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver of SQLite has a %T, which does not prepare statements", conn), conn.Close())
	}
	return &statements{sqliteConn: inner, idle: map[string]driver.Stmt{}}, nil
}

// keeps reports whether the statement of a query is cached. A query without parameters may be a script, or
// change the connection, so only frequent ones are cached.
func keeps(query string, args []driver.NamedValue) bool {
	if len(args) > 0 {
		return true
	}
	switch query {
	case begin, commit, rollback:
		return true
	default:
		return strings.HasPrefix(query, "SELECT")
	}
}

// take returns an unused statement. The caller puts it back, also after an error.
func (s *statements) take(ctx context.Context, query string) (driver.Stmt, error) {
	if stmt, ok := s.idle[query]; ok {
		delete(s.idle, query)
		return stmt, nil
	}
	return s.PrepareContext(ctx, query)
}

func (s *statements) put(query string, stmt driver.Stmt) error {
	if _, ok := s.idle[query]; ok || len(s.idle) >= maxStatements {
		return stmt.Close()
	}
	s.idle[query] = stmt
	return nil
}

// Close implements [driver.Conn]. SQLite keeps a file open while a statement is.
func (s *statements) Close() error {
	var errs []error
	for _, stmt := range s.idle {
		errs = append(errs, stmt.Close())
	}
	clear(s.idle)
	return errors.Join(append(errs, s.sqliteConn.Close())...)
}

// ExecContext implements [driver.ExecerContext].
func (s *statements) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !keeps(query, args) {
		return s.sqliteConn.ExecContext(ctx, query, args)
	}
	stmt, err := s.take(ctx, query)
	if err != nil {
		return nil, err
	}
	runs, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver of SQLite has a %T, which takes no context", stmt), stmt.Close())
	}
	result, err := runs.ExecContext(ctx, args)
	return result, errors.Join(err, s.put(query, stmt))
}

// QueryContext implements [driver.QueryerContext].
func (s *statements) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !keeps(query, args) {
		return s.sqliteConn.QueryContext(ctx, query, args)
	}
	stmt, err := s.take(ctx, query)
	if err != nil {
		return nil, err
	}
	runs, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver of SQLite has a %T, which takes no context", stmt), stmt.Close())
	}
	rows, err := runs.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, s.put(query, stmt))
	}
	return &keptRows{rows, func() error { return s.put(query, stmt) }}, nil
}

// keptRows puts the statement back after the rows were read.
type keptRows struct {
	driver.Rows
	put func() error
}

// Close implements [driver.Rows]. The package database/sql calls it once.
func (r *keptRows) Close() error { return errors.Join(r.Rows.Close(), r.put()) }
