package session

import (
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"
)

// A server may write logBurst lines to the log at once, and then logRate lines a second.
const (
	logRate  = 50
	logBurst = 500
)

// sampledLog is the log of a connection. It samples a server's log messages, its stderr and its invalid lines: if there
// are too many, it drops some. The next line that it writes, or the end of the connection, reports how many were
// dropped.
type sampledLog struct {
	zerolog.Logger // not sampled, for Assent's own messages about the server
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

// Run implements [zerolog.Hook]: it adds how many lines were dropped before this one.
func (n *sampledLog) Run(event *zerolog.Event, _ zerolog.Level, _ string) {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		event.Int64("droppedBefore", dropped)
	}
}

// end logs how many lines were dropped after the last written one.
func (n *sampledLog) end() {
	if dropped := n.dropped.Swap(0); dropped > 0 {
		n.Info().Int64("dropped", dropped).Msg("left out lines of a server that wrote too many")
	}
}
