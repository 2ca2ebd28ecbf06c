package chat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/model"
)

// conversationOf makes a random conversation: messages of the person, and of models with calls, some without
// a result.
func conversationOf(r *rand.Rand) *past {
	p := &past{}
	text := func() string { return strings.Repeat("word ", r.IntN(1<<r.IntN(12))) + "." }
	for id := range int64(1 + r.IntN(30)) {
		if id == 0 || r.IntN(3) == 0 {
			p.add(step{fromUser: true, messages: []protocol.SamplingMessage{{
				Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: fmt.Sprintf("user %d %s", id, text())}},
			}}})
			continue
		}
		said := protocol.ModelMessage{Text: text(), End: &protocol.ModelEnd{Reason: protocol.ModelEndTurn}}
		results := map[protocol.ToolUseRef]protocol.ToolResultContent{}
		for i := range r.IntN(4) {
			said.End.Reason = protocol.ModelEndToolUse
			use := protocol.ModelToolUse{ID: fmt.Sprint(i), Name: "t", Arguments: json.RawMessage(`{}`)}
			switch r.IntN(5) {
			case 0:
				use.Error = "no"
			case 1: // an unknown size
			default:
				results[protocol.ToolUseRef{MessageID: id, ToolUseID: use.ID}] = resultOf(use.ID, protocol.ToolResult{Content: []protocol.ContentBlock{
					protocol.TextContent{Text: text()}, protocol.ImageContent{MIMEType: "image/png", Data: "QQ=="},
				}})
			}
			said.ToolUses = append(said.ToolUses, use)
		}
		if s := saidByModel(id, said, results); len(s.messages) > 0 {
			p.add(s)
		}
	}
	return p
}

// A request always fits. Every result has its call and every call its result, and the person's first and
// last messages are included.
func TestLeftOutMessages(t *testing.T) {
	fitting, refused := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := conversationOf(r)
		first, last := firstAndLast(p.steps)
		total := 0
		for _, s := range p.steps {
			total += len(s.messages)
		}
		m := &protocol.Model{Name: "M", ModelFacts: protocol.ModelFacts{ContextTokens: 200 + r.Int64N(1<<r.IntN(15)), Images: new(r.IntN(2) == 0)}}
		request, out, err := fit(m, protocol.McpSamplingRequest{SystemPrompt: "Be brief.", MaxTokens: 100}, p)
		if err != nil {
			refused++
			continue
		}
		fitting++
		if used := model.Estimate(request) + request.MaxTokens; used > m.ContextTokens+20 { // for the note about omitted messages
			t.Errorf("seed %d: %d tokens are sent to a model that reads %d", seed, used, m.ContextTokens)
		}
		if err := paired(request.Messages); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, i := range []int{first, last} {
			said := p.steps[i].messages[0].Content[0].(protocol.TextContent)
			if !contained(request.Messages, said) {
				t.Errorf("seed %d: %.20q is not sent", seed, said.Text)
			}
		}
		omitted := 0
		if out != nil {
			omitted = out.Messages
		}
		if len(request.Messages) != total-omitted {
			t.Errorf("seed %d: of %d messages %d are sent, and %d said to be left out", seed, total, len(request.Messages), omitted)
		}
	}
	if fitting < 200 || refused < 30 {
		t.Errorf("%d conversations fitted and %d did not: that tries little", fitting, refused)
	}
}

func contained(messages []protocol.SamplingMessage, text protocol.TextContent) bool {
	for _, m := range messages {
		if slices.Contains(m.Content, protocol.ContentBlock(text)) {
			return true
		}
	}
	return false
}

// paired returns an error for a call without its result, or a result without its call.
func paired(messages []protocol.SamplingMessage) error {
	open := map[string]bool{}
	for i, m := range messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("the message %d is empty", i)
		}
		results := map[string]bool{}
		for _, block := range m.Content {
			if result, ok := block.(protocol.ToolResultContent); ok {
				if !open[result.ToolUseID] {
					return fmt.Errorf("the message %d has a result of %q, which was not called", i, result.ToolUseID)
				}
				results[result.ToolUseID] = true
			}
		}
		if len(results) != len(open) {
			return fmt.Errorf("the message %d has %d results of %d calls", i, len(results), len(open))
		}
		open = map[string]bool{}
		for _, block := range m.Content {
			if use, ok := block.(protocol.ToolUseContent); ok {
				open[use.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls have no result", len(open))
	}
	return nil
}

// Older results are truncated before any message is removed.
func TestOldResultsAreShortenedFirst(t *testing.T) {
	p := &past{}
	user := func(text string) {
		p.add(step{fromUser: true, messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: text}}}}})
	}
	result := func(id int64) {
		ref := protocol.ToolUseRef{MessageID: id, ToolUseID: "a"}
		p.add(saidByModel(id, protocol.ModelMessage{
			ToolUses: []protocol.ModelToolUse{{ID: "a", Name: "t"}}, End: &protocol.ModelEnd{Reason: protocol.ModelEndToolUse},
		}, map[protocol.ToolUseRef]protocol.ToolResultContent{ref: resultOf("a", protocol.ToolResult{Content: []protocol.ContentBlock{
			protocol.TextContent{Text: strings.Repeat("x", 40_000)},
		}})}))
	}
	user("first")
	result(2)
	user("second")
	result(4)
	m := &protocol.Model{Name: "M", ModelFacts: protocol.ModelFacts{ContextTokens: 16_000}}
	request, out, err := fit(m, protocol.McpSamplingRequest{MaxTokens: 1000}, p)
	if err != nil {
		t.Fatal(err)
	}
	if out == nil || out.Messages != 0 || out.ToolResults != 1 || out.Tokens < 9000 {
		t.Errorf("left out is %+v", out)
	}
	sizes := []int{}
	for _, m := range request.Messages {
		if r, ok := m.Content[0].(protocol.ToolResultContent); ok {
			sizes = append(sizes, len(r.Content[0].(protocol.TextContent).Text))
		}
	}
	if len(sizes) != 2 || sizes[0] > 2100 || sizes[1] != 40_000 {
		t.Errorf("the results have %d bytes", sizes)
	}
	// The person's own text is not truncated; they get an error instead.
	user(strings.Repeat("y", 100_000))
	if _, _, err := fit(m, protocol.McpSamplingRequest{MaxTokens: 1000}, p); err == nil || !strings.Contains(err.Error(), "M accepts about 16000") {
		t.Errorf("fit = %v", err)
	}
}

// A long turn stays within the largest context of any model.
func TestATurnIsHeldWithinBounds(t *testing.T) {
	p := &past{}
	image := "iVBORw0KGgoA" + strings.Repeat("A", 4<<20)
	for id := range int64(12) {
		ref := protocol.ToolUseRef{MessageID: id, ToolUseID: "a"}
		p.add(saidByModel(id, protocol.ModelMessage{
			ToolUses: []protocol.ModelToolUse{{ID: "a", Name: "t"}}, End: &protocol.ModelEnd{Reason: protocol.ModelEndToolUse},
		}, map[protocol.ToolUseRef]protocol.ToolResultContent{ref: resultOf("a", protocol.ToolResult{Content: []protocol.ContentBlock{
			protocol.ImageContent{MIMEType: "image/png", Data: image},
		}})}))
	}
	held := 0
	for i := range p.steps {
		held += p.steps[i].size()
	}
	if held > maxHistory || p.shortened == 0 {
		t.Errorf("%d bytes are held, %d results shortened", held, p.shortened)
	}
}
