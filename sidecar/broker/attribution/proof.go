package attribution

import (
	"slices"
	"sync"

	"assent/protocol"
)

// proof is what is known about the calls that may have caused a request.
type proof struct {
	// causes are the calls of which one caused the request, or may have.
	causes []*Call
	// Candidates returns the calls that may have caused the request, as of now, without the titles of tasks. It may be
	// called from any goroutine, and must not call a Queue.
	Candidates func() []protocol.AskCandidate
}

// Attribute returns the task of a request that has just come, or nothing if there is no proof. If the request came in the
// stream of a call, of is that call. The uses are the last of the server, for the case that no call is in flight.
//
// Attribute sets the request's Origin and Candidates. If there is no proof, the Origin names the server alone.
func (l *Ledger) Attribute(r *Request, of *Call, uses []*Call) (taskID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attributeLocked(r, of, uses)
}

func (l *Ledger) attributeLocked(r *Request, of *Call, uses []*Call) (taskID string) {
	taskID, r.causes = l.proveLocked(of)
	r.Candidates = func() []protocol.AskCandidate { return l.candidates(r.causes, uses) }
	if taskID != "" {
		r.Origin = origin(r.Origin.ServerName, r.causes)
	}
	return taskID
}

// proveLocked returns the task of a request that has just come, and the calls of which one caused it, or may have if the
// task is empty. The request ends when all of them have ended. If it came in the stream of a call, of is that call. A proof
// is one of these:
//
//   - The stream of a POST is its call's (2025-11-25, "Transports: Streamable HTTP").
//   - A connection that one task alone uses is that task's.
//   - On a connection that several use, the calls in flight are all of one task. In this era a server asks
//     "nested inside other MCP server features" ("Elicitation", "Sampling"), that is while it serves a
//     request; so one of these caused it. A call that was given up may be served still, and counts. This does not
//     hold for requests in the stream of its own that a server has over Streamable HTTP: that "SHOULD be
//     unrelated to any concurrently-running request".
//
// What a request says in "_meta" proves nothing except for related-task, which was looked at before: a progressToken there
// is the server's own, under which it wants our progress.
func (l *Ledger) proveLocked(of *Call) (taskID string, causes []*Call) {
	switch {
	case of != nil && of.answered && of.mcpTask == "": // and its stream goes on
		return of.TaskID, nil
	case of != nil:
		return of.TaskID, []*Call{of}
	case l.taskID != "":
		return l.taskID, slices.Clone(l.calls)
	}
	causes = slices.Concat(l.calls, l.givenUp)
	if len(causes) == 0 || l.streamable {
		return "", causes
	}
	for _, one := range causes {
		if one.TaskID != causes[0].TaskID {
			return "", causes
		}
	}
	return causes[0].TaskID, causes
}

// origin returns the origin of a request: the server, during a call or, if that is not known, during one of several.
func origin(serverName string, calls []*Call) protocol.Origin {
	o := protocol.Origin{ServerName: serverName}
	for _, one := range calls {
		o.MessageID, o.ResourceURI = one.MessageID, one.ResourceURI
		if one.ToolName != "" && !slices.Contains(o.ToolNames, one.ToolName) {
			o.ToolNames = append(o.ToolNames, one.ToolName)
		}
	}
	if len(calls) > 1 {
		o.MessageID, o.ResourceURI = 0, ""
	}
	return o
}

// mayAskLocked reports whether the server may be at work on a call.
func (l *Ledger) mayAskLocked(one *Call) bool {
	return slices.Contains(l.calls, one) || slices.Contains(l.givenUp, one)
}

const (
	// maxCandidates bounds the choice of a person.
	maxCandidates = 200
	// maxUses bounds it if no call was in flight: an older use is hardly the cause.
	maxUses = 10
)

// candidates returns the calls that may still be the cause, the oldest first; or the last uses if no call was in flight.
func (l *Ledger) candidates(causes, uses []*Call) []protocol.AskCandidate {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []protocol.AskCandidate
	oldest := func(a, b *Call) int { return a.Since.Compare(b.Since) }
	for _, one := range slices.SortedFunc(slices.Values(causes), oldest) {
		if l.mayAskLocked(one) {
			all = append(all, one.candidate())
		}
	}
	if len(causes) == 0 {
		for _, one := range uses {
			all = append(all, one.candidate())
		}
	}
	return all[:min(len(all), maxCandidates)]
}

// Uses holds the last use of a server by each task. The zero value is ready to use. It may be used from any goroutine.
type Uses struct {
	mu   sync.Mutex // guards last
	last []*Call    // the newest first
}

// Note notes that a task uses the server.
func (u *Uses) Note(one *Call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forgetLocked(one.TaskID)
	u.last = slices.Insert(u.last, 0, one)
	u.last = u.last[:min(len(u.last), maxUses)]
}

// Forget forgets that a task used the server.
func (u *Uses) Forget(taskID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forgetLocked(taskID)
}

func (u *Uses) forgetLocked(taskID string) {
	u.last = slices.DeleteFunc(u.last, func(one *Call) bool { return one.TaskID == taskID })
}

// Last returns the last use by each task, the newest first.
func (u *Uses) Last() []*Call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.last)
}
