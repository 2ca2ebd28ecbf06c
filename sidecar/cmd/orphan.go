package cmd

import (
	"context"
	"time"
)

// parentPoll is how often the parent is looked for.
const parentPoll = 5 * time.Second

// untilOrphaned returns what calls cancel when the parent has died. It looks who the parent is before it returns: later
// that may be another process. Closing stdin says the same sooner, unless another of the parent's children holds the other
// end.
func untilOrphaned(ctx context.Context, cancel context.CancelFunc) (watch func()) {
	alive, err := parent()
	if err != nil {
		return func() {} // it died before we looked: stdin will tell
	}
	return func() {
		ticker := time.NewTicker(parentPoll)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if !alive() {
					cancel()
					return
				}
			}
		}
	}
}
