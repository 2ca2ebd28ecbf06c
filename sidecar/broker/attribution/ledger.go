package attribution

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assent/protocol"
)

// Call is a request of ours that may cause requests of the server.
type Call struct {
	TaskID      string
	ToolName    string // empty if it is no tool call
	ResourceURI string // empty if no resource is read
	PromptName  string // empty if no prompt is filled in
	MessageID   int64
	Since       time.Time
	Host        *Host // for which the call runs; nil if it is Assent's own

	// ctx ends when the call is cancelled; it is stored because it is the call's lifetime.
	ctx context.Context
	// end is callAnswered or callGivenUp once the call is over.
	end atomic.Int32
	// refused is set if the server sent a request while it served the call, in a version that has none.
	refused atomic.Bool
	// done is closed when the call is over and its asks are served.
	done chan struct{}

	// The ledger's lock guards the fields below.

	// answered is set with the answer. Later requests of the server do not belong to the call.
	answered bool
	// mcpTask is the id of the MCP task that the answer made of the call, or empty. The task then owns the call's questions.
	mcpTask string
	// over is set when the caller no longer waits for the call or for the MCP task that it became.
	over bool
	// ended are the requests that ended with the call.
	ended []*openRequest
}

// How a call ends.
const (
	callAnswered int32 = iota + 1
	callGivenUp        // without an answer: the server may serve it still
)

// Refused reports whether the server sent a request while it served the call, in a version of MCP that has none.
func (one *Call) Refused() bool { return one.refused.Load() }

// Done is closed when the call is over and its asks are served.
func (one *Call) Done() <-chan struct{} { return one.done }

// isBeingCancelled reports whether the call is cancelled and the cancellation is about to be sent. The ledger's lock must
// be held.
func (one *Call) isBeingCancelled() bool {
	return !one.over && (!one.answered || one.mcpTask != "") && one.ctx.Err() != nil
}

func (one *Call) candidate() protocol.AskCandidate {
	state := protocol.CandidateInFlight
	switch one.end.Load() {
	case callAnswered:
		state = protocol.CandidateEnded
	case callGivenUp:
		state = protocol.CandidateGivenUp
	}
	return protocol.AskCandidate{
		TaskID: one.TaskID, MessageID: one.MessageID,
		ToolName: one.ToolName, ResourceURI: one.ResourceURI, PromptName: one.PromptName,
		Since: one.Since.UnixMilli(), State: state,
	}
}

// maxGivenUp bounds how many calls are remembered that the server may serve still.
const maxGivenUp = 100

// Ledger holds the calls on one connection, and the open requests that they may have caused.
type Ledger struct {
	// Order is the order in which the server asks on the connection.
	Order Sequence
	// ctx is the connection's lifetime, and its cause says why it ended.
	ctx context.Context

	mu         sync.Mutex // guards the fields below
	taskID     string     // of the only task that uses the connection; empty if several do, or none yet
	modern     bool       // the server sends no requests
	streamable bool       // a call's requests come in the call's own stream
	calls      []*Call    // in flight
	givenUp    []*Call    // ended without an answer while several tasks used the connection, the oldest first
	open       map[*openRequest]struct{}
}

// NewLedger returns the ledger of a connection that one task alone uses, or of one for several tasks if taskID is empty. The
// context is the connection's.
func NewLedger(ctx context.Context, taskID string) *Ledger {
	return &Ledger{ctx: ctx, taskID: taskID, open: map[*openRequest]struct{}{}}
}

// TaskID returns the only task that uses the connection; it is empty if several do, or none yet.
func (l *Ledger) TaskID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taskID
}

// Own gives the connection to one task.
func (l *Ledger) Own(taskID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taskID = taskID
}

// ShareModern notes that the server needs no session: all tasks use the connection, and the server sends no requests.
func (l *Ledger) ShareModern() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taskID, l.modern = "", true
}

// SetStreamable says whether a call's requests come in the call's own stream.
func (l *Ledger) SetStreamable(streamable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streamable = streamable
}

// Begin notes a call in flight. The context ends when the call is cancelled.
func (l *Ledger) Begin(ctx context.Context, one *Call) {
	one.ctx, one.done = ctx, make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, one)
}

// Answered notes the answer to a call, and the MCP task that it made of the call, if any. It is called in the order of the
// frames, so that a request after the answer is not taken for the call's. The call's requests end, unless they belong to the
// MCP task now. It returns false if the caller no longer waits for the call.
func (l *Ledger) Answered(one *Call, mcpTask string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.over {
		return false
	}
	one.end.Store(callAnswered)
	one.answered, one.mcpTask = true, mcpTask
	l.removeLocked(one)
	if mcpTask == "" {
		l.endRequestsLocked(one, nil)
	}
	return true
}

// McpTask returns the id of the MCP task that the answer made of a call, or nothing.
func (l *Ledger) McpTask(one *Call) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return one.mcpTask
}

// End notes that the caller no longer waits for a call, or for the MCP task that it became. The cause is that of its
// cancellation, or nil. The requests that can belong to no other call end, and have their outcome when End returns.
func (l *Ledger) End(one *Call, cause error) {
	l.mu.Lock()
	one.over = true
	l.removeLocked(one)
	if one.end.CompareAndSwap(0, callGivenUp) {
		l.giveUpLocked(one)
	}
	l.endRequestsLocked(one, cause)
	ended := one.ended
	l.mu.Unlock()
	for _, o := range ended {
		<-o.done
	}
	close(one.done)
}

func (l *Ledger) removeLocked(one *Call) {
	l.calls = slices.DeleteFunc(l.calls, func(other *Call) bool { return other == one })
}

// giveUpLocked notes that a call ended without an answer: if several tasks use the connection, it may have caused what the
// server asks from now on.
func (l *Ledger) giveUpLocked(one *Call) {
	if l.taskID != "" || l.modern || one.TaskID == "" {
		return
	}
	l.givenUp = append(l.givenUp, one)
	l.givenUp = l.givenUp[max(0, len(l.givenUp)-maxGivenUp):]
}

// Busy reports whether a call is in flight.
func (l *Ledger) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls) > 0
}

// BeingCancelled returns the cancelled calls of which the server does not know that yet.
func (l *Ledger) BeingCancelled() []*Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.calls), func(one *Call) bool { return !one.isBeingCancelled() })
}

// Refuse reports whether the server speaks a version in which it sends no requests. It then marks the call in
// the stream of which a request came, or every call if that is nil; see [Call.Refused].
func (l *Ledger) Refuse(of *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.modern:
		return false
	case of != nil:
		of.refused.Store(true)
	default:
		for _, one := range l.calls {
			one.refused.Store(true)
		}
	}
	return true
}
