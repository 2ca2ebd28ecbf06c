package model

import (
	"context"
	"fmt"
	"strings"
	"time"

	"assent/protocol"
)

// demoName is the demo's name in all answers, so that its answers do not look like a real model's.
const demoName = "assent-demo (scripted, not a language model)"

// Demo is the offline default: a script with conversations for the example servers. To anything
// else, it answers that it is a script.
type Demo struct {
	// Pace is the pause between two words.
	Pace time.Duration
}

var _ Provider = Demo{}

// Models implements [Provider].
func (Demo) Models(context.Context) ([]protocol.Model, error) {
	return []protocol.Model{{
		ID:         string(protocol.ProviderDemo) + ":script",
		Name:       "Demo script",
		Provider:   protocol.ProviderDemo,
		ModelFacts: protocol.ModelFacts{Tools: new(true)},
	}}, nil
}

// Generate implements [Provider].
func (d Demo) Generate(ctx context.Context, _ string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	question := lastText(request)
	answer, calls := demoAnswer(question), demoCalls(request)
	stop := StopEndTurn
	if story := demoStory(request, question); story != nil {
		answer, calls = story.text, story.calls
		if len(calls) > 0 {
			stop = StopToolUse
		}
	} else if results := toolResults(request); len(results) > 0 {
		answer = demoResults(results)
	} else if len(calls) > 0 {
		answer, stop = "This is where a language model would choose among the tools.", StopToolUse
	}
	words := strings.SplitAfter(answer, " ")
	// A word stands for a token here, so that the request's limit has a visible effect.
	if int64(len(words)) > request.MaxTokens {
		words, calls, stop = words[:request.MaxTokens], nil, StopMaxTokens
	}
	for _, word := range words {
		emit(word)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrFailed, context.Cause(ctx))
		case <-time.After(d.Pace):
		}
	}
	return &Completion{Text: strings.Join(words, ""), ToolUses: calls, Model: demoName, StopReason: stop, Usage: usage(int64(len(strings.Fields(question))), int64(len(words)))}, nil
}

// lastText returns the newest text of the user.
func lastText(request *protocol.McpSamplingRequest) string {
	for i := len(request.Messages) - 1; i >= 0; i-- {
		if request.Messages[i].Role != protocol.RoleUser {
			continue
		}
		for _, block := range request.Messages[i].Content {
			if text, ok := block.(protocol.TextContent); ok {
				return text.Text
			}
		}
	}
	return ""
}

func demoAnswer(question string) string {
	lower := strings.ToLower(question)
	switch {
	case strings.Contains(lower, "audit note") && demoShare().MatchString(question):
		return demoNote(question)
	case strings.Contains(lower, "risky") && demoShare().MatchString(question):
		return demoRisk(question)
	case strings.Contains(lower, "invitation to a lunch"):
		return "You are invited to lunch! There is good food and good company, and all that is missing is you."
	case strings.Contains(lower, "sampling"):
		return "Sampling lets an MCP server ask the model that you use for a completion. " +
			"Assent shows you the whole request first, and nothing is sent before you approve it."
	case strings.Contains(lower, "elicitation"):
		return "Elicitation lets an MCP server ask you for input in the middle of its work. " +
			"You fill in a form, decline, or dismiss it, and the server gets exactly that."
	default:
		return fmt.Sprintf("This is where a language model would answer %s.", quote(question))
	}
}

// quote shortens a question to a line.
func quote(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
