package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"
)

// secretTag marks a value that is left out of a file. The node has the name of the environment variable with the
// value instead.
const secretTag = "!secret"

// secretValueTag is secretTag for a number or a boolean.
const secretValueTag = "!secretValue"

// Question is a complete question of a server, without the parts that change from run to run: ids, times
// and secrets.
type Question struct {
	Kind Kind `json:"kind"`
	// Server is empty if the command line defined the only server. Names are compared only if both sides have one.
	Server string   `json:"server,omitempty"`
	Tools  []string `json:"tools,omitempty"`
	// Message is the server's message; for an input, its id.
	Message string `json:"message,omitempty"`
	URL     string `json:"url,omitempty"`
	// Fields are a form's fields, Request is a request to a model, and Arguments are the arguments of a model's call.
	// All of them become JSON.
	Fields    any `json:"fields,omitempty"`
	Request   any `json:"request,omitempty"`
	Arguments any `json:"arguments,omitempty"`
}

// ToolUse is a tool call that a model requests in its completion.
type ToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// group holds asks that were open together.
type group struct {
	waits int // the number of asks that have not come yet
	all   chan struct{}
}

// Drift is the error that a server's questions differ from the recording.
type Drift struct{ text string }

func (d *Drift) Error() string { return d.text }

// Reveal puts the values of environment variables in the place of the secrets, which are not in the file. The error names
// one that is missing.
func (f *File) Reveal(lookup func(variable string) (string, bool)) error {
	p := reader{f.Name}
	for _, r := range f.Rules {
		if r.source.given == nil {
			continue
		}
		shown, err := p.reveal(r.source.given, "", func(node *yaml.Node, name string) (*yaml.Node, error) {
			value, ok := lookup(node.Value)
			switch {
			case !ok || node.Value == "":
			case node.Tag == secretValueTag:
				return &yaml.Node{Kind: yaml.ScalarNode, Value: value}, nil // YAML resolves its type
			default:
				return textNode(value), nil
			}
			what := "this secret"
			if name != "" {
				what = fmt.Sprintf("the secret %q", name)
			}
			return nil, p.errorf(node, "%s is not in the file: set %s in the environment", what, node.Value)
		})
		if err != nil {
			return err
		}
		if r.Way == Complete {
			err = p.text(r.Completion)(shown)
		} else {
			err = p.json(&r.Answer)(shown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reveal returns a node with its secrets; name is the name of the member with this value.
func (p reader) reveal(node *yaml.Node, name string, secret func(*yaml.Node, string) (*yaml.Node, error)) (*yaml.Node, error) {
	if node.Kind == yaml.ScalarNode && (node.Tag == secretTag || node.Tag == secretValueTag) {
		return secret(node, name)
	}
	out := *node
	out.Content = nil
	for i, item := range node.Content {
		under := name
		if node.Kind == yaml.MappingNode && i%2 == 1 {
			under = node.Content[i-1].Value
		}
		item, err := p.reveal(item, under, secret)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, item)
	}
	return &out, nil
}

// TakeNext returns the rule of a strict file for a question that a server asks now: the first equal one that was not
// taken. Asks that were open together may come in any order. The error is a [Drift] if there is no such rule, or if the
// question comes too early.
func (f *File) TakeNext(q Question) (*Rule, error) {
	asked, err := nodeOf(q, f.clean)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var next, likely *Rule // the first that was not taken, and the one that has probably changed
	changes := ""          // the diff of likely
	for _, e := range f.Rules {
		if f.used[e] > 0 {
			continue
		}
		if next == nil {
			next = e
		}
		before, now := sameServer(e.source.asked, asked)
		text := rendered(now)
		if recorded := rendered(asRecorded(before, now)); recorded != text {
			if e == next || e.source.group == next.source.group && e.Kind == q.Kind {
				changed := unified(e.String(), recorded, "asked now", text)
				if likely == nil || likely.Kind != q.Kind || len(changed) < len(changes) {
					likely, changes = e, changed
				}
			}
			continue
		}
		if e.source.group != next.source.group {
			return nil, &Drift{fmt.Sprintf("%s is asked before %s, which comes first in the file:\n%s", e, next, rendered(next.source.asked))}
		}
		f.used[e]++
		if e.source.group.waits--; e.source.group.waits == 0 {
			close(e.source.group.all)
		}
		return e, nil
	}
	if next == nil {
		return nil, &Drift{fmt.Sprintf("%s is at its end, and this is asked besides:\n%s", f.Name, rendered(asked))}
	}
	return nil, &Drift{fmt.Sprintf("the question differs from the one at %s:\n%s", likely, changes)}
}

// sameServer removes the server's name from both asks if one of them has none.
func sameServer(recorded, asked *yaml.Node) (before, now *yaml.Node) {
	in, _ := member(recorded, "server")
	there, _ := member(asked, "server")
	switch {
	case in == nil:
		asked = without(asked, "server")
	case there == nil:
		recorded = without(recorded, "server")
	}
	return recorded, asked
}

// Unasked returns a [Drift] if a question of a strict file was not asked.
func (f *File) Unasked() error {
	var b strings.Builder
	for _, r := range f.Unused() {
		a := r.ask()
		fmt.Fprintf(&b, "\n  %s: %s", r, brief(fmt.Sprintf("%s %s %s %s", a.Kind, a.Server, strings.Join(a.Tools, ", "), a.Message)))
	}
	if b.Len() == 0 {
		return nil
	}
	return &Drift{"this is in the file, and was not asked:" + b.String()}
}

// HasServer reports whether a strict file has a question of a server. One without a server's name may belong to any
// server.
func (f *File) HasServer(server string) bool {
	return slices.ContainsFunc(f.Rules, func(r *Rule) bool {
		recorded := r.ask().Server
		return recorded == "" || server == "" || recorded == server
	})
}

// brief returns a message on one line.
func brief(message string) string {
	text := []rune(strings.Join(strings.Fields(message), " "))
	if len(text) > mostMessage {
		return string(text[:mostMessage]) + "…"
	}
	return string(text)
}

// unified returns a diff without its header line.
func unified(name, before, with, after string) string {
	_, text, _ := strings.Cut(string(diff.Diff(name, []byte(before), with, []byte(after))), "\n")
	return text
}

// rendered returns a node as text.
func rendered(node *yaml.Node) string {
	var b strings.Builder
	if err := write(&b, node); err != nil {
		return fmt.Sprintf("# this cannot be written: %v\n", err)
	}
	return b.String()
}

// Recorded is an ask to be written to a strict file, with its answer.
type Recorded struct {
	Question
	// Together reports whether the ask was open together with the previous one.
	Together bool
	Way      Way
	// Answer belongs to the way [Answer]; Completion and ToolUses belong to [Complete]. For [Fail], Completion is the
	// reason.
	Answer     json.RawMessage
	Completion string
	ToolUses   []ToolUse
	// Secrets names the members of the answer that are never written. The ask's message stands for the whole answer.
	Secrets []string
}

// Recorder writes strict files.
type Recorder struct {
	// Clean removes from the texts of questions and failures what must not be written. A replay compares the cleaned
	// texts of questions.
	Clean func(string) string
	// Secret reports whether a text of an answer contains a secret. The members in [Recorded.Secrets] are left out
	// without this check.
	Secret func(text string) bool
}

// Marshal returns a strict file of answers. Asks that were open together get an order that does not depend on their
// arrival.
func (r Recorder) Marshal(asks []Recorded) ([]byte, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(asks) == 0 {
		list.Style = yaml.FlowStyle
	}
	for _, a := range r.inOrder(asks) {
		asked, err := nodeOf(a.Question, r.Clean)
		if err != nil {
			return nil, err
		}
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode("asked"), asked}}
		add := func(name string, value *yaml.Node) { node.Content = append(node.Content, textNode(name), value) }
		if a.Together {
			add("together", yes())
		}
		var answer *yaml.Node
		switch a.Way {
		case Answer:
			answer, err = nodeOf(a.Answer, plain)
		case Complete:
			answer = textNode(a.Completion)
		case Fail:
			answer = textNode(r.Clean(a.Completion))
		default:
			answer = yes()
		}
		if err != nil {
			return nil, err
		}
		name := a.Message // names a secret that is not a member of a form
		if a.Way == Complete {
			name = "completion"
		}
		if a.Way != Fail {
			r.hide(answer, name, a.Secrets)
		}
		add(string(a.Way), answer)
		if len(a.ToolUses) > 0 {
			uses, err := nodeOf(a.ToolUses, r.Clean)
			if err != nil {
				return nil, err
			}
			add("toolUses", uses)
		}
		list.Content = append(list.Content, node)
	}
	var b strings.Builder
	b.WriteString("# Questions and their answers. --answers answers from this file, and fails at other questions.\n")
	err := write(&b, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		textNode("strict"), yes(), textNode("answers"), list,
	}})
	return []byte(b.String()), err
}

// inOrder sorts the asks that were open together by their contents.
func (r Recorder) inOrder(asks []Recorded) []Recorded {
	sorted := slices.Clone(asks)
	key := func(a Recorded) string {
		node, err := nodeOf(a.Question, r.Clean)
		if err != nil {
			return "" // Marshal returns the error
		}
		return rendered(node)
	}
	for begin := 0; begin < len(sorted); {
		end := begin + 1
		for end < len(sorted) && sorted[end].Together {
			end++
		}
		group := sorted[begin:end]
		slices.SortStableFunc(group, func(a, b Recorded) int { return strings.Compare(key(a), key(b)) })
		for i := range group {
			group[i].Together = i > 0
		}
		begin = end
	}
	return sorted
}

// hide replaces secrets with the names of their variables. name is the name of the member with this value.
func (r Recorder) hide(node *yaml.Node, name string, secrets []string) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			r.hide(node.Content[i+1], node.Content[i].Value, secrets)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			r.hide(item, name, secrets)
		}
	case yaml.ScalarNode:
		if slices.Contains(secrets, name) || node.Tag == "!!str" && r.Secret(node.Value) {
			tag := secretTag
			if node.Tag != "!!str" {
				tag = secretValueTag
			}
			*node = yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: variable(name)}
		}
	}
}

// variable returns the name of the environment variable for a member.
func variable(name string) string {
	var b strings.Builder
	b.WriteString("ASSENT_SECRET_")
	for _, r := range strings.ToUpper(name) {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func yes() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"} }

func plain(text string) string { return text }

// ask returns the question of a strict file in the form that rules match.
func (r *Rule) ask() Ask {
	text := func(name string) string {
		if _, value := member(r.source.asked, name); value != nil {
			return value.Value
		}
		return ""
	}
	a := Ask{Kind: r.Kind, Server: text("server"), Message: text("message")}
	if _, tools := member(r.source.asked, "tools"); tools != nil {
		for _, tool := range tools.Content {
			a.Tools = append(a.Tools, tool.Value)
		}
	}
	return a
}
