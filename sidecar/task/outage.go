package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/store"
)

const (
	// lookEvery is how often KeepStore checks that the store's file still exists.
	lookEvery = 30 * time.Second
	// retryAfter is the first pause after a failure of the store. Each pause is twice as long as the last, up to lookEvery.
	retryAfter = 2 * time.Second
)

// outage describes what is wrong with the store. The tasks hold the changes that it refused; see [owed].
type outage struct {
	// moving is held while the store moves to its path, and taken before mu and after a task's.
	moving sync.Mutex

	mu sync.Mutex // guards the fields below, and the order of what front ends are told
	// failure is the sentence that the front ends got; empty while tasks are saved on disk.
	failure string
	// damaged is set for good: nothing more is written into that file, and the next start sets it aside.
	damaged bool
	// homeless is set while the store is in memory, because its file could not be opened.
	homeless bool
	// gone is set while the store's file is deleted, and cannot be written anew.
	gone bool
	// hopeless is set if another attempt to open the file would fail, too.
	hopeless bool
	owing    map[*Task]struct{}
}

// giveUp ends the attempts to open the store.
func (o *outage) giveUp() {
	o.moving.Lock()
	defer o.moving.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hopeless = true
}

// owed holds the newest state of everything of a task that is not in the store yet. The task's lock guards it.
type owed struct {
	info     bool
	messages map[int64]*message
	drafts   map[string]json.RawMessage
	rounds   map[int64]*Round
	// scrub is set if the rest of it overwrites a secret in the store. The store's log is then to be emptied.
	scrub bool
}

// StorageFailure returns why tasks are not saved on disk, as a sentence for the person; empty while they are.
func (r *Registry) StorageFailure() string {
	r.outage.mu.Lock()
	defer r.outage.mu.Unlock()
	return r.outage.failure
}

// Unsaved reports whether something is in memory only, and so would be lost with this process.
func (r *Registry) Unsaved() bool {
	all := r.all()
	r.outage.mu.Lock()
	owes := len(r.outage.owing) > 0
	r.outage.mu.Unlock()
	return owes || len(all) > 0 && r.isHomeless() || slices.ContainsFunc(all, (*Task).hasUnacceptable)
}

// hasUnacceptable reports whether there is a message that the store will never take.
func (t *Task) hasUnacceptable() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.memory {
		if m.unacceptable {
			return true
		}
	}
	return false
}

// damage returns an error if the file is damaged, so that Assent must not write into it.
func (r *Registry) damage() error {
	r.outage.mu.Lock()
	defer r.outage.mu.Unlock()
	if r.outage.damaged {
		return errDamaged
	}
	return nil
}

var errDamaged = errors.New("the store is damaged")

// reportStorage logs every failure, and tells the front ends of the first one of an outage.
func (r *Registry) reportStorage(err error) {
	r.opts.Log.Error().Err(err).Msg("storage failed")
	o := &r.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	format := "Tasks can not be kept on disk, this session goes on in memory: %v"
	if store.Damaged(err) && !o.homeless { // while homeless, only the file that could not be opened is damaged
		format = "The store is damaged, this session goes on in memory. At the next start it is set aside, and a new one begins: %v"
		if !o.damaged {
			r.suspect(err)
		}
		o.damaged = true
	}
	if o.failure != "" {
		return
	}
	o.failure = fmt.Sprintf(format, err)
	r.logSend(r.opts.Events.StorageFailed(context.Background(), &protocol.StorageFailedParams{Message: o.failure}))
	select {
	case r.failing <- struct{}{}:
	default:
	}
}

// StorageNote returns a sentence for the person that says where a damaged store was moved to; empty if this store did not
// replace one.
func (r *Registry) StorageNote() string {
	s, err := r.Store()
	if err != nil {
		return ""
	}
	return setAsideNote(s)
}

// suspect has the next opening of the store read the whole file if the error says that it is damaged.
func (r *Registry) suspect(why error) {
	if !store.Damaged(why) {
		return
	}
	if err := r.store.Suspect(); err != nil {
		r.opts.Log.Warn().Err(err).Msg("the next start may not notice that the store is damaged")
	}
}

// recovered tells the front ends that tasks are saved on disk again.
func (r *Registry) recovered(message string) {
	r.outage.mu.Lock()
	defer r.outage.mu.Unlock()
	r.outage.failure = ""
	r.logSend(r.opts.Events.StorageRecovered(context.Background(), &protocol.StorageRecoveredParams{Message: message}))
}

// KeepStore looks after the store until ctx ends. It saves refused changes when the disk works again, writes a new file if
// the file was deleted, and removes overwritten secrets from the write-ahead log.
func (r *Registry) KeepStore(ctx context.Context) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	pause := retryAfter
	unscrubbed := true // an earlier sidecar may have been killed before it emptied the store's log
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.failing:
			pause = retryAfter
			timer.Reset(pause)
			continue
		case <-r.scrubbing:
			unscrubbed = !r.scrub(ctx)
			continue
		case <-timer.C:
		}
		r.opening.Lock()
		opened := r.store != nil && !r.closed
		r.opening.Unlock()
		if opened && unscrubbed {
			unscrubbed = !r.scrub(ctx)
		}
		if opened && !r.repair(ctx) {
			pause = min(2*pause, lookEvery)
			timer.Reset(pause)
		} else {
			timer.Reset(lookEvery)
		}
	}
}

// scrub empties the store's log, which may have overwritten secrets, and reports whether that worked.
func (r *Registry) scrub(ctx context.Context) bool {
	err := r.store.Scrub(ctx)
	if err != nil && ctx.Err() == nil {
		r.opts.Log.Warn().Err(err).Msg("a secret that was deleted may be in the store's log for a while")
	}
	return err == nil
}

// repair moves the store to its file and saves what tasks owe it, and reports whether all is saved. No task's lock may be
// held.
func (r *Registry) repair(ctx context.Context) bool {
	if !r.goHome(ctx) {
		return false
	}
	o := &r.outage
	if r.isFailing() {
		if err := r.store.Probe(ctx); err != nil {
			return false
		}
	}
	o.mu.Lock()
	owing := slices.Collect(maps.Keys(o.owing))
	o.mu.Unlock()
	for _, t := range owing {
		t.mu.Lock()
		paid := t.pay()
		t.mu.Unlock()
		if !paid {
			return false
		}
	}
	if r.isFailing() {
		r.recovered("Tasks are kept on disk again, with everything that was in memory.")
	}
	return true
}

// goHome moves the store to a file at its path if it is in memory or its file was deleted, and reports whether it is there
// now. A task's lock may be held.
func (r *Registry) goHome(ctx context.Context) bool {
	o := &r.outage
	o.mu.Lock()
	homeless, hopeless := o.homeless, o.hopeless || o.damaged
	o.mu.Unlock()
	if hopeless {
		return false
	}
	if !homeless && !r.store.Gone() {
		o.mu.Lock()
		o.gone = false
		o.mu.Unlock()
		return true
	}
	o.moving.Lock()
	defer o.moving.Unlock()
	o.mu.Lock()
	done, hopeless := o.homeless != homeless, o.hopeless
	o.mu.Unlock()
	if done || !homeless && !r.store.Gone() {
		return true // another goroutine has moved it
	}
	if hopeless {
		return false
	}
	path := r.store.Path()
	err := r.move(ctx)
	if err != nil {
		if !homeless {
			o.mu.Lock()
			o.gone = true
			o.mu.Unlock()
			r.reportStorage(fmt.Errorf("%s was deleted or moved away, and cannot be written anew: %w", path, err))
		}
		return false
	}
	o.mu.Lock()
	o.homeless, o.gone = false, false
	o.mu.Unlock()
	message := fmt.Sprintf("%s was deleted or moved away while Assent ran. It was written anew, with everything that was in it.", path)
	if homeless {
		message = "Tasks are kept on disk again, with everything that was in memory. Earlier ones are shown after the next start."
	}
	if note := setAsideNote(r.store); note != "" {
		message += " " + note
	}
	r.recovered(message)
	return true
}

func (r *Registry) move(ctx context.Context) error {
	return r.store.MoveTo(ctx, r.opts.OpenStore)
}

// setAsideNote implements [Registry.StorageNote].
func setAsideNote(s *store.Store) string {
	aside := s.SetAside()
	if aside == "" {
		return ""
	}
	return fmt.Sprintf("The store was damaged. It was set aside as %s, with all that can still be read in it, and a new one has begun.", aside)
}

// useMemory opens a store in memory, because the file could not be opened.
func (r *Registry) useMemory(why error) error {
	r.outage.mu.Lock()
	r.outage.homeless, r.outage.hopeless = true, errors.Is(why, store.ErrNewer)
	r.outage.mu.Unlock()
	r.reportStorage(why)
	s, err := store.OpenMemory()
	if err != nil {
		return err
	}
	r.store = s
	return nil
}

// pay saves everything that the task owes the store, and reports whether all is on disk. It has no context of a caller,
// because the changes must be saved even if the caller has gone. The lock must be held.
func (t *Task) pay() bool {
	r := t.registry
	if t.removed {
		t.unjournaled, t.owed = nil, owed{}
	}
	damaged := r.damage() != nil
	var err error
	if !damaged {
		if !r.isFailing() {
			r.goHome(context.Background())
		}
		err = t.tryToPay(context.Background())
	}
	r.outage.mu.Lock()
	if paid := !damaged && err == nil; paid {
		delete(r.outage.owing, t)
	} else {
		if r.outage.owing == nil {
			r.outage.owing = map[*Task]struct{}{}
		}
		r.outage.owing[t] = struct{}{}
	}
	r.outage.mu.Unlock()
	if err != nil {
		r.reportStorage(fmt.Errorf("%s: %w", cmp.Or(r.store.Path(), "memory"), err))
	}
	return !damaged && err == nil
}

// isHomeless reports whether what the store takes is not in a file at its path.
func (r *Registry) isHomeless() bool {
	r.outage.mu.Lock()
	defer r.outage.mu.Unlock()
	return r.outage.homeless || r.outage.gone
}

// isFailing reports whether the store is known to fail. [Registry.KeepStore] then tries again.
func (r *Registry) isFailing() bool { return r.StorageFailure() != "" }

// tryToPay saves what the task owes, in the order of the changes. The lock must be held.
func (t *Task) tryToPay(ctx context.Context) error {
	s := t.registry.store
	if err := t.payMessages(ctx); err != nil {
		return err
	}
	if t.owed.info {
		if err := s.Save(ctx, t.info, nil, t.unjournaled...); err != nil {
			return err
		}
		t.unjournaled, t.owed.info = nil, false
	}
	for askID, d := range t.owed.drafts {
		if err := s.SaveDraft(ctx, t.info.ID, askID, d); err != nil {
			return err
		}
		delete(t.owed.drafts, askID)
	}
	for messageID, round := range t.owed.rounds {
		if err := s.SaveRound(ctx, t.info.ID, messageID, round); err != nil {
			return err
		}
		delete(t.owed.rounds, messageID)
	}
	if t.owed.scrub {
		t.owed.scrub = false
		select {
		case t.registry.scrubbing <- struct{}{}:
		default: // KeepStore will do it
		}
	}
	return nil
}

// payMessages saves the messages that the task owes: all in one transaction or, if the store will never take one of them,
// each in its own. The lock must be held.
func (t *Task) payMessages(ctx context.Context) error {
	if len(t.owed.messages) == 0 {
		return nil
	}
	inOrder := slices.SortedFunc(maps.Values(t.owed.messages), func(a, b *message) int { return cmp.Compare(a.number, b.number) })
	err := t.saveMessages(ctx, inOrder)
	if !store.Unacceptable(err) {
		return err
	}
	for _, m := range inOrder {
		err := t.saveMessages(ctx, []*message{m})
		if m.unacceptable = store.Unacceptable(err); m.unacceptable {
			// It stays in memory. The messages after it must still reach the disk.
			t.registry.reportStorage(err)
			if err = t.registry.store.Save(ctx, t.info, nil, t.unjournaled...); err == nil {
				t.unjournaled, t.owed.info = nil, false
				delete(t.owed.messages, m.ID)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveMessages saves messages that the task owes, with their journal records. The lock must be held.
func (t *Task) saveMessages(ctx context.Context, messages []*message) error {
	entries := make([]*store.Entry, len(messages))
	for i, m := range messages {
		entries[i] = entryOf(m)
	}
	if err := t.registry.store.SaveAll(ctx, t.info, entries, t.unjournaled...); err != nil {
		return err
	}
	t.unjournaled, t.owed.info = nil, false
	for _, m := range messages {
		m.unacceptable = false
		delete(t.owed.messages, m.ID)
		if !m.live && t.memory[m.ID] == m {
			delete(t.memory, m.ID)
		}
	}
	return nil
}

// save saves a change of the task, and of a message unless m is nil. It reports whether the change is on disk. The lock
// must be held.
func (t *Task) save(m *message) bool {
	if m == nil {
		t.owed.info = true
	} else {
		owe(&t.owed.messages, m.ID, m)
	}
	t.noteQuiet()
	return t.pay() && (m == nil || !m.unacceptable)
}

// saveDraft saves the draft of an answer; nil deletes it. The lock must be held.
func (t *Task) saveDraft(askID string, d json.RawMessage) {
	owe(&t.owed.drafts, askID, d)
	t.pay()
}

// saveRound saves a round; nil deletes it. The lock must be held.
func (t *Task) saveRound(messageID int64, round *Round) {
	owe(&t.owed.rounds, messageID, round)
	t.pay()
}

func owe[K comparable, V any](debts *map[K]V, key K, value V) {
	if *debts == nil {
		*debts = map[K]V{}
	}
	(*debts)[key] = value
}

// entryOf returns a message as the store takes it.
func entryOf(m *message) *store.Entry {
	entry := &store.Entry{Message: m.Message, Number: m.number, Live: m.live, AskID: m.askID, Act: isAct(m.Body)}
	if call, ok := m.Body.(protocol.Call); ok && call.Task != nil {
		entry.McpTask, entry.McpTaskID = call.Task.CreatedAt, call.Task.TaskID
		if hasResult(m.Message) {
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

// unreadable returns the notice that stands for a message and all before it if the store's file is damaged.
func unreadable(id int64) protocol.Message {
	return protocol.Message{ID: id, Body: protocol.Notice{
		Level: protocol.NoticeWarning, Text: "What was here and before cannot be read: the store is damaged.",
	}}
}
