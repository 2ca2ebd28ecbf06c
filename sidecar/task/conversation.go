package task

import (
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// conversationPage is how many messages are read at once. One can have megabytes.
const conversationPage = 20

// Conversation calls visit for each message of the task that is in the conversation, the newest first, until
// visit returns false. If before is not 0, messages with an id of before or higher are skipped. The Replaces
// of a [protocol.UserMessage] or [protocol.ModelMessage] removes messages from the conversation permanently,
// even if that message has left itself.
func (t *Task) Conversation(ctx context.Context, before int64, visit func(protocol.Message) (more bool)) error {
	return t.walk(ctx, 0, before, visit)
}

// walk is Conversation for the messages with an id below top, or for all if top is 0. If left is not 0,
// messages from left on have left the conversation.
func (t *Task) walk(ctx context.Context, top, left int64, visit func(protocol.Message) (more bool)) error {
	for {
		t.log.Lock()
		page, earlier, err := t.log.Read(ctx, store.Range{Before: top, Limit: conversationPage})
		t.log.Unlock()
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(page) {
			gone := left > 0 && m.ID >= left
			if replaces := replacedBy(m); replaces > 0 && replaces < m.ID && (left == 0 || replaces < left) {
				left = replaces
			}
			if !gone && !visit(m) {
				return nil
			}
		}
		if !earlier || len(page) == 0 {
			return nil
		}
		top = page[0].ID
	}
}

// replacedBy returns the first message that m replaces, or 0.
func replacedBy(m protocol.Message) int64 {
	switch body := m.Body.(type) {
	case protocol.UserMessage:
		return body.Replaces
	case protocol.ModelMessage:
		return body.Replaces
	default:
		return 0
	}
}

// Branch starts another task with a copy of a task's conversation up to a message. It copies neither
// messages that may still change nor asks, which exist only once. Messages keep their ids, because they
// refer to each other.
func (r *Registry) Branch(ctx context.Context, taskID string, messageID int64) (protocol.Task, error) {
	from, err := r.Get(taskID)
	if err != nil {
		return protocol.Task{}, err
	}
	if _, err := from.Message(ctx, messageID); err != nil {
		return protocol.Task{}, err
	}
	var copied []protocol.Message
	// Messages that a later message replaced are still in this copy.
	err = from.walk(ctx, messageID+1, 0, func(m protocol.Message) bool {
		if body := branched(m.Body); body != nil {
			m.Body = body
			copied = append(copied, m)
		}
		return true
	})
	if err != nil {
		return protocol.Task{}, err
	}
	info := from.Info()
	if info.Title != "" {
		info.Title += " (branch)"
	}
	created, err := r.Create(info.Title)
	if err != nil {
		return protocol.Task{}, err
	}
	to, err := r.Get(created.ID)
	if err != nil {
		return protocol.Task{}, err
	}
	to.log.Lock()
	defer to.log.Unlock()
	to.log.Info.Settings = info.Settings
	for _, m := range slices.Backward(copied) {
		to.log.Append(m) // the journal has it already
		to.log.Announce(protocol.MessageAdded{Message: m})
	}
	to.log.Changed()
	return to.log.Info, nil
}

// branched returns a message's body for another task, or nil. Only one call may follow an MCP task, so the
// copy has no MCP task.
func branched(body protocol.Body) protocol.Body {
	switch b := body.(type) {
	case protocol.UserMessage:
		b.Replaces = 0
		return b
	case protocol.ModelMessage:
		if b.End == nil {
			return nil
		}
		b.Replaces = 0
		return b
	case protocol.Call:
		if b.Result == nil {
			return nil
		}
		b.Task, b.Progress = nil, nil
		return b
	case protocol.Notice, protocol.Attachment:
		return b
	default:
		return nil
	}
}
