// Package recovery continues a task after the sidecar that owned it ended.
//
// Calls that are MCP tasks, and calls that their server has answered with questions, continue with their asks. All
// other requests are lost, and their messages end with that reason. [Run] changes a [tasklog.Log] and its [ask.Asks]
// under the log's lock, which the caller holds. It starts no goroutine.
package recovery

import (
	"context"
	"strings"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// restarted is the detail of an ask or call that was open when Assent ended.
const restarted = "Assent was restarted."

// lost is why a call has no result: one text for every front end and host.
const lost = "Assent was restarted during the call. Whether the tool did its work is not known. Check before you call it again."

// recovery is the recovery of one task.
type recovery struct {
	log  *tasklog.Log
	asks *ask.Asks
	// live holds the messages that an earlier sidecar left live.
	live []store.Entry
	// rounds holds the rounds of calls that their server has answered with questions, by the
	// call's message.
	rounds map[int64]store.Round
	// doubtful holds the answered asks of calls that are lost: nothing shows that the server got their answers.
	doubtful map[int64]store.Entry
	// interrupted is set if a message says that the turn was interrupted.
	interrupted bool
}

// Run recovers a task that was not quiet, and returns the rounds of its calls by the call's message. The log's lock
// must be held.
func Run(ctx context.Context, log *tasklog.Log, asks *ask.Asks) (map[int64]store.Round, error) {
	r := &recovery{log: log, asks: asks}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	r.restoreAsks()
	if err := r.findDoubtful(ctx); err != nil {
		return nil, err
	}
	for i := range r.live {
		if e := &r.live[i]; !e.Damaged { // a damaged message stays in the store unchanged
			if err := r.recoverMessage(ctx, e); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range r.doubtful {
		r.recoverAsk(messageOf(&e), e.Message.Body.(protocol.Ask))
	}
	r.endTurn()
	return r.rounds, nil
}

// read reads the live messages and the rounds.
func (r *recovery) read(ctx context.Context) (err error) {
	if err = r.log.Count(ctx); err != nil {
		return err
	}
	s := r.log.Storage().Opened()
	if r.live, err = s.Live(ctx, r.log.Info.ID); err != nil {
		return err
	}
	r.rounds, err = s.Rounds(ctx, r.log.Info.ID)
	return err
}

// restoreAsks restores the asks of calls that continue. It comes first, so that the number of open asks is right
// whenever the task is saved.
func (r *recovery) restoreAsks() {
	running := r.runningPrefixes()
	r.log.Info.OpenAsks = 0
	for _, e := range r.live {
		body, ok := e.Message.Body.(protocol.Ask)
		if !ok || body.InputKey == "" {
			continue
		}
		for _, prefix := range running {
			if strings.HasPrefix(body.InputKey, prefix) {
				m := messageOf(&e)
				r.log.Keep(m)
				ask.Restore(r.asks, m, body)
				break
			}
		}
	}
}

// runningPrefixes returns the prefixes of the keys of all asks of calls that continue.
func (r *recovery) runningPrefixes() (prefixes []string) {
	for _, e := range r.live {
		call, ok := e.Message.Body.(protocol.Call)
		if !ok || r.log.Info.Closed {
			continue
		}
		if call.Task != nil {
			prefixes = append(prefixes, ask.McpTaskPrefix(call.ServerName, call.Task.TaskID))
		}
		if _, ok := r.rounds[e.Message.ID]; ok {
			prefixes = append(prefixes, ask.RoundPrefix(e.Message.ID))
		}
	}
	return prefixes
}

// messageOf returns the message of an entry, which is not live.
func messageOf(e *store.Entry) *tasklog.Message {
	return &tasklog.Message{Message: e.Message, AskID: e.AskID, Number: e.Number}
}

// recoverMessage recovers one message. A message that continues gets a new number only if it changes. A front end that
// reads the changes after a number has the message in the state of the earlier sidecar.
func (r *recovery) recoverMessage(ctx context.Context, e *store.Entry) error {
	switch body := e.Message.Body.(type) {
	case protocol.Call:
		r.recoverCall(messageOf(e), body)
	case protocol.ModelMessage:
		return r.recoverModelMessage(ctx, messageOf(e), body)
	case protocol.Ask:
		r.recoverAsk(messageOf(e), body)
	default:
		r.log.Renumber(messageOf(e))
	}
	return nil
}

// recoverCall keeps a call that continues, and ends any other.
func (r *recovery) recoverCall(m *tasklog.Message, call protocol.Call) {
	call.Progress = nil // progress is not stored
	if r.continues(m.ID, call) {
		m.Body, m.Live = call, true
		r.log.Renumber(m)
		return
	}
	call.EndedAt = r.now()
	call.Result = protocol.CallLost{Reason: lost}
	m.Body = call
	r.log.RecordChange(m, protocol.CallEnded{MessageID: m.ID, EndedAt: call.EndedAt, Result: call.Result})
	r.log.Renumber(m)
}

// recoverAsk keeps an ask that [recovery.restoreAsks] restored. It settles any other open ask as restarted. A sampling
// request that a model was answering ends with a failure.
func (r *recovery) recoverAsk(m *tasklog.Message, body protocol.Ask) {
	if kept := r.log.Message(m.ID); kept != nil {
		if body.WaitsUntil != 0 || ask.IsCompleting(r.asks, body.InputKey) {
			r.log.Renumber(kept)
		}
		return
	}
	var event protocol.Event
	if _, ok := r.doubtful[m.ID]; ok {
		delete(r.doubtful, m.ID)
		outcome := *body.Outcome
		outcome.Undelivered, body.Outcome = ask.AnswerLost, &outcome
		r.log.RecordChange(m, protocol.AskUndelivered{MessageID: m.ID, Reason: outcome.Undelivered})
	}
	if body.Outcome == nil {
		body.Outcome = &protocol.Outcome{Reason: protocol.OutcomeRestarted, At: r.now(), Detail: restarted + whatEnded(body.Question)}
		event = protocol.AskSettled{MessageID: m.ID}
	} else if q, ok := body.Question.(protocol.McpSampling); ok && q.Result == nil && ask.AnswerOf(body).Response == protocol.YesButtonClicked {
		q.InReview, q.Result = false, protocol.SamplingFailure{Reason: restarted}
		body.Question = q
		event = protocol.SamplingEnded{MessageID: m.ID, Result: q.Result}
	}
	m.Body = tasklog.WithoutSecrets(body)
	if event != nil {
		r.log.RecordChange(m, event)
	}
	r.log.Renumber(m)
}

// whatEnded names the request that ended with the sidecar.
func whatEnded(question protocol.UseMcpServer) string {
	switch question.(type) {
	case protocol.UseMcpTool, protocol.AccessMcpResource:
		return " The call was not made."
	case protocol.RepeatMcpCall:
		return " The call was not made once more."
	case protocol.HostPermission:
		return " The host got no answer from here: its own prompt decides."
	default:
		return " The server stopped waiting."
	}
}

func (r *recovery) now() int64 { return r.log.Storage().Now() }
