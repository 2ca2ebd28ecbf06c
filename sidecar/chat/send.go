package chat

import (
	"context"
	"errors"
	"strings"

	"assent/protocol"
	"assent/sidecar/task"
)

// turn answers a message of the person, and then the messages that they queued during the answer.
type turn struct {
	*Chat
	task   *task.Task
	taskID string
	cancel context.CancelCauseFunc
	// replaces is the message that the model's next message replaces; 0 if none.
	replaces int64
	// before is the id at which the conversation of this turn ends; 0 means all of it.
	before int64
	// again: the person asked again. The turn waits for servers that they skipped before.
	again bool
	// skip ends the wait for servers; nil while the turn waits for none. The chat's lock guards it.
	skip context.CancelFunc
}

// errClosing ends the turns that are under way when the chat closes.
var errClosing = &task.Ended{Reason: protocol.OutcomeRestarted, Detail: "Assent was closed."}

// stop ends the turn for the person.
func (u *turn) stop(detail string) {
	u.cancel(&task.Ended{Reason: protocol.OutcomeDismissed, Detail: detail})
}

// SendChat sends a message to the model of a task; see [protocol.Sidecar.SendChat].
func (c *Chat) SendChat(ctx context.Context, p *protocol.SendChatParams) (*protocol.SendChatResult, error) {
	t, err := c.tasks.Get(p.TaskID)
	if err != nil {
		return nil, err
	}
	said := protocol.UserMessage{Text: p.Text, Attachments: p.Attachments, Replaces: p.Replaces}
	if err := checkMessages(ctx, t, said); err != nil {
		return nil, err
	}
	files, err := attachmentsOf(p.Files)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errUnavailable()
	}
	running, queued := c.turns[p.TaskID] != nil, len(t.Info().Queue) > 0
	if said.Replaces != 0 {
		if running {
			return nil, errRunning()
		}
		return c.say(t, said, files)
	}
	if !running && !queued {
		return c.say(t, said, files)
	}
	result := &protocol.SendChatResult{}
	if strings.TrimSpace(said.Text) != "" || len(said.Attachments)+len(files) > 0 || !queued {
		if result.QueuedID, err = t.Enqueue(said, files...); err != nil {
			return nil, err
		}
	}
	if running {
		return result, nil
	}
	id, ok := t.SayQueued() // queued messages are older
	if !ok {
		return nil, protocol.Errorf(protocol.CodeTaskClosed, "the task %q is closed: start a new one", t.Info().Title)
	}
	if result.QueuedID == "" {
		result.MessageID = id
	}
	c.beginTurn(t, &turn{})
	return result, nil
}

// say adds the person's message and begins the turn. The lock must be held.
func (c *Chat) say(t *task.Task, said protocol.UserMessage, files []protocol.Attachment) (*protocol.SendChatResult, error) {
	id, err := t.Say(said, files...)
	if err != nil {
		return nil, err
	}
	c.beginTurn(t, &turn{})
	return &protocol.SendChatResult{MessageID: id}, nil
}

// checkMessages validates the messages that a message attaches or replaces.
func checkMessages(ctx context.Context, t *task.Task, said protocol.UserMessage) error {
	if said.Replaces != 0 {
		m, err := t.Message(ctx, said.Replaces)
		if err != nil {
			return err
		}
		if _, ok := m.Body.(protocol.UserMessage); !ok {
			return protocol.Errorf(protocol.CodeInvalidParams, "the message %d is none of yours: only those can be replaced", said.Replaces)
		}
	}
	for _, id := range said.Attachments {
		m, err := t.Message(ctx, id)
		if err != nil {
			return err
		}
		call, isCall := m.Body.(protocol.Call)
		if _, isFile := m.Body.(protocol.Attachment); !isFile && (!isCall || call.Result == nil) {
			return protocol.Errorf(protocol.CodeInvalidParams, "the message %d cannot be attached: it is neither a file nor a call that has ended", id)
		}
	}
	return nil
}

func errRunning() error {
	return protocol.Errorf(protocol.CodeInvalidParams, "the model is at work: stop it first")
}

func errUnavailable() error {
	return protocol.Errorf(protocol.CodeUnavailable, "Assent is closing")
}

// StopChat stops a task's turn and reports whether one was under way.
func (c *Chat) StopChat(taskID string) (bool, error) {
	if _, err := c.tasks.Get(taskID); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	turn := c.turns[taskID]
	if turn == nil {
		return false, nil
	}
	turn.stop("You stopped it.")
	return true, nil
}

// SkipServers has a task's turn ask the model without the servers that it waits for. It reports whether it waited.
func (c *Chat) SkipServers(taskID string) (bool, error) {
	if _, err := c.tasks.Get(taskID); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	turn := c.turns[taskID]
	if turn == nil || turn.skip == nil {
		return false, nil
	}
	turn.skip()
	return true, nil
}

// RetryChat asks the model of a task again; see [protocol.Sidecar.RetryChat].
func (c *Chat) RetryChat(ctx context.Context, taskID string) error {
	t, err := c.tasks.Get(taskID)
	if err != nil {
		return err
	}
	said, replaces, err := newest(ctx, t)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errUnavailable()
	case c.turns[taskID] != nil:
		return errRunning()
	case !said:
		return protocol.Errorf(protocol.CodeInvalidParams, "there is nothing to try again: say something first")
	}
	if err := t.BeginTurn(); err != nil {
		return err
	}
	c.beginTurn(t, &turn{replaces: replaces, before: replaces, again: true})
	return nil
}

// newest reports whether the conversation has messages, and returns the id of the model's last message; 0
// if the last message is the person's.
func newest(ctx context.Context, t *task.Task) (said bool, model int64, err error) {
	err = t.Conversation(ctx, 0, func(m protocol.Message) bool {
		switch m.Body.(type) {
		case protocol.UserMessage:
			said = true
		case protocol.ModelMessage:
			said, model = true, m.ID
		}
		return !said
	})
	return said, model, err
}

// Interrupt ends all turns because the sidecar ends, and does not wait for them. Results that arrive later are
// not sent to a model.
func (c *Chat) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, turn := range c.turns {
		turn.cancel(errClosing)
	}
}

// UnqueueChat removes a message from a task's queue and reports whether it was queued.
func (c *Chat) UnqueueChat(taskID, queuedID string) (bool, error) {
	t, err := c.tasks.Get(taskID)
	if err != nil {
		return false, err
	}
	return t.Unqueue(queuedID), nil
}

// beginTurn runs a turn to its end, and then the queued messages. The lock must be held.
func (c *Chat) beginTurn(t *task.Task, u *turn) {
	taskID := t.ID()
	ctx, cancel := context.WithCancelCause(context.Background())
	u.Chat, u.task, u.taskID, u.cancel = c, t, taskID, cancel
	c.turns[taskID] = u
	c.wg.Go(func() {
		defer cancel(nil)
		for {
			well := u.run(ctx)
			if !c.goOn(u, well && ctx.Err() == nil) {
				return
			}
			u.replaces, u.before, u.again = 0, 0, false
		}
	})
}

// goOn sends the next queued message if the turn ended well, and reports whether it did. If it returns false,
// the turn is over.
func (c *Chat) goOn(u *turn, well bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if well && !c.closed {
		if _, ok := u.task.SayQueued(); ok {
			return true
		}
	}
	delete(c.turns, u.taskID)
	u.task.EndTurn()
	return false
}

// whyEnded returns the reason, for the person, why a turn's context ended.
func whyEnded(ctx context.Context) *protocol.ModelEnd {
	var ended *task.Ended
	if errors.As(context.Cause(ctx), &ended) && ended.Reason == protocol.OutcomeRestarted {
		return &protocol.ModelEnd{Reason: protocol.ModelEndInterrupted, Detail: ended.Detail}
	}
	end := &protocol.ModelEnd{Reason: protocol.ModelEndStopped}
	if ended != nil {
		end.Detail = ended.Detail
	}
	return end
}
