package task

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/task/store"
)

const (
	// The bounds of a text to search for, in characters, and of the number of hits.
	minSearch, maxSearch = 2, 200
	usualHits, maxHits   = 50, 1000
	// searchTime bounds the time of a search.
	searchTime = 3 * time.Second
	// around is how many characters are shown on each side of a hit.
	around = 40
)

// Search finds a text in messages; see [protocol.Sidecar.SearchTasks].
func (r *Registry) Search(ctx context.Context, p *protocol.SearchTasksParams) (*protocol.SearchTasksResult, error) {
	text := strings.Join(strings.Fields(p.Text), " ")
	if n := utf8.RuneCountInString(text); n < minSearch || n > maxSearch {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "a text to look for has %d to %d characters", minSearch, maxSearch)
	}
	if p.Limit < 0 || p.Limit > maxHits {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "the limit must be from 0 to %d", maxHits)
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	limit := cmp.Or(p.Limit, usualHits)
	looking, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	result := &protocol.SearchTasksResult{}
	err := r.storage.Opened().Search(looking, text, p.TaskID, func(f store.Found) bool {
		before, match, after, ok := find(f.Message.Body, text)
		if !ok {
			return true
		}
		t := r.get(f.TaskID)
		if t == nil {
			return true // it was removed a moment ago
		}
		if result.Truncated = len(result.Hits) == limit; result.Truncated {
			return false
		}
		result.Hits = append(result.Hits, protocol.SearchHit{
			TaskID: f.TaskID, Title: t.Info().Title, MessageID: f.MessageID, Time: f.Message.Time,
			Before: before, Match: match, After: after,
		})
		return true
	})
	if err != nil && ctx.Err() == nil && errors.Is(looking.Err(), context.DeadlineExceeded) {
		result.Truncated = true
		return result, nil
	}
	return result, err
}

// find finds a text in a message.
func find(body protocol.Body, text string) (before, match, after string, ok bool) {
	for _, said := range saidIn(body) {
		runes := []rune(strings.Join(strings.Fields(said), " "))
		at := indexFold(runes, []rune(text))
		if at < 0 {
			continue
		}
		end := at + utf8.RuneCountInString(text)
		from, to := max(0, at-around), min(len(runes), end+around)
		before, after = string(runes[from:at]), string(runes[end:to])
		if from > 0 {
			before = "…" + before
		}
		if to < len(runes) {
			after += "…"
		}
		return before, string(runes[at:end]), after, true
	}
	return "", "", "", false
}

// indexFold returns the index of text in runes, ignoring case, or -1.
func indexFold(runes, text []rune) int {
	for at := 0; at+len(text) <= len(runes); at++ {
		i := 0
		for i < len(text) && (runes[at+i] == text[i] || unicode.ToLower(runes[at+i]) == unicode.ToLower(text[i])) {
			i++
		}
		if i == len(text) {
			return at
		}
	}
	return -1
}

// saidIn returns the texts of a message as the person sees them. A settled question about a model's call has
// none, because the call shows them.
func saidIn(body protocol.Body) []string {
	switch b := body.(type) {
	case protocol.UserMessage:
		return []string{b.Text}
	case protocol.Attachment:
		return append(textsOf([]protocol.ContentBlock{b.Content}), b.Name)
	case protocol.ModelMessage:
		return []string{b.Text}
	case protocol.Notice:
		return []string{b.Text}
	case protocol.Call:
		return saidInCall(b)
	case protocol.Ask:
		switch q := b.Question.(type) {
		case protocol.UseMcpTool, protocol.AccessMcpResource:
			return nil
		case protocol.McpElicitation:
			return []string{q.ElicitationRequest.Message}
		case protocol.McpURLElicitation:
			return []string{q.Message, q.URL}
		case protocol.McpSampling:
			texts := []string{q.SamplingRequest.SystemPrompt}
			for _, m := range q.SamplingRequest.Messages {
				texts = append(texts, textsOf(m.Content)...)
			}
			return texts
		case protocol.McpSamplingReview:
			return textsOf(q.SamplingResponse.Content)
		}
	}
	return nil
}

func saidInCall(call protocol.Call) (texts []string) {
	switch r := call.Request.(type) {
	case protocol.CallToolRequest:
		texts = []string{r.Title, r.ToolName, string(r.Arguments)}
	case protocol.ReadResourceRequest:
		texts = []string{r.URI}
	case protocol.GetPromptRequest:
		texts = []string{r.PromptName}
	}
	switch r := call.Result.(type) {
	case protocol.ToolResult:
		texts = append(append(texts, textsOf(r.Content)...), string(r.StructuredContent))
	case protocol.PromptResult:
		for _, m := range r.Messages {
			texts = append(texts, textsOf([]protocol.ContentBlock{m.Content})...)
		}
	case protocol.CallError:
		texts = append(texts, r.Message)
	case protocol.CallLost:
		texts = append(texts, r.Reason)
	case protocol.CallAbandoned:
		texts = append(texts, r.Reason)
	}
	return texts
}

func textsOf(content []protocol.ContentBlock) (texts []string) {
	for _, block := range content {
		switch b := block.(type) {
		case protocol.TextContent:
			texts = append(texts, b.Text)
		case protocol.EmbeddedResource:
			texts = append(texts, b.Resource.Text, b.Resource.URI)
		case protocol.ResourceLink:
			texts = append(texts, b.Name, b.URI)
		}
	}
	return texts
}
