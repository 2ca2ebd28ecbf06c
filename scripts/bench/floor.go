package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // the database that Assent has
)

// floor is what has to be stored of an ask, and no more: the question before it is shown, and the answer before the server
// has it. The database, its settings and the durability are those of Assent's store. Writes that wait together share a
// transaction, as there. It stands behind a client of go-sdk, so that an ask is compared with one that is kept as well.
type floor struct {
	db     *sql.DB
	writes chan *floorWrite
	ended  chan struct{}
}

// floorWrite is a statement that waits for its transaction.
type floorWrite struct {
	statement string
	args      []any
	durable   bool // the transaction waits for the disk, as an act of a person does
	done      chan error
}

const (
	floorSettings = "?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=secure_delete(1)"
	floorSchema   = "CREATE TABLE asks (id INTEGER PRIMARY KEY, question TEXT NOT NULL, answer TEXT) STRICT"
	// mostTogether is how many writes share a transaction at the most.
	mostTogether = 1000
)

func openFloor(ctx context.Context, file string) (*floor, error) {
	db, err := sql.Open("sqlite", "file:"+file+floorSettings)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, floorSchema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &floor{db: db, writes: make(chan *floorWrite, mostTogether), ended: make(chan struct{})}
	go f.run(ctx)
	return f, nil
}

// close waits for what is being written.
func (f *floor) close() error {
	close(f.writes)
	<-f.ended
	return f.db.Close()
}

// save returns once the statement is committed.
func (f *floor) save(durable bool, statement string, args ...any) error {
	w := &floorWrite{statement, args, durable, make(chan error, 1)}
	f.writes <- w
	return <-w.done
}

// run commits what waits, all of it together.
func (f *floor) run(ctx context.Context) {
	defer close(f.ended)
	for first := range f.writes {
		together := []*floorWrite{first}
		for len(f.writes) > 0 && len(together) < mostTogether {
			together = append(together, <-f.writes)
		}
		err := f.commit(ctx, together)
		for _, w := range together {
			w.done <- err
		}
	}
}

func (f *floor) commit(ctx context.Context, writes []*floorWrite) error {
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return err
	}
	level := "NORMAL"
	for _, w := range writes {
		if w.durable {
			level = "FULL"
		}
	}
	run := func(statement string, args ...any) {
		if err == nil {
			_, err = conn.ExecContext(ctx, statement, args...)
		}
	}
	run(fmt.Sprintf("PRAGMA synchronous = %s", level))
	run("BEGIN IMMEDIATE")
	for _, w := range writes {
		run(w.statement, w.args...)
	}
	run("COMMIT")
	return errors.Join(err, conn.Close())
}

// question stores a question.
func (f *floor) question(id int64, text string) error {
	return f.save(false, "INSERT INTO asks (id, question) VALUES (?, ?)", id, text)
}

// answer stores the answer to one.
func (f *floor) answer(id int64, text string) error {
	return f.save(true, "UPDATE asks SET answer = ? WHERE id = ?", text, id)
}
