// Package exchange makes requests to MCP servers, with all that they may lead to.
//
// [Exchanges] are those with one server: calls of tools, prompts and resources, in rounds if a modern server answers with
// questions; the pages that a server has a person visit; the MCP tasks that calls become; and the requests that a legacy
// server sends at that time. Questions go to the broker.
//
// An Exchanges is the handler of the [session.Server] that it uses. Its methods may be called from any goroutine. Calls block
// until the server has answered, their context ends, or the connection ends.
package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/awaited"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// Broker is the part of [broker.Broker] that exchanges need.
type Broker interface {
	Serve(ctx context.Context, r *attribution.Request) (any, error)
	Readable(r *attribution.Request) error
	AwaitURL(ctx context.Context, r *attribution.Request, e broker.URLElicitation) (bool, error)
	RepeatCall(ctx context.Context, t broker.Asker, q protocol.RepeatMcpCall) (bool, error)
}

// Options configure Exchanges. All fields are required.
type Options struct {
	Broker Broker
	// Task finds the task that a connection belongs to.
	Task func(id string) (attribution.Task, error)
	// Capabilities returns those of the front ends.
	Capabilities func() protocol.FrontEndCapabilities
	// ToolTimeout returns for how long a call of a tool may have neither a result nor progress; 0 means for ever.
	ToolTimeout func() time.Duration
	// IdlePause is the first pause after an InputRequiredResult without a question. It grows with each further one in a row.
	IdlePause time.Duration
	// PollFloor is the shortest pause between two polls of an MCP task.
	PollFloor time.Duration
	Now       func() time.Time
	Log       zerolog.Logger
}

// Tools is the list of a server's tools.
type Tools interface {
	// ToolPages returns the pages of the list.
	ToolPages(ctx context.Context) ([]json.RawMessage, error)
	// ToolsVersion changes with each change of the list.
	ToolsVersion() int
	// ForgetLists says that the server may have other lists from now on.
	ForgetLists()
}

// Exchanges are the exchanges with one server.
type Exchanges struct {
	opts    Options
	session *session.Server
	tools   Tools
	// uses are the last by each task.
	uses  attribution.Uses
	pages pages

	mu sync.Mutex // guards the fields below
	// followed holds the followings of MCP tasks, by the task's id.
	followed map[string]*following
	// receivers hold the tasks that the server made of its questions, by the conversation's id.
	receivers map[string]*receiver
	// underWay holds the exchanges under way, and since when.
	underWay map[*exchange]time.Time
	// taskable are the tools of a legacy server that can be called as tasks, in a version of its list; nil if unknown.
	taskable        map[string]bool
	taskableVersion int
	// toldFallback reports that the person was told of the older version; see tellFallback.
	toldFallback bool
}

// New returns the exchanges with a server. Tools is its list of tools.
func New(opts Options, server *session.Server, tools Tools) *Exchanges {
	return &Exchanges{
		opts: opts, session: server, tools: tools, pages: pages{completions: map[string]func(){}},
		followed: map[string]*following{}, receivers: map[string]*receiver{}, underWay: map[*exchange]time.Time{},
	}
}

func (s *Exchanges) name() string { return s.session.Config().Name }

// begin notes an exchange. The context ends with it, and with the server if a person stops that. The task is told what the
// exchange waits for.
func (s *Exchanges) begin(ctx context.Context, x *exchange) (context.Context, func()) {
	s.mu.Lock()
	s.underWay[x] = time.Now()
	s.mu.Unlock()
	ctx, end := s.session.Use(awaited.WithListener(ctx, func(what string) { s.tellAwaited(x.taskID, what) }), x.taskID)
	return ctx, func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.underWay, x)
	}
}

// tellAwaited tells a task what its exchange waits for.
func (s *Exchanges) tellAwaited(taskID, what string) {
	if what == "" {
		return
	}
	if t, err := s.opts.Task(taskID); err == nil {
		t.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: fmt.Sprintf("The MCP server %q waits for %s.", s.name(), what)})
	}
}

// strayPause is how long a call goes on after a frame that is not MCP before the person hears of it: most servers that write
// such lines answer all the same.
const strayPause = 2 * time.Second

// maxStrayed bounds the quoted part of a frame, in characters.
const maxStrayed = 160

// Strayed implements [session.Handler]: the answer to a call may be in what cannot be read, so its person hears of it.
func (s *Exchanges) Strayed(taskID, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.underWay {
		if taskID != "" && x.taskID != taskID {
			continue
		}
		if x.strayed == "" {
			// The callback does nothing once the call has ended, so nothing has to wait for it.
			time.AfterFunc(strayPause, func() { s.tellStrayed(x) })
		}
		if len(x.strayed) <= maxStrayed { // an answer may be on several lines
			x.strayed += " " + text
		}
	}
}

// tellStrayed tells the task of a call that still waits.
func (s *Exchanges) tellStrayed(x *exchange) {
	s.mu.Lock()
	_, waits := s.underWay[x]
	text := strings.Join(strings.Fields(x.strayed), " ")
	s.mu.Unlock()
	if !waits {
		return
	}
	if runes := []rune(text); len(runes) > maxStrayed {
		text = string(runes[:maxStrayed]) + "…"
	}
	if t, err := s.opts.Task(x.taskID); err == nil {
		t.Tell(protocol.Notice{Level: protocol.NoticeWarning, Text: fmt.Sprintf(
			"The MCP server %q wrote something that is no whole MCP message, while a call waits for its answer: %s", s.name(), text)})
	}
}

// UnderWay returns the exchanges under way, the oldest first.
func (s *Exchanges) UnderWay() []protocol.ServerCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []protocol.ServerCall
	for x, since := range s.underWay {
		calls = append(calls, protocol.ServerCall{
			TaskID: x.taskID, MessageID: x.hooks.MessageID, ToolName: x.toolName, ResourceURI: x.resourceURI, Since: since.UnixMilli(),
		})
	}
	slices.SortFunc(calls, func(a, b protocol.ServerCall) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.MessageID, b.MessageID))
	})
	return calls
}

// Requests implements [session.Handler].
func (s *Exchanges) Requests(c *session.Conn) map[string]wire.Handler {
	serve := map[string]wire.Handler{}
	for _, method := range broker.Methods {
		serve[method] = s.handler(c, method)
	}
	for _, method := range receivedMethods {
		serve[method] = s.receive(c, method)
	}
	return serve
}

// Notifications implements [session.Handler].
func (s *Exchanges) Notifications(c *session.Conn) map[string]func(params json.RawMessage) {
	return map[string]func(json.RawMessage){
		"notifications/tasks":                s.taskNews,
		"notifications/tasks/status":         s.taskNews,
		"notifications/elicitation/complete": s.pages.elicitationComplete,
		"notifications/message": func(params json.RawMessage) {
			for _, h := range c.Ledger.Hosts() {
				h.Notify("notifications/message", params)
			}
		},
	}
}

// Started implements [session.Handler].
func (s *Exchanges) Started() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskable = nil
}

// Ended implements [session.Handler]: the connection may be the one on which the server sent the states of its MCP tasks.
func (s *Exchanges) Ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.followed {
		f.tell(nil)
	}
}

// Taken implements [session.Handler]: the questions that the server made tasks of before belong to the task now.
func (s *Exchanges) Taken(taskID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.receivers[""]; r != nil && s.receivers[taskID] == nil {
		delete(s.receivers, "")
		s.receivers[taskID] = r
	}
}

// Closing implements [session.Handler].
func (s *Exchanges) Closing(taskID string, why *task.Ended) {
	if taskID != "" {
		s.uses.Forget(taskID)
	}
	s.closeReceivers(taskID, why)
}
