// Package retention keeps things for as many days as a setting says. It knows when that is over, not what is removed
// then, and has no state.
package retention

import (
	"context"
	"time"
)

// sweepEvery is how often is looked for what is too old.
const sweepEvery = 24 * time.Hour

// maxDays is more than anybody means, and a date can still be reckoned from it.
const maxDays = 1000 * 365

// Keep calls remove with a number of days, and with the time that was so long ago, in milliseconds since the Unix
// epoch: whenever the setting comes over the channel, and once a day from then on. 0 keeps all for ever. It returns
// when ctx ends; an error of remove before that goes to failed.
func Keep(ctx context.Context, setting <-chan int, now func() time.Time, remove func(ctx context.Context, days int, before int64) error, failed func(error)) {
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
		if days <= 0 {
			continue
		}
		if err := remove(ctx, days, now().AddDate(0, 0, -min(days, maxDays)).UnixMilli()); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}
