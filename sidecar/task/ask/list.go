package ask

import (
	"cmp"
	"iter"
	"slices"

	"assent/protocol"
)

// maxOpenAsks bounds the list of open asks, and maxBrief the text of each, in bytes.
const (
	maxOpenAsks = 500
	maxBrief    = 300
)

// List returns the asks of several tasks that wait for a person, the oldest first, and whether there are more than it returns.
// It reads nothing from the store.
func List(tasks iter.Seq[*Asks]) (listed []protocol.OpenAsk, truncated bool) {
	var open []position
	for s := range tasks {
		open = s.appendPositions(open)
	}
	slices.SortFunc(open, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.taskID, b.taskID), cmp.Compare(a.messageID, b.messageID))
	})
	truncated = len(open) > maxOpenAsks
	for _, p := range open[:min(len(open), maxOpenAsks)] {
		if brief, ok := p.asks.brief(p.ask); ok {
			listed = append(listed, brief)
		}
	}
	return listed, truncated
}

// position is the place of an open ask in the list. List reads more only of the asks that it returns.
type position struct {
	// since is the time of the ask, but never before the time of an earlier ask of the task: the clock may have been set
	// back.
	since, messageID int64
	taskID           string
	asks             *Asks
	ask              *ask
}

func (s *Asks) appendPositions(open []position) []position {
	s.log.Lock()
	defer s.log.Unlock()
	since := int64(0)
	for _, a := range s.open.inOrder() {
		since = max(since, a.message.Time)
		open = append(open, position{since: since, messageID: a.message.ID, taskID: s.log.Info.ID, asks: s, ask: a})
	}
	return open
}

// brief returns an ask as it is listed, and false if it has been settled by now.
func (s *Asks) brief(a *ask) (protocol.OpenAsk, bool) {
	s.log.Lock()
	defer s.log.Unlock()
	if s.open.get(a.question.AskID) != a {
		return protocol.OpenAsk{}, false
	}
	m, question := a.message, a.question.Question
	brief := protocol.OpenAsk{TaskID: s.log.Info.ID, Title: s.log.Info.Title, MessageID: m.ID, Time: m.Time, AskID: a.question.AskID}
	brief.Origin = question.From()
	brief.Wants, brief.Text = InBrief(question)
	brief.Fields, brief.Simple = Simple(question, brief.Text)
	return brief, true
}
