package journal

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/store"
)

// DefaultKeepDays is for how many days records are kept, unless the person has set another number.
const DefaultKeepDays = 90

// sweepEvery is how often records are looked for that are too old.
const sweepEvery = 24 * time.Hour

// maxDays is more than anybody means, and a date can still be reckoned from it.
const maxDays = 1000 * 365

// Keep cuts off the records that are older than so many days: whenever the setting comes over the
// channel, and once a day from then on. 0 keeps them for ever. It returns when ctx ends.
func Keep(ctx context.Context, open func() (*store.Store, error), setting <-chan int, now func() time.Time, log zerolog.Logger) {
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
		s, err := open()
		if err == nil {
			_, err = s.CutJournal(ctx, now().AddDate(0, 0, -min(days, maxDays)).UnixMilli())
		}
		if err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg("old records of the journal were not removed")
		}
	}
}
