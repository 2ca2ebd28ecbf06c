package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
)

// A story is the script's part in a conversation with tools that match the request. It compares words of
// the request with words in the tools' names; it understands nothing.
type story struct {
	text  string
	calls []protocol.ToolUseContent
}

// The verbs that the script recognises in a tool's name.
const (
	verbCount  = "count"
	verbFind   = "find"
	verbDelete = "delete"
	verbUndo   = "undo"
)

var demoVerbs = map[string]string{
	"count": verbCount, "many": verbCount, "number": verbCount,
	"find": verbFind, "list": verbFind, "show": verbFind, "which": verbFind, "who": verbFind,
	"delete": verbDelete, "remove": verbDelete, "purge": verbDelete, "clean": verbDelete,
	"undo": verbUndo, "restore": verbUndo, "revert": verbUndo,
}

// demoNouns maps synonyms to a noun.
var demoNouns = map[string]string{"account": "user", "person": "user", "people": "user"}

// demoStory returns nil if no tool matches the request.
func demoStory(request *protocol.McpSamplingRequest, question string) *story {
	if toolMode(request) == protocol.ToolChoiceNone {
		return nil
	}
	steps := demoSteps(request.Tools, question)
	if len(steps) == 0 {
		return nil
	}
	told := since(request)
	if !told.failed {
		for _, tool := range steps {
			if slices.Contains(told.called, tool.Name) {
				continue
			}
			// The script calls the tool with the matching name.
			return &story{
				text: fmt.Sprintf("The demo script calls %s, because its name has words of your request.", cmp.Or(tool.Title, tool.Name)),
				calls: []protocol.ToolUseContent{{
					ID: fmt.Sprintf("demo_%d", told.calls+1), Name: tool.Name, Input: demoInput(tool.InputSchema, told.value),
				}},
			}
		}
	}
	return &story{text: strings.Join(told.results, "\n\n")}
}

// demoSteps returns the tools to call, in order. A tool that deletes is called after the one that
// counts the same items, so that the conversation shows the number first.
func demoSteps(tools []protocol.SamplingTool, question string) []protocol.SamplingTool {
	asked := map[string]bool{}
	negated := false
	var nouns []string
	for _, word := range words(question) {
		if word == "not" || word == "don" || word == "never" { // "don't" is two words here
			negated = true
		}
		if verb := demoVerbs[word]; verb != "" {
			asked[verb] = true
		} else {
			nouns = append(nouns, noun(word))
		}
	}
	var verbs []string
	switch {
	case negated: // a script cannot follow a negation
	case asked[verbUndo]:
		verbs = []string{verbUndo}
	case asked[verbDelete]:
		verbs = []string{verbCount, verbDelete}
	case asked[verbCount]:
		verbs = []string{verbCount}
	case asked[verbFind]:
		verbs = []string{verbFind}
	}
	var steps []protocol.SamplingTool
	for _, verb := range verbs {
		if tool := demoTool(tools, verb, nouns); tool != nil {
			steps = append(steps, *tool)
		}
	}
	// The request was not only to count.
	if asked[verbDelete] && len(steps) == 1 && demoTool(tools, verbDelete, nouns) == nil {
		return nil
	}
	return steps
}

// demoTool returns the tool with that verb whose name shares the most words with the request, at
// least one. A tool that restores needs none, because such requests have no fixed words.
func demoTool(tools []protocol.SamplingTool, verb string, nouns []string) *protocol.SamplingTool {
	var best *protocol.SamplingTool
	most := 0
	for i := range tools {
		first, others := wordsOfTool(tools[i].Name)
		if first != verb {
			continue
		}
		shared := 0
		for _, other := range others {
			if slices.Contains(nouns, other) {
				shared++
			}
		}
		if shared > most || best == nil && verb == verbUndo {
			best, most = &tools[i], shared
		}
	}
	return best
}

// wordsOfTool returns the first known verb of a tool's name, or "", and the nouns.
func wordsOfTool(name string) (verb string, nouns []string) {
	for _, word := range words(name) {
		if known := demoVerbs[word]; known == "" {
			nouns = append(nouns, noun(word))
		} else if verb == "" {
			verb = known
		}
	}
	return verb, nouns
}

// words returns the words of a text in lower case; a tool's name has them between underscores.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

func noun(word string) string {
	word = strings.TrimSuffix(word, "s")
	if same := demoNouns[word]; same != "" {
		return same
	}
	return word
}

// told is the history of a conversation.
type told struct {
	// calls is the number of all calls; called are the tools since the user's last message.
	calls  int
	called []string
	// results are the tools' texts since then; failed reports whether the last one was an error.
	results []string
	failed  bool
	// said holds all texts of tools, the newest last.
	said []string
}

func since(request *protocol.McpSamplingRequest) *told {
	t := &told{}
	for _, message := range request.Messages {
		for _, block := range message.Content {
			switch block := block.(type) {
			case protocol.TextContent:
				if message.Role == protocol.RoleUser {
					t.called, t.results, t.failed = nil, nil, false
				}
			case protocol.ToolUseContent:
				t.calls++
				t.called = append(t.called, block.Name)
			case protocol.ToolResultContent:
				t.failed = block.IsError
				t.said = append(t.said, string(block.StructuredContent))
				for _, content := range block.Content {
					if text, ok := content.(protocol.TextContent); ok {
						t.said = append(t.said, text.Text)
						// JSON for programs follows the same data as text.
						if !json.Valid([]byte(text.Text)) || len(t.results) == 0 {
							t.results = append(t.results, firstParagraph(text.Text))
						}
					}
				}
			}
		}
	}
	return t
}

// value returns the number or text that the tools last returned under that name, as JSON.
func (t *told) value(name string) json.RawMessage {
	member, err := regexp.Compile(regexp.QuoteMeta(strconv.Quote(name)) + `\s*:\s*(-?\d+|"[^"\\]*")`)
	if err != nil {
		return nil
	}
	for _, text := range slices.Backward(t.said) {
		if found := member.FindAllStringSubmatch(text, -1); found != nil {
			return json.RawMessage(found[len(found)-1][1])
		}
	}
	return nil
}

func firstParagraph(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	const most = 500
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// The facts that the smart database passes to its model.
var (
	demoShare  = lazyregexp.New(`(\d{1,9}) of (\d{1,9})`)
	demoOrders = lazyregexp.New(`(?i)with orders: (\d{1,9})`)
	demoReason = lazyregexp.New(`(?m)^Reason: (.+)$`)
)

// demoRisk classifies a deletion by a rule: HIGH for more than half of the rows, MEDIUM for a tenth,
// or if rows have orders.
func demoRisk(question string) string {
	share := demoShare().FindStringSubmatch(question)
	part, whole := number(share[1]), number(share[2])
	orders := 0
	if found := demoOrders().FindStringSubmatch(question); found != nil {
		orders = number(found[1])
	}
	level := "LOW"
	switch {
	case part*2 > whole:
		level = "HIGH"
	case part*10 > whole || orders > 0:
		level = "MEDIUM"
	}
	return fmt.Sprintf("%s: %d of %d rows would go, and %d of them have orders.", level, part, whole, orders)
}

// demoNote writes an audit note from the given facts only.
func demoNote(question string) string {
	share := demoShare().FindStringSubmatch(question)
	note := fmt.Sprintf("%s of %s users were deleted after a person confirmed it.", share[1], share[2])
	if reason := demoReason().FindStringSubmatch(question); reason != nil {
		note += " Reason: " + strings.TrimSpace(reason[1])
	}
	return note
}

// number reads up to nine digits, which fit every int.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
