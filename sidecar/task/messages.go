package task

import (
	"slices"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/task/ask"
)

// The bounds of a message of the person.
const (
	maxSaid     = 1 << 20 // bytes of one message
	maxQueue    = 50
	maxAttached = 20
	maxEnabled  = 1000 // servers, and tools of one
	// maxTitle is the length of a title taken from a message, in characters.
	maxTitle = 60
)

// Say adds a message of the person, after its files. It begins a turn.
func (t *Task) Say(said protocol.UserMessage, files ...protocol.Attachment) (int64, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return 0, err
	}
	if err := checkSaid(said, files); err != nil {
		return 0, err
	}
	return t.say(t.attach(said, files)), nil
}

// attach adds files, and returns the message with them attached. The lock must be held.
func (t *Task) attach(said protocol.UserMessage, files []protocol.Attachment) protocol.UserMessage {
	said.Attachments = slices.Clip(said.Attachments)
	for _, file := range files {
		if t.log.Info.Title == "" && strings.TrimSpace(said.Text) == "" {
			t.log.Info.Title = TitleOf(file.Name)
		}
		said.Attachments = append(said.Attachments, t.log.Add(file, false, "").ID)
	}
	return said
}

// say adds a message of the person. The task's own data is saved in the same transaction. The lock must be
// held.
func (t *Task) say(said protocol.UserMessage) int64 {
	if t.log.Info.Title == "" {
		t.log.Info.Title = TitleOf(said.Text)
	}
	t.log.Info.Running = true
	m := t.log.Add(said, false, "")
	t.log.Changed()
	return m.ID
}

// checkSaid validates a message.
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

// TitleOf returns the beginning of a text as a title, cut between two words.
func TitleOf(text string) string {
	title := ask.FirstLine(text)
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

// Enqueue queues a message that the person typed during a turn, and returns its id in the queue.
func (t *Task) Enqueue(said protocol.UserMessage, files ...protocol.Attachment) (string, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return "", err
	}
	if err := checkSaid(said, files); err != nil {
		return "", err
	}
	if len(t.log.Info.Queue) >= maxQueue {
		return "", protocol.Errorf(protocol.CodeInvalidParams, "%d messages are queued already: wait, or take one out", maxQueue)
	}
	said = t.attach(said, files)
	queued := protocol.QueuedMessage{ID: t.registry.opts.NewID(), Text: said.Text, Attachments: said.Attachments}
	t.log.Info.Queue = append(slices.Clip(t.log.Info.Queue), queued) // other goroutines may hold the old slice
	t.log.Changed()
	return queued.ID, nil
}

// Unqueue removes a message from the queue and reports whether it was queued.
func (t *Task) Unqueue(id string) bool {
	t.log.Lock()
	defer t.log.Unlock()
	i := slices.IndexFunc(t.log.Info.Queue, func(q protocol.QueuedMessage) bool { return q.ID == id })
	if i < 0 {
		return false
	}
	t.log.Info.Queue = slices.Delete(slices.Clone(t.log.Info.Queue), i, i+1)
	t.log.Changed()
	return true
}

// SayQueued adds the first message of the queue, which begins a turn, and reports whether there was one.
func (t *Task) SayQueued() (int64, bool) {
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.CheckOpen() != nil || len(t.log.Info.Queue) == 0 {
		return 0, false
	}
	first := t.log.Info.Queue[0]
	t.log.Info.Queue = slices.Clone(t.log.Info.Queue[1:])
	return t.say(protocol.UserMessage{Text: first.Text, Attachments: first.Attachments}), true
}

// BeginTurn begins a turn without a new message.
func (t *Task) BeginTurn() error {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return err
	}
	t.log.Info.Running = true
	t.log.Changed()
	return nil
}

// AwaitServers says which servers the running turn waits for, and since when. No names end the wait.
func (t *Task) AwaitServers(serverNames []string, since time.Time) {
	t.log.Lock()
	defer t.log.Unlock()
	before := t.log.Info.Awaits
	switch {
	case !t.log.Info.Running || before == nil && len(serverNames) == 0:
		return
	case len(serverNames) == 0:
		t.log.Info.Awaits = nil
	case before != nil && slices.Equal(before.ServerNames, serverNames):
		return
	default:
		t.log.Info.Awaits = &protocol.AwaitedServers{ServerNames: serverNames, Since: since.UnixMilli()}
	}
	t.log.Changed()
}

// EndTurn ends the turn.
func (t *Task) EndTurn() {
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.Info.Running {
		t.log.Info.Running, t.log.Info.Awaits = false, nil
		t.log.Changed()
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
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return protocol.Task{}, err
	}
	t.log.Info.Settings = &settings
	t.log.Changed()
	return t.log.Info, nil
}

// BeginModelMessage adds a message that a model begins to write. Its text follows by
// [Task.Progress].
func (t *Task) BeginModelMessage(body protocol.ModelMessage) (int64, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return 0, err
	}
	body.Progress = &protocol.SamplingProgress{}
	m := t.log.Add(body, true, "")
	completionOf(m).stream = &stream{}
	return m.ID, nil
}

// EndModelMessage adds the complete text of a model's message. Only the first end counts. Its calls may
// still fail; see [Task.FailToolUse] and [Task.EndToolUses].
func (t *Task) EndModelMessage(messageID int64, body protocol.ModelMessage) {
	t.log.Lock()
	defer t.log.Unlock()
	m := t.log.Message(messageID)
	if m == nil || !m.Live {
		return
	}
	if was, ok := m.Body.(protocol.ModelMessage); !ok || was.End != nil {
		return
	}
	completionOf(m).endStream()
	body.Progress, body.End.At = nil, t.registry.now()
	m.Body, m.Live = body, body.End.Reason == protocol.ModelEndToolUse
	t.log.Commit(m, protocol.ModelMessageEnded{MessageID: messageID, ModelMessage: body})
}

// AddModelMessage adds a message that ended before a model wrote anything. It is a no-op in a closed
// task, whose turn has ended already.
func (t *Task) AddModelMessage(body protocol.ModelMessage) {
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.CheckOpen() != nil {
		return
	}
	body.End.At = t.registry.now()
	t.log.Add(body, false, "")
}

// FailToolUse records the error for a call that was not made.
func (t *Task) FailToolUse(ref protocol.ToolUseRef, told string) {
	t.log.Lock()
	defer t.log.Unlock()
	m := t.log.Message(ref.MessageID)
	if m == nil || !m.Live {
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
	t.log.Commit(m, protocol.ToolUseFailed{MessageID: ref.MessageID, ToolUseID: ref.ToolUseID, Error: told})
}

// EndToolUses records that all calls of a model's message have ended, or were not made.
func (t *Task) EndToolUses(messageID int64) {
	t.log.Lock()
	defer t.log.Unlock()
	if m := t.log.Message(messageID); m != nil && m.Live {
		m.Live = false
		t.log.Save(m) // front ends need no event
	}
}

// StartToolUse adds a call that a model asked for, and returns its message's id.
func (t *Task) StartToolUse(serverName string, request protocol.CallRequest, ref protocol.ToolUseRef) (int64, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return 0, err
	}
	m := t.log.Add(protocol.Call{ServerName: serverName, Request: request, ToolUse: &ref}, true, "")
	return m.ID, nil
}
