package task

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"assent/protocol"
)

// maxOpenAsks bounds the list of open asks, and maxBrief the text of each, in bytes.
const (
	maxOpenAsks = 500
	maxBrief    = 300
)

// OpenAsks returns the asks of all tasks that wait for a person, the oldest first, and whether there are more
// than it returns. It reads from the store only those of tasks that are not live here, and those once for each
// change of their task.
func (r *Registry) OpenAsks(ctx context.Context) (asks []protocol.OpenAsk, truncated bool, err error) {
	if err := r.load(); err != nil {
		return nil, false, err
	}
	for _, t := range r.all() {
		asks = t.appendOpenAsks(ctx, asks)
	}
	slices.SortFunc(asks, func(a, b protocol.OpenAsk) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.MessageID, b.MessageID))
	})
	if len(asks) > maxOpenAsks {
		return asks[:maxOpenAsks], true, nil
	}
	return asks, false, nil
}

func (t *Task) appendOpenAsks(ctx context.Context, asks []protocol.OpenAsk) []protocol.OpenAsk {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.owned {
		followed, err := t.followedAsks(ctx)
		if err != nil { // one task that cannot be read must not hide the others
			t.registry.opts.Log.Warn().Err(err).Str("task", t.info.ID).Msg("open asks are left out")
		}
		return append(asks, followed...)
	}
	for _, a := range t.asks {
		asks = append(asks, t.brief(a.message.Message, a.question))
	}
	return asks
}

// followedAsks returns the open asks of a task that is not live here. The lock must be held.
func (t *Task) followedAsks(ctx context.Context) ([]protocol.OpenAsk, error) {
	if t.info.OpenAsks == 0 {
		return nil, nil
	}
	if t.following != nil && t.followingAt == t.info.LastNumber {
		return t.following, nil
	}
	entries, err := t.registry.store.Live(ctx, t.info.ID)
	if err != nil {
		return nil, err
	}
	t.following, t.followingAt = []protocol.OpenAsk{}, t.info.LastNumber
	for _, e := range entries {
		if ask, ok := e.Message.Body.(protocol.Ask); ok && ask.Outcome == nil {
			brief := t.brief(e.Message, ask)
			brief.Elsewhere = true
			t.following = append(t.following, brief)
		}
	}
	return t.following, nil
}

// brief returns an open ask for the list. The lock must be held.
func (t *Task) brief(m protocol.Message, ask protocol.Ask) protocol.OpenAsk {
	brief := protocol.OpenAsk{TaskID: t.info.ID, Title: t.info.Title, MessageID: m.ID, Time: m.Time, AskID: ask.AskID}
	switch q := ask.Question.(type) {
	case protocol.McpElicitation:
		brief.Wants, brief.Origin, brief.Text = protocol.WantsForm, q.Origin, firstLine(q.ElicitationRequest.Message)
	case protocol.McpURLElicitation:
		brief.Wants, brief.Origin, brief.Text = protocol.WantsPage, q.Origin, firstLine(q.Message)
	case protocol.McpSampling:
		brief.Wants, brief.Origin = protocol.WantsCompletion, q.Origin
		if n := len(q.SamplingRequest.Messages); n > 0 {
			brief.Text = firstText(q.SamplingRequest.Messages[n-1].Content)
		}
	case protocol.McpSamplingReview:
		brief.Wants, brief.Origin, brief.Text = protocol.WantsReview, q.Origin, firstText(q.SamplingResponse.Content)
	}
	return brief
}

// firstText is what firstLine makes of the first text there is.
func firstText(content []protocol.ContentBlock) string {
	for _, block := range content {
		if text, ok := block.(protocol.TextContent); ok {
			return firstLine(text.Text)
		}
	}
	return ""
}

// firstLine puts the beginning of a text on one line.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	cut := min(len(s), 4*maxBrief) // what is beyond costs nothing, though there be megabytes of it
	more := cut < len(s)
	line := strings.Join(strings.Fields(s[:cut]), " ")
	if len(line) > maxBrief {
		line, more = line[:maxBrief], true
	}
	if !more {
		return line
	}
	for len(line) > 0 { // not within a character
		if r, size := utf8.DecodeLastRuneInString(line); r != utf8.RuneError || size != 1 {
			break
		}
		line = line[:len(line)-1]
	}
	return line + "…"
}
