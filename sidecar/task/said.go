package task

import (
	"context"
	"slices"
	"strings"

	"assent/protocol"
)

// The bounds of what a person says.
const (
	maxSaid     = 1 << 20 // bytes of one message
	maxQueue    = 50
	maxAttached = 20
	maxEnabled  = 1000 // servers, and tools of one
	// maxTitle is how much of a message becomes a task's title, in characters.
	maxTitle = 60
)

// Say adds what the person said, after the files that came with it, which begins a turn.
func (t *Task) Say(said protocol.UserMessage, files ...protocol.Attachment) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return 0, err
	}
	if err := checkSaid(said, files); err != nil {
		return 0, err
	}
	return t.say(t.attach(said, files)), nil
}

// attach adds files, and returns what was said with them attached. The lock must be held.
func (t *Task) attach(said protocol.UserMessage, files []protocol.Attachment) protocol.UserMessage {
	said.Attachments = slices.Clip(said.Attachments)
	for _, file := range files {
		if t.info.Title == "" && strings.TrimSpace(said.Text) == "" {
			t.info.Title = titleOfText(file.Name)
		}
		said.Attachments = append(said.Attachments, t.add(file, false, "").ID)
	}
	return said
}

// say adds what the person said. What changes with it in the task is kept in the same transaction. The lock
// must be held.
func (t *Task) say(said protocol.UserMessage) int64 {
	if t.info.Title == "" {
		t.info.Title = titleOfText(said.Text)
	}
	t.info.Running = true
	m := t.add(said, false, "")
	t.changed()
	return m.ID
}

// checkSaid refuses what is no message.
func checkSaid(said protocol.UserMessage, files []protocol.Attachment) error {
	attached := len(said.Attachments) + len(files)
	switch {
	case strings.TrimSpace(said.Text) == "" && attached == 0:
		return protocol.Errorf(protocol.CodeInvalidParams, "there is nothing to send: write something, or attach something")
	case len(said.Text) > maxSaid:
		return protocol.Errorf(protocol.CodeInvalidParams, "a message of %d bytes is too long: the most is %d", len(said.Text), maxSaid)
	case attached > maxAttached:
		return protocol.Errorf(protocol.CodeInvalidParams, "%d attachments are too many: the most is %d", attached, maxAttached)
	}
	return nil
}

// titleOfText is the beginning of a text, cut between two words.
func titleOfText(text string) string {
	title := firstLine(text)
	runes := []rune(title)
	if len(runes) <= maxTitle {
		return title
	}
	title = string(runes[:maxTitle])
	if i := strings.LastIndexByte(title, ' '); i > maxTitle/2 {
		title = title[:i]
	}
	return title + "…"
}

// Enqueue keeps what the person typed while a turn is under way, and returns its id in the queue.
func (t *Task) Enqueue(said protocol.UserMessage, files ...protocol.Attachment) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return "", err
	}
	if err := checkSaid(said, files); err != nil {
		return "", err
	}
	if len(t.info.Queue) >= maxQueue {
		return "", protocol.Errorf(protocol.CodeInvalidParams, "%d messages are queued already: wait, or take one out", maxQueue)
	}
	said = t.attach(said, files)
	queued := protocol.QueuedMessage{ID: t.registry.opts.NewID(), Text: said.Text, Attachments: said.Attachments}
	t.info.Queue = append(slices.Clip(t.info.Queue), queued) // whoever has the old one keeps it
	t.changed()
	return queued.ID, nil
}

// Unqueue takes a message out of the queue and reports whether it was there.
func (t *Task) Unqueue(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.info.Queue, func(q protocol.QueuedMessage) bool { return q.ID == id })
	if i < 0 {
		return false
	}
	t.info.Queue = slices.Delete(slices.Clone(t.info.Queue), i, i+1)
	t.changed()
	return true
}

// SayQueued adds the first message of the queue, which begins a turn, and reports whether there was one.
func (t *Task) SayQueued() (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkOpen() != nil || len(t.info.Queue) == 0 {
		return 0, false
	}
	first := t.info.Queue[0]
	t.info.Queue = slices.Clone(t.info.Queue[1:])
	return t.say(protocol.UserMessage{Text: first.Text, Attachments: first.Attachments}), true
}

// BeginTurn begins a turn in which nothing new was said.
func (t *Task) BeginTurn() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return err
	}
	t.info.Running = true
	t.changed()
	return nil
}

// EndTurn ends it.
func (t *Task) EndTurn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info.Running {
		t.info.Running = false
		t.changed()
	}
}

// Configure replaces the settings of the task's conversation.
func (t *Task) Configure(settings protocol.TaskSettings) (protocol.Task, error) {
	if len(settings.Servers) > maxEnabled {
		return protocol.Task{}, protocol.Errorf(protocol.CodeInvalidParams, "%d servers are too many: the most is %d", len(settings.Servers), maxEnabled)
	}
	for _, s := range settings.Servers {
		if len(s.ToolNames) > maxEnabled {
			return protocol.Task{}, protocol.Errorf(protocol.CodeInvalidParams, "%d tools of %q are too many: the most is %d", len(s.ToolNames), s.ServerName, maxEnabled)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return protocol.Task{}, err
	}
	t.info.Settings = &settings
	t.changed()
	return t.info, nil
}

// BeginModelMessage adds a message that a model begins to write; its text comes by [Task.Progress].
func (t *Task) BeginModelMessage(body protocol.ModelMessage) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return 0, err
	}
	body.Progress = &protocol.SamplingProgress{}
	m := t.add(body, true, "")
	m.stream = &stream{}
	return m.ID, nil
}

// EndModelMessage brings what a model said, whole. Only the first end counts. Where it asked for calls, they
// may yet fail; see [Task.FailToolUse] and [Task.EndToolUses].
func (t *Task) EndModelMessage(messageID int64, body protocol.ModelMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[messageID]
	if m == nil || !m.live {
		return
	}
	if was, ok := m.Body.(protocol.ModelMessage); !ok || was.End != nil {
		return
	}
	m.endStream()
	body.Progress, body.End.At = nil, t.registry.now()
	m.Body, m.live = body, body.End.Reason == protocol.ModelEndToolUse
	t.commit(m, protocol.ModelMessageEnded{MessageID: messageID, ModelMessage: body})
}

// AddModelMessage adds a message that ended before a model wrote anything. A closed task takes none, and
// needs none: its end is that of its turn.
func (t *Task) AddModelMessage(body protocol.ModelMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkOpen() != nil {
		return
	}
	body.End.At = t.registry.now()
	t.add(body, false, "")
}

// FailToolUse notes what a model is told of a call that was not made.
func (t *Task) FailToolUse(ref protocol.ToolUseRef, told string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[ref.MessageID]
	if m == nil || !m.live {
		return
	}
	body, ok := m.Body.(protocol.ModelMessage)
	if !ok {
		return
	}
	i := slices.IndexFunc(body.ToolUses, func(u protocol.ModelToolUse) bool { return u.ID == ref.ToolUseID })
	if i < 0 {
		return
	}
	body.ToolUses = slices.Clone(body.ToolUses)
	body.ToolUses[i].Error = told
	m.Body = body
	t.commit(m, protocol.ToolUseFailed{MessageID: ref.MessageID, ToolUseID: ref.ToolUseID, Error: told})
}

// EndToolUses notes that all calls of a model's message have ended, or were not made.
func (t *Task) EndToolUses(messageID int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.memory[messageID]; m != nil && m.live {
		m.live = false
		if t.save(m) { // nobody has to be told
			delete(t.memory, messageID)
		}
	}
}

// StartToolUse adds a call that a model asked for, and returns its message's id.
func (t *Task) StartToolUse(serverName string, request protocol.CallRequest, ref protocol.ToolUseRef) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return 0, err
	}
	m := t.add(protocol.Call{ServerName: serverName, Request: request, ToolUse: &ref}, true, "")
	return m.ID, nil
}

// Message returns a message as it stands now; the error is a [protocol.CodeInvalidParams] where there is none.
func (t *Task) Message(ctx context.Context, id int64) (protocol.Message, error) {
	m, err := t.message(ctx, id)
	if err == nil && m.ID == 0 {
		err = protocol.Errorf(protocol.CodeInvalidParams, "the task has no message %d", id)
	}
	return m, err
}
