package task

import (
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/store"
)

// conversationPage is how many messages are read at once: one may be of megabytes.
const conversationPage = 20

// Conversation shows visit the messages of the task that have not left the conversation, the newest first,
// until it wants no more; those with an id of before or above are not shown, where that is not 0. Which ones
// have left is said by the Replaces of [protocol.UserMessage] and [protocol.ModelMessage], for good: also
// where the message that says so has left itself.
func (t *Task) Conversation(ctx context.Context, before int64, visit func(protocol.Message) (more bool)) error {
	return t.walk(ctx, 0, before, visit)
}

// walk is Conversation over the messages with an id below top, all where that is 0; left and what is above it
// has left the conversation, where that is not 0.
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

// replacedBy returns the first message that left the conversation for m, or 0.
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

// Branch starts another task with a copy of a task's conversation up to a message. What may still change is
// not copied, nor are asks, each of which there is once. The ids of messages stay: they name each other.
func (r *Registry) Branch(ctx context.Context, taskID string, messageID int64) (protocol.Task, error) {
	from, err := r.Get(taskID)
	if err != nil {
		return protocol.Task{}, err
	}
	if _, err := from.Message(ctx, messageID); err != nil {
		return protocol.Task{}, err
	}
	var copied []protocol.Message
	// What left the conversation for a later message is still in it here.
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

// branched is what of a message's body another task takes over, or nil. An MCP task is followed by one call
// alone, so the copy of a call is none.
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
