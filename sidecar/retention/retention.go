// Package retention keeps things for as many days as a setting says. It knows when that is over, not what is removed
// then, and has no state.
package retention

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweepEvery is how often is looked for what is too old.
const sweepEvery = 24 * time.Hour

// maxDays is more than anybody means, and a date can still be reckoned from it.
const maxDays = 1000 * 365

// Clock returns the time from which ages are computed: now, or an earlier time if the system's clock seems to be wrong.
type Clock func(ctx context.Context, now time.Time) (trusted time.Time, err error)

// Keep calls remove with the system's time, a number of days, and the time that was that many days ago by the clock, in
// milliseconds since the Unix epoch: whenever the setting comes over the channel, and once a day from then on. 0 keeps
// all for ever. It returns when ctx ends. Errors of the clock and of remove before that go to failed, and so does an
// error that says that the system's clock is not trusted.
func Keep(ctx context.Context, setting <-chan int, now func() time.Time, clock Clock, remove func(ctx context.Context, now time.Time, days int, before int64) error, failed func(error)) {
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

func sweep(ctx context.Context, now time.Time, days int, clock Clock, remove func(ctx context.Context, now time.Time, days int, before int64) error) error {
	trusted, err := clock(ctx, now) // even if nothing is removed: the clock must see that time passes
	if err != nil || days <= 0 {
		return err
	}
	err = remove(ctx, now, days, trusted.AddDate(0, 0, -min(days, maxDays)).UnixMilli())
	if ahead := now.Sub(trusted) / (24 * time.Hour); ahead > 0 {
		err = errors.Join(fmt.Errorf("the clock is %d days ahead of the last time that Assent was running: until so many days have certainly passed, ages are computed from %s",
			ahead, trusted.UTC().Format(time.DateOnly)), err)
	}
	return err
}
