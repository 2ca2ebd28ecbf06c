// Package answers reads files with answers for runs without a person: rules for the questions of servers, in YAML
// or JSON.
//
// [Load] is strict, so that an author finds a mistake in a rule before a server does. Its errors name the file, the
// line and the column. [File.Take] may be called from any goroutine. The package asks no person, and does not depend on
// the sidecar.
package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a question.
type Kind string

// The kinds of questions.
const (
	// Form is an elicitation in form mode, Page an elicitation in URL mode.
	Form Kind = "form"
	Page Kind = "page"
	// Completion is a request for sampling, Review the review of a model's answer.
	Completion Kind = "completion"
	Review     Kind = "review"
	// Input is an input of an mcp.json.
	Input Kind = "input"
	// Tool is a model's call of a tool, Resource its read of a resource.
	Tool     Kind = "tool"
	Resource Kind = "resource"
	// Repeat is the question whether to repeat a failed call.
	Repeat Kind = "repeat"
)

// kinds lists all kinds, for errors.
var kinds = []string{string(Form), string(Page), string(Completion), string(Review), string(Input), string(Tool), string(Resource), string(Repeat)}

// Way is how a rule settles an ask.
type Way string

// The ways to settle an ask. Each is a key of a rule.
const (
	// Answer fills in a form or an input, or lets a model call a tool with other arguments.
	Answer Way = "answer"
	// Approve sends a sampling request to the proposed model, a model's answer to the server, or a model's call to
	// a tool or a resource. It consents to a page. It repeats a call if the rule names that kind.
	Approve Way = "approve"
	// Complete gives a completion. Its key is "completion".
	Complete Way = "completion"
	Decline  Way = "decline"
	Cancel   Way = "cancel"
	// Fail is a failure of the model.
	Fail Way = "fail"
)

// Ask is a question of a server.
type Ask struct {
	Kind    Kind
	Server  string
	Tools   []string
	Message string
	// Fields are the names of a form's fields.
	Fields []string
}

// Rule says how to settle the asks that it matches.
type Rule struct {
	// File and Line are the position of the rule.
	File string
	Line int

	// The members that an ask must match. An empty one matches all asks. A rule of a strict file has the kind alone, and
	// the whole question; see [File.TakeNext].
	Server, Tool string
	Kind         Kind
	// Message must be a part of the ask's message. Case and white space do not matter.
	Message string
	// Schema are names of fields that the form must have.
	Schema []string

	Way Way
	// Answer is the JSON value for [Answer], Completion the text for [Complete], or the reason for [Fail].
	Answer     json.RawMessage
	Completion *string
	// Model is the model to approve with; empty means the proposed one.
	Model string
	Delay time.Duration
	// Times is how often the rule can be used; 0 means no limit.
	Times int
	// ToolUses are calls in the model's answer, for [Complete].
	ToolUses []ToolUse

	source source
}

// source is what the file has of a rule.
type source struct {
	// asked is the question, in a strict file.
	asked *yaml.Node
	// given is the answer of the ways Answer and Complete. It may contain secrets.
	given *yaml.Node
	// group is nil in a file that is not strict.
	group *group
}

// Recorded reports whether the rule is of a strict file.
func (r *Rule) Recorded() bool { return r.source.asked != nil }

// Gathered is closed once the server has asked all asks of the same group. It is nil in a file that is not strict.
func (r *Rule) Gathered() <-chan struct{} {
	if r.source.group == nil {
		return nil
	}
	return r.source.group.all
}

// ID returns a name for the rule. It is the name of the model that gives the rule's completion.
func (r *Rule) ID() string {
	if r.Recorded() {
		return fmt.Sprintf("recorded-%d", r.Line)
	}
	return fmt.Sprintf("rule-%d", r.Line)
}

// String returns the position of the rule.
func (r *Rule) String() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// matches reports whether the rule applies to an ask.
func (r *Rule) matches(a Ask) bool {
	switch {
	case r.Kind != "" && r.Kind != a.Kind,
		r.Server != "" && r.Server != a.Server,
		r.Tool != "" && !slices.Contains(a.Tools, r.Tool),
		!strings.Contains(folded(a.Message), folded(r.Message)),
		a.Kind == Repeat && r.Way == Approve && r.Kind != Repeat: // a rule without this kind must not repeat a call
		return false
	}
	for _, name := range r.Schema {
		if !slices.Contains(a.Fields, name) {
			return false
		}
	}
	return r.suits(a.Kind)
}

// folded returns a text for comparisons: in lower case, and with one space for each run of white space.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// suits reports whether the rule's way can settle an ask of this kind.
func (r *Rule) suits(k Kind) bool {
	switch r.Way {
	case Answer:
		return k == Form || k == Input || k == Tool
	case Approve:
		return k != Form && k != Input
	case Complete, Fail:
		return k == Completion
	}
	return true
}

// File is a file of answers.
type File struct {
	Name  string
	Rules []*Rule
	// Strict: the rules are the questions, each asked once and in this order. See [File.TakeNext].
	Strict bool

	clean func(string) string
	mu    sync.Mutex // guards used, and what groups wait for
	used  map[*Rule]int
}

// Take returns the first rule that matches an ask and is not used up, and counts its use. It returns nil if there is
// none.
func (f *File) Take(a Ask) *Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.Rules {
		if (r.Times == 0 || f.used[r] < r.Times) && r.matches(a) {
			f.used[r]++
			return r
		}
	}
	return nil
}

// Spent returns the rules that match an ask and are used up.
func (f *File) Spent(a Ask) []*Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	var spent []*Rule
	for _, r := range f.Rules {
		if r.Times > 0 && f.used[r] >= r.Times && r.matches(a) {
			spent = append(spent, r)
		}
	}
	return spent
}

// Unused returns the rules that were never used.
func (f *File) Unused() []*Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.Rules), func(r *Rule) bool { return f.used[r] > 0 })
}

// Completions returns the rules that have a completion, or a failure.
func (f *File) Completions() []*Rule {
	return slices.DeleteFunc(slices.Clone(f.Rules), func(r *Rule) bool { return r.Way != Complete && r.Way != Fail })
}

// Has reports whether a rule names this kind.
func (f *File) Has(k Kind) bool {
	return slices.ContainsFunc(f.Rules, func(r *Rule) bool { return r.Kind == k })
}

// Input returns the rule's answer as the value of an input; nil if there is none.
func (r *Rule) Input() *string {
	if r.Way != Answer {
		return nil
	}
	var text string
	if json.Unmarshal(r.Answer, &text) != nil {
		text = string(r.Answer)
	}
	return &text
}
