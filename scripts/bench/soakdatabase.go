package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// databaseParts is what a store's file has, in bytes.
type databaseParts struct {
	parts       map[string]float64 // tables and indexes
	file, free  float64
	asks, tasks float64 // rows, not bytes
	live        float64 // messages that are not settled
	records     float64 // of the journal
}

// partsOf reads a store that no process has open.
func partsOf(ctx context.Context, path string) (p databaseParts, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, count := range []struct {
		query string
		to    *float64
	}{
		{`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`, &p.file},
		{`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`, &p.free},
		{`SELECT count(*) FROM messages WHERE ask_id IS NOT NULL`, &p.asks},
		{`SELECT count(*) FROM messages WHERE live`, &p.live},
		{`SELECT count(*) FROM tasks`, &p.tasks},
		{`SELECT count(*) FROM journal`, &p.records},
	} {
		if err := db.QueryRowContext(ctx, count.query).Scan(count.to); err != nil {
			return p, fmt.Errorf("%s: %w", count.query, err)
		}
	}
	rows, err := db.QueryContext(ctx, `SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE`)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	p.parts = map[string]float64{}
	for rows.Next() {
		var name string
		var size float64
		if err := rows.Scan(&name, &size); err != nil {
			return p, err
		}
		p.parts[name] += size
	}
	return p, rows.Err()
}

// allParts adds up the stores of all folders.
func (s *soak) allParts() (all databaseParts, err error) {
	all.parts = map[string]float64{}
	for folder := range soakFolders {
		p, err := partsOf(s.ctx, filepath.Join(s.folder, fmt.Sprint("folder-", folder), "assent.db"))
		if err != nil {
			return all, err
		}
		for name, size := range p.parts {
			all.parts[name] += size
		}
		all.file, all.free, all.asks, all.tasks = all.file+p.file, all.free+p.free, all.asks+p.asks, all.tasks+p.tasks
		all.live, all.records = all.live+p.live, all.records+p.records
	}
	return all, nil
}

// databaseRows explains the size of the stores once the daemon has ended, and again after its next start, which removes the
// deleted tasks.
func (s *soak) databaseRows() ([]row, error) {
	if _, err := s.run("daemon", "stop"); err != nil {
		return nil, err
	}
	full, err := s.allParts()
	if err != nil {
		return nil, err
	}
	if int(full.asks) != s.asks || full.live != 0 {
		return nil, fmt.Errorf("the stores have %.0f asks of %d, and %.0f messages that may still change", full.asks, s.asks, full.live)
	}
	start, err := s.startAgain()
	if err != nil {
		return nil, fmt.Errorf("start again: %w", err)
	}
	purged, err := s.allParts()
	if err != nil {
		return nil, err
	}
	megabytes := func(what string, bytes, of float64, all string) row {
		return row{what: what, unit: "MB", figure: sample{bytes / 1e6}, reference: sample{of / 1e6}, referenceIs: all}
	}
	rows := []row{
		{what: "asks in the stores", figure: sample{full.asks}},
		{what: "records of their journals", figure: sample{full.records}},
		{what: "the stores for each ask", unit: "B", figure: sample{full.file / full.asks}},
	}
	const file = "the files"
	rest := full.file - full.free
	names := slices.Sorted(maps.Keys(full.parts))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(full.parts[b], full.parts[a]) })
	for _, name := range names {
		if size := full.parts[name]; size >= full.file/1000 {
			rows = append(rows, megabytes(name, size, full.file, file))
			rest -= size
		}
	}
	rows = append(
		rows,
		megabytes("all other tables and indexes", rest, full.file, file),
		megabytes("free pages", full.free, full.file, file),
		row{what: "the next start, which removes the deleted tasks", unit: "s", figure: sample{start.Seconds()}},
		megabytes("the files after it", purged.file, full.file, "before"),
		megabytes("free pages after it", purged.free, purged.file, file),
		megabytes("journal after it", purged.parts["journal"], purged.file, file),
	)
	for i := range rows {
		rows[i].group = "database"
	}
	return rows, nil
}

// startAgain starts the daemon, uses the store of each folder, and stops the daemon again. It returns how long the slowest
// store took.
func (s *soak) startAgain() (slowest time.Duration, err error) {
	for folder := range soakFolders {
		w := &soakWindow{soak: s, index: 2 * folder}
		if err := w.open(folder); err != nil {
			return 0, err
		}
		began := time.Now()
		_, err := w.front.newTask()
		slowest = max(slowest, time.Since(began))
		if err := errors.Join(err, w.close()); err != nil {
			return 0, err
		}
	}
	_, err = s.run("daemon", "stop")
	return slowest, err
}
