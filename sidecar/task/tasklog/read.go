package tasklog

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"assent/protocol"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// Read returns the selected messages as front ends see them, in ascending order of id, and whether there are more. It
// bounds [store.Range.Bytes]. Messages in memory are newer than those in the store. The lock must be held.
func (l *Log) Read(ctx context.Context, r store.Range) ([]protocol.Message, bool, error) {
	limit := r.Limit
	r.Limit++ // one more tells whether there are more messages or bytes
	entries, err := l.Stored(ctx, r)
	all := make(map[int64]found, len(entries))
	if store.Damaged(err) {
		l.storage.Report(err)
		last := l.lastMessage
		if r.Before > 0 {
			last = min(last, r.Before-1)
		}
		if len(entries) > 0 {
			last = entries[0].Message.ID - 1
		}
		if last > 0 {
			all[last] = found{message: unreadable(last)}
		}
	} else if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		all[e.Message.ID] = found{e.Message, e.Size}
	}
	for id, m := range l.memory {
		if r.Before > 0 && id >= r.Before {
			continue
		}
		if message, newer := m.snapshot(); newer || m.Number > r.After {
			all[id] = found{message, weight(m.Body)}
		}
	}
	ids := slices.Sorted(maps.Keys(all))
	more := len(ids) > limit
	if more {
		ids = ids[len(ids)-limit:]
	}
	if fit := newestWithin(l.storage.opts.MaxRead, ids, all); fit < len(ids) {
		ids, more = ids[len(ids)-fit:], true
	}
	messages := make([]protocol.Message, len(ids))
	for i, id := range ids {
		messages[i] = shown(all[id].message)
		messages[i].Unsaved = l.IsUnsaved(id)
	}
	return messages, more, nil
}

// snapshot returns the message as a front end should see it now, and whether that is newer than the saved
// state.
func (m *Message) snapshot() (protocol.Message, bool) {
	if m.Work == nil {
		return m.Message, false
	}
	return m.Work.Show(m.Message)
}

// Stored returns the selected messages as the store has them. It bounds [store.Range.Bytes].
func (l *Log) Stored(ctx context.Context, r store.Range) ([]store.Entry, error) {
	r.Bytes = l.storage.opts.MaxRead
	return l.storage.store.Messages(ctx, l.Info.ID, r)
}

// Find returns a message from memory or from the store, or nil. The lock must be held.
func (l *Log) Find(ctx context.Context, id int64) (*Message, error) {
	if m := l.memory[id]; m != nil {
		return m, nil
	}
	e, err := l.storage.store.Message(ctx, l.Info.ID, id)
	if err != nil || e == nil {
		return nil, err
	}
	return &Message{Message: e.Message, AskID: e.AskID, Number: e.Number}, nil
}

// FindAsk returns an ask as it was asked or settled, or nil if the task never had it. The lock must be held.
func (l *Log) FindAsk(ctx context.Context, askID string) (*protocol.Ask, error) {
	for _, m := range l.memory { // including messages that the store refused
		if q, ok := m.Body.(protocol.Ask); ok && q.AskID == askID {
			return &q, nil
		}
	}
	entry, err := l.storage.store.Ask(ctx, l.Info.ID, askID)
	if err != nil || entry == nil {
		return nil, err
	}
	q, ok := entry.Message.Body.(protocol.Ask)
	if !ok {
		return nil, nil // it is damaged
	}
	return &q, nil
}

// Drafts returns the drafts of answers, by the id of the ask. The lock must be held.
func (l *Log) Drafts(ctx context.Context) (map[string]json.RawMessage, error) {
	drafts, err := l.storage.store.Drafts(ctx, l.Info.ID)
	if err == nil {
		maps.Copy(drafts, l.dirty.drafts) // these are newer
	}
	return drafts, err
}

// found is a message that was read, with an estimate of its size.
type found struct {
	message protocol.Message
	bytes   int
}

// newestWithin returns how many of these messages fit into left bytes, counted from the newest, which is the
// last: at least one.
func newestWithin(left int, ids []int64, messages map[int64]found) (count int) {
	for _, id := range slices.Backward(ids) {
		if left -= messages[id].bytes; left < 0 && count > 0 {
			break
		}
		count++
	}
	return count
}

// weight estimates the size of a message in memory, for the kinds that can be very large.
func weight(body protocol.Body) (bytes int) {
	switch b := body.(type) {
	case protocol.Attachment:
		return journal.SizeOf([]protocol.ContentBlock{b.Content})
	case protocol.Call:
		if result, ok := b.Result.(protocol.ToolResult); ok {
			return len(result.StructuredContent) + journal.SizeOf(result.Content)
		}
	}
	return 0
}

// unreadable returns the notice that stands for a message and all before it if the store's file is damaged.
func unreadable(id int64) protocol.Message {
	return protocol.Message{ID: id, Body: protocol.Notice{
		Level: protocol.NoticeWarning, Text: "This message and the earlier ones cannot be read: the store is damaged.",
	}}
}
