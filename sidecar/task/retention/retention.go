// Package retention decides when data is older than a setting allows, and calls a function that removes it. It has no
// state.
package retention

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepEvery is the pause between two removals.
const sweepEvery = 24 * time.Hour

// maxDays bounds the setting, so that the date that many days ago can be computed.
const maxDays = 1000 * 365

// Clock returns the time from which ages are computed: now, or an earlier time if the system's clock seems to be wrong.
type Clock func(ctx context.Context, now time.Time) (trusted time.Time, err error)

// Remove removes data from before a time, which was that many days ago by a [Clock], in milliseconds since the Unix
// epoch. Now is the system's time.
type Remove func(ctx context.Context, now time.Time, days int, before int64) error

// Keep calls remove when a number of days comes over the channel, and once a day from then on. 0 days keeps everything for
// ever. Keep returns when ctx ends. Failed gets the errors of clock and remove before that, and an error each time that the
// system's clock is not trusted.
func Keep(ctx context.Context, setting <-chan int, now func() time.Time, clock Clock, remove Remove, failed func(error)) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	days := 0
	for {
		select {
		case <-ctx.Done():
			return
		case days = <-setting:
		case <-ticker.C:
		}
		if err := sweep(ctx, now(), days, clock, remove); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

func sweep(ctx context.Context, now time.Time, days int, clock Clock, remove Remove) error {
	trusted, err := clock(ctx, now) // even if nothing is removed, because the clock must notice the passing of time
	if err != nil || days <= 0 {
		return err
	}
	err = remove(ctx, now, days, trusted.AddDate(0, 0, -min(days, maxDays)).UnixMilli())
	if ahead := now.Sub(trusted) / (24 * time.Hour); ahead > 0 {
		err = errors.Join(fmt.Errorf("the clock is %d days ahead of the last time that Assent was running: ages are computed from %s, and that date follows by seven days a day",
			ahead, trusted.UTC().Format(time.DateOnly)), err)
	}
	return err
}
