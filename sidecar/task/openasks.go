package task

import (
	"cmp"
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
// than it returns. It reads nothing from the store.
func (r *Registry) OpenAsks() (asks []protocol.OpenAsk, truncated bool, err error) {
	if err := r.load(); err != nil {
		return nil, false, err
	}
	for _, t := range r.all() {
		asks = t.appendOpenAsks(asks)
	}
	slices.SortFunc(asks, func(a, b protocol.OpenAsk) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.MessageID, b.MessageID))
	})
	if len(asks) > maxOpenAsks {
		return asks[:maxOpenAsks], true, nil
	}
	return asks, false, nil
}

func (t *Task) appendOpenAsks(asks []protocol.OpenAsk) []protocol.OpenAsk {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.asks {
		brief := protocol.OpenAsk{
			TaskID: t.info.ID, Title: t.info.Title, MessageID: a.message.ID,
			Time: a.message.Time, AskID: a.question.AskID,
		}
		switch q := a.question.Question.(type) {
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
		asks = append(asks, brief)
	}
	return asks
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
