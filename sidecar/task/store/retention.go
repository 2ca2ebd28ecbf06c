package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// retentionVersion is the version of the schema that added retention_clock.
const retentionVersion = 13

// retentionSchema stores the newest time that retention trusts; see [Store.RetentionTime].
const retentionSchema = `
CREATE TABLE retention_clock (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	trusted INTEGER NOT NULL, -- in milliseconds since the Unix epoch; 0 before the first call
	doubted INTEGER NOT NULL  -- the system's time when a jump was found or trusted last moved after one; else 0
) STRICT;
INSERT INTO retention_clock (one, trusted, doubted) VALUES (1, 0, 0);
`

// If the system's clock is ahead of the trusted time by more than longestPause, either the clock is wrong or Assent did not
// run for that long. Nothing can tell the two apart, so the trusted time moves by catchUpStep every catchUpPause. Records
// that a wrong clock removed are lost; records that are kept for some more weeks do no harm.
const (
	longestPause = 31 * 24 * time.Hour
	catchUpStep  = 7 * 24 * time.Hour
	catchUpPause = 20 * time.Hour
)

// RetentionTime returns the time from which the age of old records is computed, and stores it. It returns now, unless now
// is more than 31 days after the time that it returned last (at the first call: after the newest record of the journal).
// Then it returns that earlier time, and moves it by seven days a day while the clock stays ahead. It never returns a
// time after now.
func (s *Store) RetentionTime(ctx context.Context, now time.Time) (trusted time.Time, err error) {
	err = s.write(ctx, processDeath, func(w writer) error {
		var high, doubted int64
		err := w.QueryRowContext(ctx, `SELECT CASE trusted WHEN 0 THEN COALESCE((SELECT at FROM journal ORDER BY seq DESC LIMIT 1), 0) ELSE trusted END,
			doubted FROM retention_clock`).Scan(&high, &doubted)
		if err != nil {
			return err
		}
		at := now.UnixMilli()
		switch {
		case high == 0 || at-high <= longestPause.Milliseconds():
			high, doubted = max(high, at), 0
		case doubted == 0 || doubted > at:
			doubted = at
		case at-doubted >= catchUpPause.Milliseconds():
			high, doubted = high+catchUpStep.Milliseconds(), at
		}
		trusted = time.UnixMilli(min(high, at))
		_, err = w.ExecContext(ctx, `UPDATE retention_clock SET trusted = ?, doubted = ?`, high, doubted)
		return err
	})
	if err != nil {
		return trusted, fmt.Errorf("store the time from which ages are computed: %w", err)
	}
	return trusted, nil
}

// recordEarlierCut adds a record for the records that earlier versions removed without one.
func recordEarlierCut(tx *sql.Tx) error {
	ctx := context.Background()
	var cut Cut
	err := tx.QueryRowContext(ctx, `SELECT cut_seq, cut_hash FROM journal_ends WHERE cut_seq > 0`).Scan(&cut.ThroughSeq, &cut.ThroughHash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the front of the journal: %w", err)
	}
	cut.Count = cut.ThroughSeq
	return addCut(ctx, tx, time.Now().UnixMilli(), cut)
}
