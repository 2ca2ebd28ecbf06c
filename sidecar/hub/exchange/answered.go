package exchange

import (
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// answeredRound is a round of which the person has answered every question. Its saved state is deleted immediately before
// the answers are written: until then the next sidecar can send them, and from then on none does, so that they are never
// sent twice. All methods may be called from any goroutine, and do nothing for a nil round.
type answeredRound struct {
	asked []*attribution.Request
	// saved is the round as the call's owner saved it; nil if it saves none.
	saved *task.Round

	mu sync.Mutex // guards the fields below
	// written is set before the answers are written, kept once the next sidecar is to send them.
	written, kept bool
}

// errKept fails a request of which the next sidecar sends the answers.
var errKept = errors.New("the answers are sent with the next start of Assent")

// send deletes the saved round, because its answers are about to be written.
func (a *answeredRound) send(save func(*task.Round)) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept {
		return errKept
	}
	if !a.written && a.saved != nil {
		save(nil)
	}
	a.written = true
	return nil
}

// saveAgain saves the round again, because the server did not get its answers or may get them twice.
func (a *answeredRound) saveAgain(save func(*task.Round)) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.written && a.saved != nil {
		save(a.saved)
	}
	a.written = false
}

// keep leaves the answers to the next sidecar, if they were saved and not written.
func (a *answeredRound) keep() bool {
	if a == nil || a.saved == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = !a.written
	return a.kept
}

// isUnsent reports whether the answers were not written.
func (a *answeredRound) isUnsent() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.written
}

// inDoubt reports whether the answers were written and err leaves open whether the server got them. An answer of the
// server shows that it did, also one that cannot be used.
func (a *answeredRound) inDoubt(err error) bool {
	return a != nil && err != nil && !a.isUnsent() && !errors.As(err, new(*jsonrpc.Error)) && !session.IsUnread(err) &&
		!errors.As(err, new(session.BadAnswerError))
}

// undelivered tells the asks why the server did not get their answers.
func (a *answeredRound) undelivered(why error) {
	for _, r := range a.asked {
		r.Delivered(why)
	}
}
