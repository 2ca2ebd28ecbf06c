package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task"
)

// Unclaimed is a request of a server that nothing proves to be of one task.
type Unclaimed struct {
	broker.Unclaimed
	// Candidates returns who may have caused it, as of now, without the titles of tasks. It may be called
	// from any goroutine.
	Candidates func() []protocol.AskCandidate
	// Queued is to be called once the request has its place among those that wait.
	Queued func()
}

// Place is where a person put a request.
type Place struct {
	TaskID string
	// MessageID is of the candidate's call, where that is in flight; or 0.
	MessageID int64
	// By names the front end in which the person said so.
	By string
	// Asked is called once it is certain what came of it: with the message of the ask, or 0 where there is
	// none. Later calls change nothing.
	Asked func(messageID int64)
}

// proof is whose a request of a server's is, as far as that is known.
type proof struct {
	// taskID is empty where nothing proves it.
	taskID string
	// calls are those of which one caused it, or without a proof may have. Nobody waits for it once they have
	// all ended.
	calls []*call
}

// prove says whose a request of the server's is that came now; of is the call in whose own stream it came,
// or nil. It has one of these proofs, and no other:
//
//   - The stream of a POST is its call's (2025-11-25, "Transports: Streamable HTTP").
//   - A connection that one task alone uses is that task's.
//   - On a connection that several use, the calls in flight are all of one task. In this era a server asks
//     "nested inside other MCP server features" ("Elicitation", "Sampling"), that is while it serves a
//     request; so one of these caused it. A call that was given up may be served still, and counts. Not so
//     for what comes in the stream of its own that a server has over Streamable HTTP: that "SHOULD be
//     unrelated to any concurrently-running request".
//
// What a request says in "_meta" proves nothing but for related-task, which was looked at before: a
// progressToken there is the server's own, under which it wants to be told of our progress.
//
// The lock must be held.
func (c *conn) prove(of *call) proof {
	switch {
	case of != nil && of.answered && of.became == nil: // and its stream goes on
		return proof{of.taskID, nil}
	case of != nil:
		return proof{of.taskID, []*call{of}}
	case c.taskID != "":
		return proof{c.taskID, slices.Clone(c.calls)}
	}
	causes := slices.Concat(c.calls, c.givenUp)
	if len(causes) == 0 || c.streamable {
		return proof{"", causes}
	}
	for _, call := range causes {
		if call.taskID != causes[0].taskID {
			return proof{"", causes}
		}
	}
	return proof{causes[0].taskID, causes}
}

// origin says who asks: the server, during a call or, where that is not known, during one of these.
func (c *conn) origin(calls []*call) protocol.Origin {
	origin := protocol.Origin{ServerName: c.server.config.Name}
	for _, call := range calls {
		origin.MessageID, origin.ResourceURI = call.messageID, call.resourceURI
		if call.toolName != "" && !slices.Contains(origin.ToolNames, call.toolName) {
			origin.ToolNames = append(origin.ToolNames, call.toolName)
		}
	}
	if len(calls) > 1 {
		origin.MessageID, origin.ResourceURI = 0, ""
	}
	return origin
}

// suspects are who may have caused a request of which nothing proves whose it is, as of when it came.
type suspects struct {
	// calls are those in flight, and those that were given up.
	calls []*call
	// uses are the last of the server by each task, the newest first; for where there are no calls.
	uses []*call
}

// unproven serves a request of which nothing proves whose it is: the person says so. Where a is not nil it
// is the request's, and belongs to the call that they name from then on. Until, where it is not zero, is when
// the server gives up.
func (c *conn) unproven(ctx context.Context, q *question, method string, who suspects, a *asking, until time.Time, params json.RawMessage) (any, error) {
	opts := c.server.hub.opts
	if opts.Whose == nil {
		return nil, errNoTask
	}
	place := Place{Asked: func(int64) {}}
	defer func() { place.Asked(0) }() // whoever placed it need not wait for more
	return opts.Broker.ServeUnclaimed(ctx, c.server.config.Name, method, params, func(ctx context.Context, u broker.Unclaimed) (broker.Asker, protocol.Origin, error) {
		c.log.Info().Str("method", method).Int("calls", len(who.calls)).Msg("nothing proves whose question it is")
		p, err := opts.Whose(ctx, Unclaimed{u, func() []protocol.AskCandidate { return c.candidates(who) }, q.slot.pass})
		if err != nil {
			c.log.Info().Err(err).Msg("nobody said whose question it is")
			return nil, protocol.Origin{}, err
		}
		place = p
		t, err := opts.Task(p.TaskID)
		if err != nil {
			return nil, protocol.Origin{}, err
		}
		chosen := slices.DeleteFunc(slices.Clone(who.calls), func(call *call) bool {
			return call.taskID != p.TaskID || call.messageID != p.MessageID
		})
		c.narrow(a, chosen)
		origin := c.origin(chosen)
		origin.PlacedBy = p.By
		var asker Asker = &placed{Asker: t, asked: p.Asked}
		if !until.IsZero() {
			asker = waiter{asker, until}
		}
		return q.of(c.server.visiting(asker, params)), origin, nil
	})
}

// narrow has a question belong to the call that a person named. Where it belongs to none, it ends with its
// request.
func (c *conn) narrow(a *asking, chosen []*call) {
	if a == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asks, a)
	a.withdrawn = false
	if a.calls = chosen; len(chosen) == 0 {
		return
	}
	c.asks[a] = struct{}{}
	if !slices.ContainsFunc(chosen, c.mayAsk) {
		a.cancel(callEnded(nil)) // between the choice and now
	}
}

// mayAsk reports whether the server may be at work on a call. The lock must be held.
func (c *conn) mayAsk(one *call) bool {
	return slices.Contains(c.calls, one) || slices.Contains(c.givenUp, one)
}

// maxGivenUp bounds how many calls are remembered that may be served still.
const maxGivenUp = 100

// giveUp notes that a call ended without an answer: on a connection that several tasks use, it is one of
// those that may have caused what the server asks from now on. The lock must be held.
func (c *conn) giveUp(entry *call) {
	if c.taskID != "" || c.isModern || entry.taskID == "" {
		return
	}
	c.givenUp = append(c.givenUp, entry)
	c.givenUp = c.givenUp[max(0, len(c.givenUp)-maxGivenUp):]
}

// placed is a task in which a person put a question; asked is told of its ask, and not of those that it
// leads to.
type placed struct {
	Asker
	asked func(messageID int64)
}

// Ask implements [Asker].
func (p *placed) Ask(ctx context.Context, q task.Question) (*task.Answer, error) {
	q.Asked, p.asked = p.asked, nil
	return p.Asker.Ask(ctx, q)
}

const (
	// maxCandidates bounds what a person is to choose from.
	maxCandidates = 200
	// maxUses bounds it where no call was in flight: what was used before that is hardly the one.
	maxUses = 10
)

// candidates returns who of the suspects may still be the one: calls that are not over, the oldest first, or
// else the last uses.
func (c *conn) candidates(who suspects) []protocol.AskCandidate {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []protocol.AskCandidate
	oldest := func(a, b *call) int { return a.since.Compare(b.since) }
	for _, one := range slices.SortedFunc(slices.Values(who.calls), oldest) {
		if c.mayAsk(one) {
			all = append(all, one.candidate())
		}
	}
	if len(who.calls) == 0 {
		for _, one := range who.uses {
			all = append(all, one.candidate())
		}
	}
	return all[:min(len(all), maxCandidates)]
}

func (one *call) candidate() protocol.AskCandidate {
	state := protocol.CandidateInFlight
	switch one.end.Load() {
	case callAnswered:
		state = protocol.CandidateEnded
	case callGivenUp:
		state = protocol.CandidateGivenUp
	}
	return protocol.AskCandidate{
		TaskID: one.taskID, MessageID: one.messageID,
		ToolName: one.toolName, ResourceURI: one.resourceURI, PromptName: one.promptName,
		Since: one.since.UnixMilli(), State: state,
	}
}

// noteUse notes that a task uses the server.
func (s *server) noteUse(one *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetUsesLocked(one.taskID)
	s.uses = slices.Insert(s.uses, 0, one)
	s.uses = s.uses[:min(len(s.uses), maxUses)]
}

// forgetUsesLocked forgets that a task used the server.
func (s *server) forgetUsesLocked(taskID string) {
	s.uses = slices.DeleteFunc(s.uses, func(one *call) bool { return one.taskID == taskID })
}

// lastUses returns the last use by each task, the newest first.
func (s *server) lastUses() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uses)
}
