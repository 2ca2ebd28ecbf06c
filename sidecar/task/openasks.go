package task

import (
	"cmp"
	"slices"

	"assent/protocol"
)

// maxOpenAsks bounds the list of open asks, and maxBrief the text of each, in bytes.
const (
	maxOpenAsks = 500
	maxBrief    = 300
)

// OpenAsks returns the asks of all tasks that wait for a person, the oldest first, and whether there are more
// than it returns. It reads nothing from the store.
func (r *Registry) OpenAsks() (asks []protocol.OpenAsk, truncated bool, err error) {
	if err := r.load(); err != nil {
		return nil, false, err
	}
	var open []openAsk
	for _, t := range r.all() {
		open = t.appendOpenAsks(open)
	}
	slices.SortFunc(open, func(a, b openAsk) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.taskID, b.taskID), cmp.Compare(a.messageID, b.messageID))
	})
	truncated = len(open) > maxOpenAsks
	for _, o := range open[:min(len(open), maxOpenAsks)] {
		if brief, ok := o.brief(); ok {
			asks = append(asks, brief)
		}
	}
	return asks, truncated, nil
}

// openAsk is where an open ask belongs in the list: most of ten thousand are looked at no closer.
type openAsk struct {
	// since is its time, but never before that of an ask that came before it in its task: the clock may have
	// been put back.
	since, messageID int64
	taskID           string
	task             *Task
	ask              *ask
}

func (t *Task) appendOpenAsks(open []openAsk) []openAsk {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := int64(0)
	for _, a := range t.asks.inOrder() {
		since = max(since, a.message.Time)
		open = append(open, openAsk{since: since, messageID: a.message.ID, taskID: t.info.ID, task: t, ask: a})
	}
	return open
}

// brief returns an ask as it is listed, and false if it has been settled by now.
func (o *openAsk) brief() (protocol.OpenAsk, bool) {
	t := o.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asks.get(o.ask.question.AskID) != o.ask {
		return protocol.OpenAsk{}, false
	}
	return t.brief(o.ask.message.Message, o.ask.question), true
}

// brief returns an open ask for the list. The lock must be held.
func (t *Task) brief(m protocol.Message, ask protocol.Ask) protocol.OpenAsk {
	brief := protocol.OpenAsk{TaskID: t.info.ID, Title: t.info.Title, MessageID: m.ID, Time: m.Time, AskID: ask.AskID}
	brief.Origin = ask.Question.From()
	brief.Wants, brief.Text = InBrief(ask.Question)
	brief.Fields, brief.Simple = simple(ask.Question, brief.Text)
	return brief
}
