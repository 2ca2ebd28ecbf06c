// Package attribution says which task a request of a server belongs to.
//
// A [Ledger] holds the calls on one connection, and finds the proof for a request: the one task that can have caused it. A
// request without a proof waits in a [Queue] until a person assigns it to a task. A [Request] carries what the server asks,
// its task as soon as that is known, and how the task is asked.
//
// The package works on values: calls, origins and the causes of contexts. It knows no connection, no era and no policy. A
// Ledger, a Queue and a [Sequence] may be used from any goroutine, a Request by one goroutine at a time.
package attribution

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/wire"
)

// Task is the part of [task.Task] that a request needs of the task that it belongs to.
type Task interface {
	// ID does not wait for a save of the task, as most other methods do.
	ID() string
	Info() protocol.Task
	// Denied journals count requests that were refused without asking; outcome is that of the last.
	Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	// Invalid journals a question that cannot be shown, and tells the person why.
	Invalid(origin protocol.Origin, method, why string)
	Tell(notice protocol.Notice)
	Ask(ctx context.Context, q *task.Question) (*task.Answer, error)
	Asked(key string) protocol.UseMcpServer
	// IsOpen reports whether the question that was asked under a key waits for an answer.
	IsOpen(key string) bool
	LastCalls(ctx context.Context) ([]protocol.Call, error)
	BeginCompletion(ctx context.Context, messageID int64, model *protocol.Model) (context.Context, func())
	ReviewCompletion(messageID int64)
	Progress(messageID int64, chunk string)
	EndSampling(messageID int64, result protocol.SamplingResult, usage *protocol.SamplingUsage)
	Release(prefix string, ended *task.Ended)
	ReleaseUndelivered(prefix string, ended *task.Ended, why string)
	ReleaseAnswered(prefix string, before time.Time)
	Delivered(key string)
	Completed(messageID int64)
	Undelivered(messageID int64, why string)
}

// Request is a request of a server that a person decides.
type Request struct {
	// Method and Params are MCP's.
	Method string
	Params json.RawMessage
	// Task is the task that the request belongs to; nil until that is known.
	Task Task
	// Origin names the server and, once the task is known, the calls that may have caused the request.
	Origin protocol.Origin
	// Name is the server's own for a question of a round, or of an MCP task (2026-07-28, inputRequests); else it is empty.
	Name string
	// Host is the one of the call that caused the request, if that is known before the request is asked; see
	// [Request.ForwardsTo].
	Host *Host
	AskOptions
	proof

	// Wants and Text are the request in brief, and Question is what [protocol.UnattributedAsk] has of it. They are set before it
	// waits in a [Queue].
	Wants    protocol.AskWants
	Text     string
	Question protocol.UseMcpServer

	// open is the request among those that end with their calls; nil if it ends otherwise.
	open *openRequest
	// assignment is the person's; nil if the task is proved.
	assignment *Assignment
	asks       asks
}

// asks is what has come of the asks of a request.
type asks struct {
	// answered holds the messages of the asks that were answered: an answer may yet fail to reach the server.
	answered []int64
	// acknowledged is set if the server has acknowledged an answer before, and left if the task was closed with an ask of
	// the request open: its calls are about to be cancelled.
	acknowledged, left bool
}

// AskOptions say how a request asks in its task. The zero value changes nothing.
type AskOptions struct {
	// Slot is the request's place among those that came before and after it; nil means that it waits for none.
	Slot *Slot
	// Key begins the keys of all asks of the request. It is empty if the server cannot ask the same again; see
	// [task.Question].
	Key string
	// Repeats reports that the server sends the request again until it has the answer.
	Repeats bool
	// WaitsUntil is when the server gives up; zero if that is unknown.
	WaitsUntil time.Time
	// Opened gets the message of an ask for a page that the person opened. It may be nil.
	Opened func(t Task, messageID int64)
}

// Ask asks in the request's task, as the options say. The next request can ask as soon as this ask has its place in the task.
// Ask completes the question, which the caller must not use again.
func (r *Request) Ask(ctx context.Context, q *task.Question) (*task.Answer, error) {
	q.Key = r.Key + q.Key // what an ask leads to has a key of its own
	q.WaitsUntil, q.Queued = r.WaitsUntil, r.Slot.Pass
	if r.assignment != nil {
		q.Asked = r.assignment.Asked
	}
	answer, err := r.Task.Ask(ctx, q)
	r.Slot.Pass()
	if err != nil {
		var ended *task.Ended
		if errors.As(err, &ended) {
			r.asks.left = ended.Reason == protocol.OutcomeDismissed
		}
		return nil, err
	}
	r.asks.answered = append(r.asks.answered, answer.MessageID)
	r.asks.acknowledged = r.asks.acknowledged || answer.Delivered
	if r.Opened != nil && answer.Response == protocol.YesButtonClicked {
		r.Opened(r.Task, answer.MessageID)
	}
	return answer, nil
}

// Asked returns the question that the request asked before under a key, or nil.
func (r *Request) Asked(key string) protocol.UseMcpServer { return r.Task.Asked(r.Key + key) }

// IsOpen reports whether the question that the request asked before under a key waits for an answer.
func (r *Request) IsOpen(key string) bool { return r.Task.IsOpen(r.Key + key) }

// Left reports whether the task was closed with an ask of the request open.
func (r *Request) Left() bool { return r.asks.left }

// Acknowledged reports whether the server has acknowledged the answer before.
func (r *Request) Acknowledged() bool { return r.asks.acknowledged }

// Served notes how the request was served. If the server gets an error, no answer can be lost: the person declined, or a
// model failed, and the task shows both.
func (r *Request) Served(err error) {
	if err != nil {
		r.asks.answered = nil
	}
	if r.assignment != nil {
		r.assignment.Asked(0, "") // the person need not wait for an ask
	}
}

// Delivered notes whether the answer reached the server; err is the one of [wire.WhenDelivered].
func (r *Request) Delivered(err error) {
	if len(r.asks.answered) == 0 || r.Task == nil {
		return
	}
	why := undelivered(err)
	if r.Repeats && !errors.Is(err, wire.ErrCancelled) && !errors.Is(err, wire.ErrNoAnswer) {
		why = "" // the server has it, or will ask again
	} else if err == nil {
		return
	}
	for _, messageID := range r.asks.answered {
		r.Task.Undelivered(messageID, why)
	}
}

// Reasons for [Request.Delivered], beside those of wire.
var (
	// ErrUnknown: the answer was written, and nothing shows that the server got it.
	ErrUnknown = errors.New("the answer is not known to have reached the server")
	// ErrUnsent: the answer was not written.
	ErrUnsent = errors.New("the answer was not sent")
)

// undelivered returns a sentence for the person on why the answer to a request did not reach the server.
func undelivered(err error) string {
	switch {
	case errors.Is(err, ErrUnknown):
		return ask.AnswerUnknown
	case errors.Is(err, wire.ErrCancelled):
		return "The server stopped waiting before the answer reached it."
	case errors.Is(err, wire.ErrNoAnswer), WasCancelled(err):
		return "The call was cancelled before the answer reached the server."
	case errors.As(err, new(Abandoned)):
		return "The call was abandoned before the answer reached the server."
	case errors.Is(err, ErrUnsent):
		return ask.AnswerUnsent
	case errors.Is(err, wire.ErrClosed):
		return "The connection to the server ended before the answer reached it."
	default:
		return "The server did not take the answer."
	}
}
