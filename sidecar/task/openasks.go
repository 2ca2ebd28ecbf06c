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
// than it returns. What other windows wrote before the call is in the list. It reads from the store only the asks of
// tasks that are not live here, and those once for each change of their task.
func (r *Registry) OpenAsks(ctx context.Context) (asks []protocol.OpenAsk, truncated bool, err error) {
	if err := r.load(); err != nil {
		return nil, false, err
	}
	r.catchUp(ctx)
	var open []openAsk
	for _, t := range r.all() {
		open = t.appendOpenAsks(ctx, open)
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
	// ask is nil where the task is not live here, and followed is it then.
	ask      *ask
	followed protocol.OpenAsk
}

func (t *Task) appendOpenAsks(ctx context.Context, open []openAsk) []openAsk {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := int64(0)
	add := func(a openAsk, m protocol.Message) {
		since = max(since, m.Time)
		a.since, a.messageID, a.taskID, a.task = since, m.ID, t.info.ID, t
		open = append(open, a)
	}
	if t.owned {
		for _, a := range t.asks.inOrder() {
			add(openAsk{ask: a}, a.message.Message)
		}
		return open
	}
	followed, err := t.followedAsks(ctx)
	if err != nil { // one task that cannot be read must not hide the others
		t.registry.opts.Log.Warn().Err(err).Str("task", t.info.ID).Msg("open asks are left out")
	}
	for _, brief := range followed {
		add(openAsk{followed: brief}, protocol.Message{ID: brief.MessageID, Time: brief.Time})
	}
	return open
}

// brief returns an ask as it is listed, and false if it has been settled by now.
func (o *openAsk) brief() (protocol.OpenAsk, bool) {
	if o.ask == nil {
		return o.followed, true
	}
	t := o.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asks.get(o.ask.question.AskID) != o.ask {
		return protocol.OpenAsk{}, false
	}
	return t.brief(o.ask.message.Message, o.ask.question), true
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
	brief.Origin = ask.Question.From()
	brief.Wants, brief.Text = InBrief(ask.Question)
	return brief
}

// InBrief returns what a question is in a list: see [protocol.OpenAsk].
func InBrief(question protocol.UseMcpServer) (wants protocol.AskWants, text string) {
	switch q := question.(type) {
	case protocol.McpElicitation:
		return protocol.WantsForm, firstLine(q.ElicitationRequest.Message)
	case protocol.McpURLElicitation:
		return protocol.WantsPage, firstLine(q.Message)
	case protocol.McpSampling:
		if n := len(q.SamplingRequest.Messages); n > 0 {
			text = firstText(q.SamplingRequest.Messages[n-1].Content)
		}
		return protocol.WantsCompletion, text
	case protocol.McpSamplingReview:
		return protocol.WantsReview, firstText(q.SamplingResponse.Content)
	case protocol.UseMcpTool:
		return protocol.WantsTool, firstLine(q.Tool.Name + " " + string(q.Arguments))
	case protocol.AccessMcpResource:
		return protocol.WantsResource, firstLine(q.URI)
	case protocol.RepeatMcpCall:
		return protocol.WantsRepeat, firstLine(q.Reason)
	default:
		return "", ""
	}
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
