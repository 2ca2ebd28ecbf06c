package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/mcptask"
	"assent/sidecar/task"

	"assent/protocol"
)

// modernTask is a task of the extension io.modelcontextprotocol/tasks (2026-07-28): everything is in
// the answer to tasks/get, and questions are answered by tasks/update.
type modernTask struct {
	f  *following
	wg sync.WaitGroup // of what Attend began

	mu sync.Mutex // guards the fields below
	// attended holds the questions that somebody sees to, by their keys.
	attended map[string]string
	// listening is set while the server is asked to tell by itself.
	listening bool

	// order is that in which the server asks.
	order sequence
}

// Get implements [mcptask.Driver].
func (d *modernTask) Get(ctx context.Context) (*mcptask.State, error) {
	raw, err := d.f.ask(ctx, "tasks/get", map[string]any{})
	if err != nil {
		return nil, err
	}
	s := parseTask(raw)
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
	default:
		return nil, &mcptask.LostError{Reason: fmt.Sprintf("it is %s, and the server did not send its end", s.Status)}
	}
}

// Cancel implements [mcptask.Driver].
func (d *modernTask) Cancel(ctx context.Context) (*mcptask.State, error) {
	_, err := d.f.ask(ctx, "tasks/cancel", map[string]any{})
	return nil, err
}

// Attend implements [mcptask.Driver]: each question is asked once in the task's life, whichever answer
// to a poll it is in, and the server is asked to tell by itself.
func (d *modernTask) Attend(ctx context.Context, s *mcptask.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.listening {
		d.listening = true
		d.wg.Go(func() { d.listen(ctx) })
	}
	for _, input := range s.Inputs {
		asks := questionKey("", input.Method, input.Params)
		switch d.attended[input.Key] {
		case "":
			d.attended[input.Key] = asks
			q := &question{slot: d.order.join()}
			d.wg.Go(func() { d.attend(ctx, q, input) })
		case asks:
		default: // an answer could be to either
			d.f.abandon(abandonedError{fmt.Sprintf("The server asked two different questions by the one name %q.", input.Key)})
		}
	}
}

// attend asks one question, and sees to it that the answer is delivered.
func (d *modernTask) attend(ctx context.Context, q *question, input mcptask.Input) {
	asker := &keyed{Asker: d.f.task, key: d.f.prefix() + input.Key}
	raw, err := d.f.answerAs(ctx, q, asker, input)
	switch {
	case ctx.Err() != nil || asker.delivered:
		return
	case err != nil: // this era has no words for it
		d.f.abandon(err)
		return
	}
	for attempt := 0; ; attempt++ {
		_, err := d.f.ask(ctx, "tasks/update", map[string]any{"inputResponses": map[string]json.RawMessage{input.Key: raw}})
		if err == nil {
			d.f.task.Delivered(asker.key)
			return
		}
		// A server that refuses the answer has another state by now, which the next poll brings.
		if errors.As(err, new(*jsonrpc.Error)) || pause(ctx, d.f.server.hub.opts.PollFloor<<min(attempt, 6)) != nil {
			return
		}
	}
}

// listen asks the server to tell by itself, for as long as it does; polls go on where it does not.
func (d *modernTask) listen(ctx context.Context) {
	c, err := d.f.server.connection(ctx, d.f.taskID)
	if err == nil {
		_, err = c.link.call(ctx, "subscriptions/listen", map[string]any{
			"notifications": map[string]any{"taskIds": []string{d.f.id}}, "_meta": c.modernMeta(),
		})
	}
	if err != nil && ctx.Err() == nil {
		d.f.server.hub.opts.Log.Debug().Err(err).Str("mcpTask", d.f.id).Msg("the server does not tell by itself")
	}
	d.f.tell(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	// Where the connection was lost, the next state that is seen listens again.
	d.listening = err != nil && errors.As(err, new(*jsonrpc.Error))
}

// keyed is a task that knows its asks by a key.
type keyed struct {
	Asker
	key string
	// delivered is set where the server has the answer already.
	delivered bool
}

var _ Asker = (*keyed)(nil)

// Ask implements [Asker].
func (k *keyed) Ask(ctx context.Context, q task.Question) (*task.Answer, error) {
	q.Key = k.key + q.Key // what an ask leads to has a key of its own
	answer, err := k.Asker.Ask(ctx, q)
	k.delivered = k.delivered || err == nil && answer.Delivered
	return answer, err
}

// Asked implements [Asker].
func (k *keyed) Asked(key string) protocol.UseMcpServer { return k.Asker.Asked(k.key + key) }

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
