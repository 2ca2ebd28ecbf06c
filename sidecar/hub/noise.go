package hub

import (
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// What a server may write into the log: so many lines a second, after a first burst.
const (
	noiseRate  = 50
	noiseBurst = 500
)

// noise is what a server says to nobody in particular: its log, its stderr, what is no message. A server
// that floods costs the log no more than it is worth.
type noise struct {
	log     zerolog.Logger
	limiter *rate.Limiter
	dropped atomic.Int64
}

func newNoise(log zerolog.Logger) *noise {
	return &noise{log: log, limiter: rate.NewLimiter(noiseRate, noiseBurst)}
}

// at begins a line, or returns nil, which takes everything and writes nothing.
func (n *noise) at(level zerolog.Level) *zerolog.Event {
	if !n.limiter.Allow() {
		n.dropped.Add(1)
		return nil
	}
	event := n.log.WithLevel(level)
	if dropped := n.dropped.Swap(0); dropped > 0 {
		event = event.Int64("droppedBefore", dropped)
	}
	return event
}
