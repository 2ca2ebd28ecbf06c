package chat

import (
	"fmt"
	"slices"

	"assent/protocol"
	"assent/sidecar/model"
)

const (
	// assumedWindow is the context size of a model of unknown size, in tokens.
	assumedWindow = 64_000
	// shortResult is the length to which older results are truncated, in bytes.
	shortResult = 2000
)

// fit makes a request that fits the model's context, by Assent's own estimate. First it truncates the results
// of older calls. Then it removes whole steps, the oldest first, but not the person's first and last messages
// and not the model's last one. Then it truncates the newest results. It returns an error for the person if
// even that does not fit.
func fit(m *protocol.Model, request protocol.McpSamplingRequest, p *past) (*protocol.McpSamplingRequest, *protocol.LeftOut, error) {
	window := m.ContextTokens
	if window == 0 {
		window = assumedWindow
	}
	request.MaxTokens = min(request.MaxTokens, max(window/4, 1))
	// The estimate is rough, so a twentieth stays free.
	budget := window - window/20 - request.MaxTokens - model.Estimate(&request)
	images := m.Images != nil && *m.Images && !slices.Contains(m.Cannot, protocol.PartImages)

	steps := p.steps
	kept := make([]fitted, len(steps))
	total := int64(0)
	for i, s := range steps {
		kept[i] = fitted{step: forModel(s, images)}
		kept[i].measure()
		total += kept[i].tokens
	}
	whole := total
	out := &protocol.LeftOut{Messages: p.omitted, ToolResults: p.shortened}
	first, last := firstAndLast(steps)
	shorten := func(i int) {
		if total <= budget || kept[i].gone {
			return
		}
		total -= kept[i].tokens
		out.ToolResults += kept[i].shorten()
		total += kept[i].tokens
	}
	drop := func(i int) {
		if total <= budget || kept[i].gone || i == first || i == last || i == len(steps)-1 {
			return
		}
		total -= kept[i].tokens
		kept[i].gone = true
		out.Messages += len(kept[i].step.messages)
	}
	for i := 0; i < len(kept)-1; i++ {
		shorten(i)
	}
	for i := range kept {
		drop(i)
	}
	if len(kept) > 0 {
		shorten(len(kept) - 1)
	}
	if total > budget {
		return nil, nil, fmt.Errorf("the request has about %d tokens, and %s accepts about %d: choose a model with a larger context, enable fewer tools, or shorten your message",
			total+window-budget, m.Name, window)
	}
	for i, k := range kept {
		if k.gone {
			continue
		}
		messages := k.step.messages
		if i == first && out.Messages > 0 {
			messages = withNote(messages, fmt.Sprintf("[%d messages that followed are left out here: the conversation is too long.]", out.Messages))
		}
		request.Messages = append(request.Messages, messages...)
	}
	if out.Tokens = whole - total; out.Messages == 0 && out.ToolResults == 0 {
		return &request, nil, nil
	}
	return &request, out, nil
}

// firstAndLast returns the indexes of the person's first and last messages, or -1 if there are
// none.
func firstAndLast(steps []step) (first, last int) {
	first, last = -1, -1
	for i, s := range steps {
		if !s.fromUser {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	return first, last
}

// fitted is a step on its way into a request.
type fitted struct {
	step   step
	tokens int64
	gone   bool
}

func (f *fitted) measure() {
	f.tokens = model.Estimate(&protocol.McpSamplingRequest{Messages: f.step.messages})
}

// shorten truncates the results of tools, and returns how many it truncated.
func (f *fitted) shorten() (count int) {
	messages := slices.Clone(f.step.messages)
	for i, m := range messages {
		content := slices.Clone(m.Content)
		for j, block := range content {
			result, ok := block.(protocol.ToolResultContent)
			if !ok {
				continue
			}
			if short, changed := shortened(result); changed {
				content[j] = short
				count++
			}
		}
		messages[i].Content = content
	}
	f.step.messages = messages
	f.measure()
	return count
}

// shortened returns the beginning of a result, and whether it was truncated.
func shortened(result protocol.ToolResultContent) (protocol.ToolResultContent, bool) {
	left, changed := shortResult, false
	var content []protocol.ToolResultBlock
	for _, block := range result.Content {
		text, ok := block.(protocol.TextContent)
		switch {
		case !ok:
			changed = true
			content = append(content, protocol.TextContent{Text: "[an image, left out here]"})
		case len(text.Text) > left:
			changed = true
			kept := model.Cut(text.Text, left)
			content = append(content, protocol.TextContent{Text: kept + model.CutNote(len(kept), len(text.Text))})
			left = 0
		default:
			left -= len(text.Text)
			content = append(content, text)
		}
	}
	result.Content = content
	return result, changed
}

// forModel removes the images from a step if the model is not known to accept them.
func forModel(s step, images bool) step {
	if images {
		return s
	}
	const unseen = "[an image, which this model cannot see]"
	messages := slices.Clone(s.messages)
	for i, m := range messages {
		content := slices.Clone(m.Content)
		for j, block := range content {
			switch b := block.(type) {
			case protocol.ImageContent:
				content[j] = protocol.TextContent{Text: unseen}
			case protocol.ToolResultContent:
				b.Content = slices.Clone(b.Content)
				for k, part := range b.Content {
					if _, ok := part.(protocol.ImageContent); ok {
						b.Content[k] = protocol.TextContent{Text: unseen}
					}
				}
				content[j] = b
			}
		}
		messages[i].Content = content
	}
	s.messages = messages
	return s
}

// withNote appends a text to the last message.
func withNote(messages []protocol.SamplingMessage, note string) []protocol.SamplingMessage {
	messages = slices.Clone(messages)
	if len(messages) == 0 {
		return messages
	}
	last := &messages[len(messages)-1]
	last.Content = append(slices.Clip(last.Content), protocol.TextContent{Text: note})
	return messages
}
