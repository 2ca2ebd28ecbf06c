package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire/mcptask"
)

// modernTask is a task of the extension io.modelcontextprotocol/tasks (2026-07-28): everything is in
// the answer to tasks/get, and questions are answered by tasks/update.
type modernTask struct {
	f  *following
	wg sync.WaitGroup // of what Attend began

	mu sync.Mutex // guards the fields below
	// attended holds the questions that are being asked, by their keys.
	attended map[string]string
	// open are the keys of the questions in the server's last state, which is the states-th.
	open   map[string]bool
	states int
	// listening is set while a subscription to the task's states is open.
	listening bool

	// order is the order in which the server asks.
	order attribution.Sequence
}

// Get implements [mcptask.Driver].
func (d *modernTask) Get(ctx context.Context) (*mcptask.State, error) {
	raw, err := d.f.ask(ctx, "tasks/get", map[string]any{})
	if err != nil {
		return nil, err
	}
	s := parseTaskOf(d.f.id, raw)
	if s == nil {
		return nil, mcptask.ErrNoStatus
	}
	return s, nil
}

// Result implements [mcptask.Driver].
func (d *modernTask) Result(_ context.Context, s *mcptask.State) (json.RawMessage, error) {
	switch {
	case s.Status == protocol.McpTaskCancelled:
		return nil, mcptask.ErrCancelled
	case s.Err != nil:
		return nil, s.Err
	case s.Result != nil:
		return s.Result, nil
	case s.Status == protocol.McpTaskCompleted:
		return nil, &mcptask.LostError{Over: true, Reason: "is completed, and the server sent no result"}
	default:
		return nil, &mcptask.LostError{Over: true, Reason: fmt.Sprintf("is %s, and the server does not say why", s.Status)}
	}
}

// Cancel implements [mcptask.Driver].
func (d *modernTask) Cancel(ctx context.Context) (*mcptask.State, error) {
	_, err := d.f.ask(ctx, "tasks/cancel", map[string]any{})
	return nil, err
}

// Attend implements [mcptask.Driver]: it asks each question once, although several states may have it, and subscribes to the
// task's states.
func (d *modernTask) Attend(ctx context.Context, s *mcptask.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.readable(s.Inputs); err != nil {
		d.f.abandon(err)
		return
	}
	if !d.listening {
		d.listening = true
		d.wg.Go(func() { d.listen(ctx) })
	}
	d.open = map[string]bool{}
	d.states++
	for _, input := range s.Inputs {
		d.open[input.Key] = true
		asks := questionKey("", input.Method, input.Params)
		switch d.attended[input.Key] {
		case "":
			d.attended[input.Key] = asks
			slot := d.order.Join()
			d.wg.Go(func() { d.attend(ctx, slot, input) })
		case asks:
		default: // an answer could be to either
			d.f.abandon(attribution.Abandoned{Reason: fmt.Sprintf("The server asked two different questions by the one name %q.", input.Key)})
		}
	}
}

// readable says why new questions can never be answered; a state repeats those that are being asked.
func (d *modernTask) readable(inputs []mcptask.Input) error {
	for _, input := range inputs {
		if d.attended[input.Key] == "" {
			return d.f.server.readable(inputs, &attribution.Request{Task: d.f.task, Origin: d.f.origin(), Host: d.f.hooks.Host})
		}
	}
	return nil
}

// attend asks one question, and sends the answer until the server takes it.
func (d *modernTask) attend(ctx context.Context, slot *attribution.Slot, input mcptask.Input) {
	r := d.f.server.request(input.Method, input.Params, slot)
	r.Task, r.Key, r.Name = d.f.task, d.f.prefix()+input.Key, input.Key
	raw, err := d.f.answerAs(ctx, r)
	switch {
	case r.Acknowledged():
		return
	case ctx.Err() != nil:
		if !closing(ctx) { // the next sidecar sends it
			r.Delivered(context.Cause(ctx))
		}
		return
	case err != nil: // this era has no words for it
		d.f.abandon(err)
		return
	}
	d.deliver(ctx, r, input.Key, raw)
}

// maxUpdates bounds how often an answer is sent that the server refuses.
const maxUpdates = 8

// deliver sends an answer until the server takes it, or no longer asks. An answer that it refuses is sent again as long as
// the server asks the same; the call is abandoned if that does not end.
func (d *modernTask) deliver(ctx context.Context, r *attribution.Request, key string, raw json.RawMessage) {
	refusals := 0
	for attempt := 0; ; attempt++ {
		_, err := d.f.ask(ctx, "tasks/update", map[string]any{"inputResponses": map[string]json.RawMessage{key: raw}})
		if err == nil {
			d.f.task.Delivered(r.Key)
			return
		}
		var refused *jsonrpc.Error
		if errors.As(err, &refused) {
			if refusals++; refusals == 1 {
				d.f.task.Tell(protocol.Notice{Level: protocol.NoticeWarning, Text: fmt.Sprintf(
					"The MCP server %q did not take the answer, and gets it again: %s (%d).", d.f.server.name(), refused.Message, refused.Code)})
			}
		}
		if refusals == maxUpdates {
			r.Delivered(errNotTaken)
			d.f.abandon(attribution.Abandoned{Reason: fmt.Sprintf("The server did not take your answer, %d times: %s (%d)", refusals, refused.Message, refused.Code)})
			return
		}
		sent, _ := d.asks(key)
		if session.Pause(ctx, d.f.server.opts.PollFloor<<min(attempt, 6)) != nil {
			return
		}
		if now, asks := d.asks(key); refused != nil && now > sent && !asks {
			return // the server has the answer, or needs none
		}
	}
}

// errNotTaken is why an answer did not reach a server that refused it.
var errNotTaken = errors.New("the server refused the answer")

// asks reports whether the server's last state has a question, and the number of that state.
func (d *modernTask) asks(key string) (states int, asks bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.states, d.open[key]
}

// listen subscribes to the task's states, and returns when the subscription ends. The task is polled all the same.
func (d *modernTask) listen(ctx context.Context) {
	c, err := d.f.server.session.Connection(ctx, d.f.taskID)
	if err == nil {
		_, err = c.Call(ctx, "subscriptions/listen", map[string]any{
			"notifications": map[string]any{"taskIds": []string{d.f.id}}, "_meta": modernMeta(c),
		})
	}
	if err != nil && ctx.Err() == nil {
		d.f.server.opts.Log.Debug().Err(err).Str("mcpTask", d.f.id).Msg("the server does not tell by itself")
	}
	d.f.tell(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	// If the connection was lost, Attend subscribes again with the next state.
	d.listening = err != nil && errors.As(err, new(*jsonrpc.Error))
}

// withoutMeta returns an object without the members that differ each time that the same is asked.
func withoutMeta(params json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(params, &object) != nil {
		return params
	}
	object = maps.Clone(object)
	delete(object, "_meta")
	delete(object, "task")
	raw, err := json.Marshal(object)
	if err != nil {
		return params
	}
	return raw
}
