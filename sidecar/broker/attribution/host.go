package attribution

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Host is the program for which a call runs: an MCP host that uses Assent as its server. It can be asked in place of the
// person at a front end. A call of Assent's own has no host. All methods may be called from any goroutine.
type Host struct {
	// Name is for the person: "Claude Code".
	Name string
	// Forward reports that the person wants the host asked. Without it the host is asked only for its folders.
	Forward bool
	// HeadStart is for how long the host alone is asked. Then the question is open in Assent too.
	HeadStart time.Duration
	// Capabilities are what modern servers are told that the client can do; nil means Assent's own.
	Capabilities json.RawMessage
	// CallsTools reports whether the host's models can call tools.
	CallsTools bool
	// LogLevel is the level of the log messages that the host wants; empty if it named none.
	LogLevel string
	// Notify sends the host a notification that belongs to the call. It does not block.
	Notify func(method string, params json.RawMessage)
	// Ask sends the host a request of the server, such as elicitation/create, and returns its result. Once Ask has
	// called [Slot.Pass] of the request, the next request may be asked. The error is [ErrHostDeclined], or says why
	// the host gives no answer.
	Ask func(ctx context.Context, r *Request) (json.RawMessage, error)
	// Hold keeps questions from the host until release is called, so that it gets them together.
	Hold func() (release func())
}

// rootsTimeout bounds how long a host may take to tell its folders.
const rootsTimeout = 30 * time.Second

// Roots asks the host for its folders, and returns the result of roots/list.
func (h *Host) Roots(ctx context.Context, r *Request) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	return h.Ask(ctx, r)
}

// ErrHostDeclined says that the person refused the request in the host.
var ErrHostDeclined = errors.New("the person declined in the host")

// Hosts returns the hosts of the calls in flight: one for each task.
func (l *Ledger) Hosts() []*Host {
	l.mu.Lock()
	defer l.mu.Unlock()
	var hosts []*Host
	seen := map[string]bool{}
	for _, one := range l.calls {
		if one.Host != nil && !seen[one.TaskID] {
			seen[one.TaskID] = true
			hosts = append(hosts, one.Host)
		}
	}
	return hosts
}

// ForwardsTo returns the host that gets the request, or nil if only Assent asks the person.
func (r *Request) ForwardsTo() *Host {
	h := r.Host
	for _, one := range r.causes {
		if h == nil && r.Task != nil && one.TaskID == r.Task.ID() {
			h = one.Host
		}
	}
	if h == nil || !h.Forward {
		return nil
	}
	return h
}
