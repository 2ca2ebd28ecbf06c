package hosts

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// conversation is a conversation of a host that has made a call: of the sessions that name it, or of one session. It is a
// task. The lock of [Hosts] guards it.
type conversation struct {
	// create creates the task, once.
	create func() error
	taskID string
	title  string
	host   string // its name for a person; "" for a conversation of an earlier daemon
	calls  int    // that run
	quiet  bool   // as in [Use], in each of the sessions
	// sessions are those that last, by their ids. Each value lists the roots of the host while no call runs, and is nil before
	// the session has said that they changed.
	sessions map[string]listRoots
	// uses are the servers that the conversation has used.
	uses  map[string]bool
	roots roots
	// starts are the hosts for which servers start for the conversation, by the names of the servers; see [Use].
	starts map[string]session.StartsFor
	// questions are the open asks of the task, by their message, and asking hears of those of each call.
	questions map[int64]openQuestion
	asking    map[int64]func(question string)
	// forwarded counts what its host is asked now for servers of Assent, by the message.
	forwarded map[string]int
}

// openQuestion is an open ask: its text, and the message of its call, or 0 if the call is not known.
type openQuestion struct {
	text string
	call int64
}

// begin begins a call of a conversation. The first call creates the conversation's task, unless the conversation had one in
// an earlier session. A call that goes on has its task.
func (h *Hosts) begin(r gateway.Request, goesOn task.Unfinished) (*conversation, error) {
	key := cmp.Or(r.Conversation, r.Session)
	h.mu.Lock()
	c := h.conversations[key]
	switch {
	case goesOn.Task != nil:
		info := goesOn.Task.Info()
		if c = h.tasks[info.ID]; c == nil {
			c = newConversation(r.Quiet)
			c.create, c.taskID, c.title = func() error { return nil }, info.ID, info.Title
			h.tasks[info.ID] = c
		}
	case c == nil:
		if c = h.tasks[key]; c == nil {
			c = newConversation(r.Quiet)
			c.create = sync.OnceValue(func() error { return h.createTask(c, r) })
		}
		h.conversations[key] = c
	}
	if _, known := c.sessions[r.Session]; !known && goesOn.Task == nil {
		c.sessions[r.Session] = nil
	}
	h.startLocked(c, r)
	c.quiet = c.quiet && r.Quiet
	c.calls++
	h.mu.Unlock()
	if err := c.create(); err != nil {
		h.endCall(c)
		return nil, err
	}
	return c, nil
}

// Converse returns the task of the conversation that a host names, the same as that of its calls, until done is called.
func (h *Hosts) Converse(client mcpserver.Client, name string) (t *task.Task, done func(), err error) {
	session := uuid.NewString()
	c, err := h.begin(gateway.Request{Quiet: true, Sender: gateway.Sender{
		Session: session, Client: client, Conversation: gateway.ConversationNamed("", gateway.HostTitle(client), name),
	}}, task.Unfinished{})
	if err != nil {
		return nil, nil, err
	}
	done = func() { upstream{Hosts: h}.Ended(session); h.endCall(c) }
	if t, err = h.opts.Tasks.Get(c.taskID); err != nil {
		done()
		return nil, nil, err
	}
	return t, done, nil
}

func newConversation(quiet bool) *conversation {
	return &conversation{
		quiet: quiet, sessions: map[string]listRoots{},
		uses: map[string]bool{}, starts: map[string]session.StartsFor{}, questions: map[int64]openQuestion{}, asking: map[int64]func(string){},
		forwarded: map[string]int{},
	}
}

// createTask creates the task of a conversation, or finds the one that it had.
func (h *Hosts) createTask(c *conversation, r gateway.Request) error {
	info, err := h.taskOf(c, r)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c.taskID, c.title, c.host = info.ID, info.Title, gateway.HostTitle(r.Client)
	h.tasks[info.ID] = c
	return nil
}

// taskOf returns the task of a conversation. It has the conversation's id, if the host names that.
func (h *Hosts) taskOf(c *conversation, r gateway.Request) (protocol.Task, error) {
	if r.Conversation == "" {
		return h.opts.Tasks.Create(h.nameOf(c, r.Client))
	}
	h.mu.Lock()
	closing := h.closing[r.Conversation]
	h.mu.Unlock()
	if closing != nil {
		<-closing
	}
	return h.opts.Tasks.GoOn(r.Conversation, func() string { return h.nameOf(c, r.Client) })
}

// nameOf returns a title that no other conversation with a host has, and notes that it is taken.
func (h *Hosts) nameOf(c *conversation, client mcpserver.Client) string {
	title := h.title(client)
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]bool{}
	for _, others := range []map[string]*conversation{h.conversations, h.tasks} {
		for _, other := range others {
			taken[other.title] = true
		}
	}
	c.title = title
	for n := 2; taken[c.title]; n++ {
		c.title = fmt.Sprintf("%s (%d)", title, n)
	}
	return c.title
}

// Name sets [protocol.OpenAsk.Host] of the asks in tasks of hosts.
func (h *Hosts) Name(asks []protocol.OpenAsk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, a := range asks {
		if c := h.tasks[a.TaskID]; c != nil {
			asks[i].Host = visible.Text(c.host)
		}
	}
}

// title names the task of a host: "Claude Code in shop".
func (h *Hosts) title(c mcpserver.Client) string {
	name := visible.Text(gateway.HostTitle(c))
	folder := h.opts.Workspace.Label()
	if folder == "" {
		return name
	}
	return fmt.Sprintf("%s in %s", name, visible.Text(folder))
}

// recordUse records that a conversation has used a server. After the first use, the server's lists are read again: it may be
// another program by now.
func (h *Hosts) recordUse(c *conversation, server string) {
	h.mu.Lock()
	isFirst := !c.uses[server]
	c.uses[server] = true
	h.mu.Unlock()
	if isFirst {
		h.lists.readAgain(server)
	}
}

// endCall notes that a call has ended.
func (h *Hosts) endCall(c *conversation) {
	h.mu.Lock()
	c.calls--
	h.mu.Unlock()
	h.forget(c)
}

// Ended implements [gateway.Upstream].
func (h upstream) Ended(session string) {
	h.mu.Lock()
	var left []*conversation
	for key, c := range h.conversations {
		if _, isIn := c.sessions[session]; !isIn {
			continue
		}
		if delete(c.sessions, session); len(c.sessions) == 0 {
			delete(h.conversations, key)
			left = append(left, c)
		}
	}
	h.mu.Unlock()
	for _, c := range left {
		h.forget(c)
	}
}

// forget ends the servers' connections of a conversation without sessions, once no call runs.
func (h *Hosts) forget(c *conversation) {
	h.mu.Lock()
	if len(c.sessions) > 0 || c.calls > 0 || h.tasks[c.taskID] != c {
		h.mu.Unlock()
		return
	}
	closed := make(chan struct{})
	delete(h.tasks, c.taskID)
	h.closing[c.taskID] = closed
	h.mu.Unlock()
	h.opts.Hub.CloseTask(c.taskID)
	h.mu.Lock()
	delete(h.closing, c.taskID)
	h.mu.Unlock()
	close(closed)
}

// listen has asking hear of the questions of a call, until the result is called.
func (h *Hosts) listen(c *conversation, messageID int64, asking func(question string)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.asking[messageID] = asking
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(c.asking, messageID)
	}
}

// TaskEvent tells the calls of hosts which question is open. It is called for every change of a task, in order.
func (h *Hosts) TaskEvent(params *protocol.TaskEventParams) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.tasks[params.TaskID]
	if c == nil {
		return
	}
	var call int64
	switch e := params.Event.(type) {
	case protocol.MessageAdded:
		ask, ok := e.Message.Body.(protocol.Ask)
		if !ok || ask.Outcome != nil {
			return
		}
		if ask.Ask == protocol.AskHostPermission {
			return // no call waits for it
		}
		call = ask.Question.From().MessageID
		c.questions[e.Message.ID] = openQuestion{questionText(ask.Question), call}
		if !c.quiet {
			h.opts.Workspace.Notify(c.title)
		}
	case protocol.AskSettled:
		call = c.questions[e.MessageID].call
		delete(c.questions, e.MessageID)
	default:
		return
	}
	for id, asking := range c.asking {
		if call == 0 || call == id {
			asking(c.questionOf(id))
		}
	}
}

// questionOf returns an open question of a call, or "". The lock must be held.
func (c *conversation) questionOf(call int64) string {
	var oldest int64
	for id, q := range c.questions {
		if (q.call == 0 || q.call == call) && (oldest == 0 || id < oldest) {
			oldest = id
		}
	}
	return c.questions[oldest].text
}

// questionText is a question in a line, for a host's model.
func questionText(q protocol.UseMcpServer) string {
	switch q := q.(type) {
	case protocol.McpElicitation:
		return cmp.Or(q.ElicitationRequest.Message, "a form")
	case protocol.McpURLElicitation:
		return cmp.Or(q.Message, "a page to visit")
	case protocol.UseMcpTool:
		return fmt.Sprintf("whether the tool %s may run, which has changed", q.Tool.Name)
	default:
		return fmt.Sprintf("a request of the server %s for a model", q.From().ServerName)
	}
}
