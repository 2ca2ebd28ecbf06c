package journal

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/task/retention"
	"assent/sidecar/task/store"
)

// DefaultKeepDays is how many days records are kept, unless the person has set another number.
const DefaultKeepDays = 90

// Keep removes records that are older than the setting in days, as [retention.Keep] calls it.
func Keep(ctx context.Context, open func() (*store.Store, error), setting <-chan int, now func() time.Time, log zerolog.Logger) {
	clock := func(ctx context.Context, now time.Time) (time.Time, error) {
		s, err := open()
		if err != nil {
			return time.Time{}, err
		}
		return s.RetentionTime(ctx, now)
	}
	retention.Keep(ctx, setting, now, clock, func(ctx context.Context, now time.Time, _ int, before int64) error {
		s, err := open()
		if err == nil {
			_, err = s.CutJournal(ctx, before, now.UnixMilli())
		}
		return err
	}, func(err error) { log.Error().Err(err).Msg("old records of the journal were not removed") })
}
