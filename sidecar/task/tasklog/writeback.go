package tasklog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// dirty holds the newest unsaved state of a log. The log's lock guards it.
type dirty struct {
	info     bool
	messages map[int64]*Message
	drafts   map[string]json.RawMessage
	rounds   map[int64]*store.Round
	// records are the journal's records of these changes.
	records []store.Record
	// scrub is set if a change overwrites a secret in the store. The store's log is then emptied.
	scrub bool
}

// markDirty adds a value to one of the maps of a [dirty].
func markDirty[K comparable, V any](values *map[K]V, key K, value V) {
	if *values == nil {
		*values = map[K]V{}
	}
	(*values)[key] = value
}

// Save saves the task's own data, and a message unless m is nil. It reports whether they are on disk. A message stays in
// memory while it is live or not on disk. The lock must be held.
func (l *Log) Save(m *Message) bool {
	if m == nil {
		l.dirty.info = true
	} else {
		l.memory[m.ID] = m
		markDirty(&l.dirty.messages, m.ID, m)
	}
	l.notifyQuiet()
	return l.flush() && (m == nil || !m.unacceptable)
}

// SaveDraft saves the draft of an answer; nil deletes it. The lock must be held.
func (l *Log) SaveDraft(askID string, d json.RawMessage) {
	markDirty(&l.dirty.drafts, askID, d)
	l.flush()
}

// SaveRound saves the round of a call; nil deletes it. The lock must be held.
func (l *Log) SaveRound(messageID int64, round *store.Round) {
	markDirty(&l.dirty.rounds, messageID, round)
	l.flush()
}

// Record adds records to the journal, together with the next change that is saved. The lock must be held.
func (l *Log) Record(records ...store.Record) { l.dirty.records = append(l.dirty.records, records...) }

// RecordChange adds the journal's records of a message's change. The lock must be held.
func (l *Log) RecordChange(m *Message, event protocol.Event) {
	l.Record(l.storage.opts.Journal.Change(l.Info.ID, l.storage.Now(), m.Message, event)...)
}

// MarkSecretOverwritten says that the next change overwrites a secret, which is then also removed from the store's log.
// The lock must be held.
func (l *Log) MarkSecretOverwritten() { l.dirty.scrub = true }

// flush saves all changes that are not on disk, and reports whether all are. It ignores the end of a caller's context: the
// change has happened and must be saved. The lock must be held.
func (l *Log) flush() bool {
	s := l.storage
	if l.removed {
		l.dirty = dirty{}
	}
	damaged := s.isDamaged()
	var err error
	if !damaged {
		if !s.isFailing() {
			s.relocate(context.Background())
		}
		err = l.tryFlush(context.Background())
	}
	saved := !damaged && err == nil
	s.outage.mu.Lock()
	if saved {
		delete(s.outage.dirty, l)
	} else {
		markDirty(&s.outage.dirty, l, struct{}{})
	}
	s.outage.mu.Unlock()
	if err != nil {
		s.Report(fmt.Errorf("%s: %w", cmp.Or(s.store.Path(), "memory"), err))
	}
	return saved
}

// tryFlush saves the changes in their order. The lock must be held.
func (l *Log) tryFlush(ctx context.Context) error {
	if err := l.flushMessages(ctx); err != nil {
		return err
	}
	s := l.storage.store
	if l.dirty.info {
		if err := l.saveInfo(ctx); err != nil {
			return err
		}
	}
	for askID, d := range l.dirty.drafts {
		if err := s.SaveDraft(ctx, l.Info.ID, askID, d); err != nil {
			return err
		}
		delete(l.dirty.drafts, askID)
	}
	for messageID, round := range l.dirty.rounds {
		if err := s.SaveRound(ctx, l.Info.ID, messageID, round); err != nil {
			return err
		}
		delete(l.dirty.rounds, messageID)
	}
	if l.dirty.scrub {
		l.dirty.scrub = false
		select {
		case l.storage.scrubbing <- struct{}{}:
		default: // Maintain is already notified
		}
	}
	return nil
}

// flushMessages saves the messages: all in one transaction or, if the store will never take one of them, each in its own.
// The lock must be held.
func (l *Log) flushMessages(ctx context.Context) error {
	if len(l.dirty.messages) == 0 {
		return nil
	}
	inOrder := slices.SortedFunc(maps.Values(l.dirty.messages), func(a, b *Message) int { return cmp.Compare(a.Number, b.Number) })
	err := l.saveMessages(ctx, inOrder)
	if !store.Unacceptable(err) {
		return err
	}
	for _, m := range inOrder {
		err := l.saveMessages(ctx, []*Message{m})
		if m.unacceptable = store.Unacceptable(err); m.unacceptable {
			// It stays in memory. The messages after it must still reach the disk.
			l.storage.Report(err)
			if err = l.saveInfo(ctx); err == nil {
				delete(l.dirty.messages, m.ID)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveInfo saves the task's own data, with the journal's records. The lock must be held.
func (l *Log) saveInfo(ctx context.Context) error {
	if err := l.storage.store.Save(ctx, l.Info, nil, l.dirty.records...); err != nil {
		return err
	}
	l.dirty.records, l.dirty.info = nil, false
	return nil
}

// saveMessages saves messages, with the journal's records. The lock must be held.
func (l *Log) saveMessages(ctx context.Context, messages []*Message) error {
	entries := make([]*store.Entry, len(messages))
	for i, m := range messages {
		entries[i] = entryOf(m)
	}
	if err := l.storage.store.SaveAll(ctx, l.Info, entries, l.dirty.records...); err != nil {
		return err
	}
	l.dirty.records, l.dirty.info = nil, false
	for _, m := range messages {
		m.unacceptable = false
		delete(l.dirty.messages, m.ID)
		if !m.Live && l.memory[m.ID] == m {
			delete(l.memory, m.ID)
		}
	}
	return nil
}

// entryOf returns a message as a store's entry.
func entryOf(m *Message) *store.Entry {
	entry := &store.Entry{Message: m.Message, Number: m.Number, Live: m.Live, AskID: m.AskID, Act: !m.ByHost && isAct(m.Body)}
	if call, ok := m.Body.(protocol.Call); ok && call.Task != nil {
		entry.McpTask, entry.McpTaskID = call.Task.CreatedAt, call.Task.TaskID
		if HasResult(m.Message) {
			entry.ResultGot = new(int64)
		}
	}
	if ask, ok := m.Body.(protocol.Ask); ok {
		if q, ok := ask.Question.(protocol.McpSampling); ok {
			entry.SamplingServer = q.ServerName
		}
	}
	return entry
}

// isAct reports whether a message is an act of a person: a text, an attachment, an answer to an ask, or the start of a
// call.
func isAct(body protocol.Body) bool {
	switch b := body.(type) {
	case protocol.UserMessage, protocol.Attachment:
		return true
	case protocol.Ask:
		return b.Outcome != nil && b.Outcome.By != ""
	case protocol.Call:
		return b.ToolUse == nil && b.Task == nil && b.Result == nil
	default:
		return false
	}
}

// HasResult reports whether a message is a call that became an MCP task and still has its result.
func HasResult(m protocol.Message) bool {
	call, ok := m.Body.(protocol.Call)
	if !ok || call.Task == nil {
		return false
	}
	result, ok := call.Result.(protocol.ToolResult)
	return ok && result.RemovedAfter == 0
}
