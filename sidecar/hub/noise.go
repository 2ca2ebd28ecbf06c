package hub

import (
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// How many lines a second a server may write into the log, after a first burst.
const (
	noiseRate  = 50
	noiseBurst = 500
)

// noise logs a server's log messages, its stderr and its invalid lines. It leaves out lines if there are too many; the next
// line that it writes, or the end of the connection, says how many.
type noise struct {
	// log is the bounded log, and all the log behind it.
	log     zerolog.Logger
	all     zerolog.Logger
	limiter *rate.Limiter
	dropped atomic.Int64
}

func newNoise(log zerolog.Logger) *noise {
	n := &noise{all: log, limiter: rate.NewLimiter(noiseRate, noiseBurst)}
	n.log = log.Sample(n).Hook(n)
	return n
}

// Sample implements [zerolog.Sampler]: it reports whether a line is written.
func (n *noise) Sample(zerolog.Level) bool {
	ok := n.limiter.Allow()
	if !ok {
		n.dropped.Add(1)
	}
	return ok
}

// Run implements [zerolog.Hook]: it adds how many lines were left out before this one.
func (n *noise) Run(event *zerolog.Event, _ zerolog.Level, _ string) {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		event.Int64("droppedBefore", dropped)
	}
}

// end logs how many lines were left out after the last written one.
func (n *noise) end() {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		n.all.Info().Int64("dropped", dropped).Msg("left out lines of a server that wrote too many")
	}
}
