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

// noise is the log of a server's log messages, its stderr and its invalid lines. Of too many lines it writes a part. The
// next line that it writes, or the end of the connection, says how many it left out.
type noise struct {
	// log is the log with the bound. Every line of it counts.
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

// end says how many lines were left out after the last one that was written.
func (n *noise) end() {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		n.all.Info().Int64("dropped", dropped).Msg("left out lines of a server that wrote too many")
	}
}
