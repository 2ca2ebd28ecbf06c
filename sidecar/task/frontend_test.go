package task_test

import (
	"cmp"
	"encoding/json"
	"slices"

	"assent/protocol"
)

// view is a front end's copy of one task: the messages that it read, and the events folded into them by
// the rules of webview-ui/src/store/fold.ts.
type view struct {
	task     protocol.Task
	messages []protocol.Message // in ascending order of id, without a hole
	earlier  bool               // there are older ones
	// gap is set once an event or a piece of a completion is missing. The front end then reads the task
	// again after its last number, and ignores events until then.
	gap bool
}

// read applies the result of reading the task.
func (v *view) read(result *protocol.OpenTaskResult) {
	v.task, v.gap = result.Task, false
	messages := result.Messages
	if result.Reset {
		v.messages, v.earlier = nil, result.Earlier
	} else if v.earlier && len(v.messages) > 0 {
		// Older messages arrive with their page. Here they would leave a hole.
		messages = slices.DeleteFunc(messages, func(m protocol.Message) bool { return m.ID < v.messages[0].ID })
	}
	v.upsert(messages)
}

// readPage applies the page before the oldest message.
func (v *view) readPage(result *protocol.OpenTaskResult) {
	v.upsert(result.Messages)
	v.earlier = result.Earlier
}

// fold applies an event.
func (v *view) fold(p *protocol.TaskEventParams) {
	if v.gap || p.Number != v.task.LastNumber+1 {
		v.gap = true
		return
	}
	v.task.LastNumber, v.task.OpenAsks = p.Number, p.OpenAsks
	switch e := p.Event.(type) {
	case protocol.TaskChanged:
		v.task = e.Task
	case protocol.MessageAdded:
		v.upsert([]protocol.Message{e.Message})
	case protocol.AskSettled:
		v.ask(e.MessageID, func(ask *protocol.Ask) { settle(ask, e) })
	case protocol.AskExtended:
		v.ask(e.MessageID, func(ask *protocol.Ask) { ask.ExpiresAt = e.ExpiresAt })
	case protocol.AskCompleted:
		v.ask(e.MessageID, func(ask *protocol.Ask) {
			outcome := *ask.Outcome
			outcome.CompletedAt = e.CompletedAt
			ask.Outcome = &outcome
		})
	case protocol.AskUndelivered:
		v.ask(e.MessageID, func(ask *protocol.Ask) {
			outcome := *ask.Outcome
			outcome.Undelivered = e.Reason
			ask.Outcome = &outcome
		})
	case protocol.AskDelivered:
		v.ask(e.MessageID, func(ask *protocol.Ask) { ask.Delivered = true })
	case protocol.SamplingMoved:
		v.sampling(e.MessageID, func(q *protocol.McpSampling) {
			q.Model, q.InReview, q.Progress = cmp.Or(e.Model, q.Model), e.InReview, e.Progress
		})
	case protocol.SamplingEnded:
		v.sampling(e.MessageID, func(q *protocol.McpSampling) {
			q.Progress, q.InReview, q.Result, q.Usage = nil, false, e.Result, e.Usage
		})
	case protocol.CallTaskChanged:
		v.call(e.MessageID, func(call *protocol.Call) { call.Task = &e.Task })
	case protocol.CallJoined:
		v.call(e.MessageID, func(call *protocol.Call) { call.Joined = e.Joined })
	case protocol.CallEnded:
		v.call(e.MessageID, func(call *protocol.Call) {
			call.Progress, call.EndedAt, call.Result = nil, e.EndedAt, e.Result
		})
	}
}

// foldPiece applies a piece of a completion.
func (v *view) foldPiece(p *protocol.McpSamplingProgressParams) {
	if v.gap {
		return
	}
	v.sampling(p.MessageID, func(q *protocol.McpSampling) {
		var written protocol.SamplingProgress
		if q.Progress != nil {
			written = *q.Progress
		}
		switch {
		case q.Result != nil || p.Sequence < written.Sequence:
		case p.Sequence > written.Sequence:
			v.gap = true
		default:
			q.Progress = &protocol.SamplingProgress{Text: written.Text + p.Chunk, Sequence: p.Sequence + 1}
		}
	})
}

// reconnect makes the view read the changes, because the sidecar has changed.
func (v *view) reconnect() { v.gap = true }

func settle(ask *protocol.Ask, e protocol.AskSettled) {
	ask.Outcome = &e.Outcome
	switch q := ask.Question.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = cmp.Or(e.ElicitationResponse, q.ElicitationResponse)
		ask.Question = q
	case protocol.McpURLElicitation:
		q.ElicitationResponse = cmp.Or(e.ElicitationResponse, q.ElicitationResponse)
		ask.Question = q
	case protocol.McpSampling:
		q.Model, q.SentRequest = cmp.Or(e.Model, q.Model), cmp.Or(e.SentRequest, q.SentRequest)
		if e.SentResponse != nil {
			q.Model, q.Result = nil, *e.SentResponse
		}
		ask.Question = q
	case protocol.McpSamplingReview:
		q.Model, q.SentResponse = cmp.Or(e.Model, q.Model), cmp.Or(e.SentResponse, q.SentResponse)
		ask.Question = q
	}
}

func (v *view) upsert(news []protocol.Message) {
	for _, m := range news {
		i, found := slices.BinarySearchFunc(v.messages, m.ID, func(m protocol.Message, id int64) int { return cmp.Compare(m.ID, id) })
		if found {
			v.messages[i] = m
		} else {
			v.messages = slices.Insert(v.messages, i, m)
		}
	}
}

// change edits a message. A message of an older page is absent, and stays absent.
func (v *view) change(id int64, edit func(protocol.Body) protocol.Body) {
	for i, m := range v.messages {
		if m.ID == id {
			v.messages[i].Body = edit(m.Body)
		}
	}
}

func (v *view) ask(id int64, edit func(*protocol.Ask)) {
	v.change(id, func(body protocol.Body) protocol.Body {
		ask, ok := body.(protocol.Ask)
		if ok {
			edit(&ask)
			return ask
		}
		return body
	})
}

func (v *view) sampling(id int64, edit func(*protocol.McpSampling)) {
	v.ask(id, func(ask *protocol.Ask) {
		if q, ok := ask.Question.(protocol.McpSampling); ok {
			edit(&q)
			ask.Question = q
		}
	})
}

func (v *view) call(id int64, edit func(*protocol.Call)) {
	v.change(id, func(body protocol.Body) protocol.Body {
		call, ok := body.(protocol.Call)
		if ok {
			edit(&call)
			return call
		}
		return body
	})
}

// lines returns one line per message, for comparisons.
func lines(messages []protocol.Message) []string {
	var all []string
	for _, m := range withoutDrafts(messages) {
		text, err := json.Marshal(m)
		if err != nil {
			text = []byte(err.Error())
		}
		all = append(all, string(text))
	}
	return all
}

// withoutDrafts removes the members that only a reading of a task has.
func withoutDrafts(messages []protocol.Message) []protocol.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		if ask, ok := m.Body.(protocol.Ask); ok {
			ask.Draft, ask.Delivered = nil, false // no event reports them
			out[i].Body = ask
		}
	}
	return out
}

// overWire returns a value as it arrives at the other end.
func overWire[T any](value *T) *T {
	text, err := json.Marshal(value)
	out := new(T)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}
