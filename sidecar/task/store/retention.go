package store

import (
	"context"
	"fmt"
	"time"
)

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
		// The clock can be right: no doubt is left.
		case high == 0 || at-high <= longestPause.Milliseconds():
			high, doubted = max(high, at), 0
		// The first doubt, or the clock was put back since: the pause begins now.
		case doubted == 0 || doubted > at:
			doubted = at
		// The clock has stayed ahead for the whole pause.
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
