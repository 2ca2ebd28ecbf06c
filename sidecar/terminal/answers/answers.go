// Package answers reads files of answers for runs at which nobody is there: rules that say what to do with what a
// server asks, in YAML or JSON.
//
// [Load] is strict: a rule that does not mean what its author thinks must not be found out by a server. Its errors
// name the file, the line and the column. [File.Take] may be called from any goroutine. The package asks nobody and
// knows no sidecar.
package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is what a server asks for.
type Kind string

// The kinds.
const (
	// Form is an elicitation in form mode, Page one in URL mode.
	Form Kind = "form"
	Page Kind = "page"
	// Completion is a sampling request, Review a model's answer to it before the server gets it.
	Completion Kind = "completion"
	Review     Kind = "review"
	// Input is an input of an mcp.json.
	Input Kind = "input"
	// Tool is a model's wish to call a tool, Resource one to read a resource.
	Tool     Kind = "tool"
	Resource Kind = "resource"
	// Repeat is whether a call that failed is made once more.
	Repeat Kind = "repeat"
)

// kinds are all of them, for errors.
var kinds = []string{string(Form), string(Page), string(Completion), string(Review), string(Input), string(Tool), string(Resource), string(Repeat)}

// Way is the way out of an ask that a rule takes.
type Way string

// The ways, each of which is a key of a rule.
const (
	// Answer fills in a form or an input, and lets a model call a tool with other arguments.
	Answer Way = "answer"
	// Approve lets a request for a completion go to the model that is proposed, an answer of a model to the server,
	// and a model to a tool or a resource; consents to a page; and has a call made once more, where the rule names
	// that kind.
	Approve Way = "approve"
	// Complete gives a completion itself, and is written as the key "completion".
	Complete Way = "completion"
	Decline  Way = "decline"
	Cancel   Way = "cancel"
	// Fail is a completion that no model gave, in recordings alone.
	Fail Way = "fail"
)

// Ask is what a server asks.
type Ask struct {
	Kind    Kind
	Server  string
	Tools   []string
	Message string
	// Fields are the names of a form's fields.
	Fields []string
}

// Rule is one rule.
type Rule struct {
	// File and Line say where it is.
	File string
	Line int

	// What it matches. What is empty matches everything.
	Server, Tool string
	Kind         Kind
	// Message is a part of the message, in any case and however its lines are broken.
	Message string
	// Schema are names of fields that the form must have.
	Schema []string

	Way Way
	// Answer is the JSON value of [Answer], Completion the text of [Complete].
	Answer     json.RawMessage
	Completion *string
	// Model is the one to approve with; empty is the proposed one.
	Model string
	Delay time.Duration
	// Times is how often it can be used; 0 is without end.
	Times int
	// Recorded: it is the answer of a recording.
	Recorded bool
}

// ID names the rule, as a model where it has a completion.
func (r *Rule) ID() string {
	if r.Recorded {
		return fmt.Sprintf("recorded-%d", r.Line)
	}
	return fmt.Sprintf("rule-%d", r.Line)
}

// String says where the rule is.
func (r *Rule) String() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// matches reports whether the rule is for an ask.
func (r *Rule) matches(a Ask) bool {
	switch {
	case r.Kind != "" && r.Kind != a.Kind,
		r.Server != "" && r.Server != a.Server,
		r.Tool != "" && !slices.Contains(a.Tools, r.Tool),
		!strings.Contains(folded(a.Message), folded(r.Message)),
		a.Kind == Repeat && r.Way == Approve && r.Kind != Repeat: // nothing is done twice by a rule that is for all
		return false
	}
	for _, name := range r.Schema {
		if !slices.Contains(a.Fields, name) {
			return false
		}
	}
	return r.suits(a.Kind)
}

// folded is a text as it is compared: in one case, and with one space for each gap.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// suits reports whether the rule's way is one out of such an ask.
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

	mu   sync.Mutex // guards used
	used map[*Rule]int
}

// Take returns the first rule that matches an ask and is not used up, and counts that as a use. It returns nil where
// there is none.
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

// Completions returns the rules that have a completion.
func (f *File) Completions() []*Rule {
	return slices.DeleteFunc(slices.Clone(f.Rules), func(r *Rule) bool { return r.Way != Complete })
}

// Has reports whether a rule names a kind.
func (f *File) Has(k Kind) bool {
	return slices.ContainsFunc(f.Rules, func(r *Rule) bool { return r.Kind == k })
}

// Secret returns a member of the answer that the first matching rule gives, or the answer itself where it is a text;
// it counts as no use. It is for what a recording leaves out.
func (f *File) Secret(a Ask, name string) (json.RawMessage, bool) {
	for _, r := range f.Rules {
		if r.Way != Answer || !r.matches(a) {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(r.Answer, &members) == nil {
			if value, ok := members[name]; ok {
				return value, true
			}
		} else if a.Kind == Input {
			return r.Answer, true
		}
	}
	return nil, false
}

// Input is the rule's answer as the value of an input; nil is none.
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
