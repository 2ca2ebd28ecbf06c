package session

import (
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// How many lines a second a server may write into the log, after a first burst.
const (
	logRate  = 50
	logBurst = 500
)

// sampledLog is the log of a connection. It samples a server's log messages, its stderr and its invalid lines: it leaves out
// lines if there are too many, and the next line that it writes, or the end of the connection, says how many.
type sampledLog struct {
	zerolog.Logger // without a bound, for what Assent says of the server
	sampled        zerolog.Logger
	limiter        *rate.Limiter
	dropped        atomic.Int64
}

func newSampledLog(log zerolog.Logger) *sampledLog {
	n := &sampledLog{Logger: log, limiter: rate.NewLimiter(logRate, logBurst)}
	n.sampled = log.Sample(n).Hook(n)
	return n
}

// Sample implements [zerolog.Sampler]: it reports whether a line is written.
func (n *sampledLog) Sample(zerolog.Level) bool {
	ok := n.limiter.Allow()
	if !ok {
		n.dropped.Add(1)
	}
	return ok
}

// Run implements [zerolog.Hook]: it adds how many lines were left out before this one.
func (n *sampledLog) Run(event *zerolog.Event, _ zerolog.Level, _ string) {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		event.Int64("droppedBefore", dropped)
	}
}

// end logs how many lines were left out after the last written one.
func (n *sampledLog) end() {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		n.Info().Int64("dropped", dropped).Msg("left out lines of a server that wrote too many")
	}
}
