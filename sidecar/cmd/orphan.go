package cmd

import (
	"context"
	"time"
)

// parentPoll is how often the parent is looked for.
const parentPoll = time.Second

// untilOrphaned calls cancel when the parent has died. Closing stdin says the same sooner, unless
// another of the parent's children holds the other end.
func untilOrphaned(ctx context.Context, cancel context.CancelFunc) {
	alive, err := parent()
	if err != nil {
		return // it died before we looked: stdin will tell
	}
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
