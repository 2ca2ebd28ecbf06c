package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"
)

// recordingVersion is the version of recordings that this package reads and writes.
const recordingVersion = "1"

// secretTag marks a value that is left out of a recording. The node has the name of the environment variable with the
// value instead.
const secretTag = "!secret"

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

// Entry is an ask of a recording, with its answer.
type Entry struct {
	// Rule is the answer. It does not match asks on its own.
	Rule
	// ToolUses belong to [Complete].
	ToolUses []ToolUse
	// Gathered is closed once the server has asked all asks of the same group.
	Gathered <-chan struct{}

	asked  *yaml.Node
	answer *yaml.Node // for the ways Answer and Complete; may contain secrets
	group  *group
	taken  bool
}

// group holds asks that were open together.
type group struct {
	waits int // the number of asks that have not come yet
	all   chan struct{}
}

// Recording is a recorded conversation for a replay. It may be used from any goroutine.
type Recording struct {
	Name    string
	Entries []*Entry

	clean func(string) string
	mu    sync.Mutex // guards which asks were taken
}

// Drift is the error that a server's questions differ from the recording.
type Drift struct{ text string }

func (d *Drift) Error() string { return d.text }

// LoadRecording reads a recording. clean must be the function that cleaned the texts of questions when they were
// recorded.
func LoadRecording(name string, clean func(string) string) (*Recording, error) {
	data, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("the recording cannot be read: %w", err)
	}
	return ParseRecording(name, data, clean)
}

// ParseRecording parses a recording.
func ParseRecording(name string, data []byte, clean func(string) string) (*Recording, error) {
	p := reader{name}
	root, err := p.document(data, "asks")
	if err != nil {
		return nil, err
	}
	if key, _ := member(root, "answers"); key != nil {
		return nil, p.errorf(key, "this is a file of answers: give it with --answers")
	}
	if root.Kind == yaml.MappingNode {
		_, version := member(root, "version")
		switch {
		case version == nil:
			return nil, p.errorf(root, `a recording has the key "version", but its value here is %s: record it with --record`, recordingVersion)
		case version.Value != recordingVersion:
			return nil, p.errorf(version, "this recording has the version %s, and this Assent reads %s: record it again with --record, or use the Assent that wrote it", version.Value, recordingVersion)
		}
	}
	r := &Recording{Name: name, clean: clean}
	err = p.members(root, "the file", map[string]func(*yaml.Node) error{
		"version": func(*yaml.Node) error { return nil },
		"asks": func(node *yaml.Node) error {
			if node.Kind != yaml.SequenceNode {
				return p.errorf(node, "asks must be a list")
			}
			if len(node.Content) > maxRules {
				return p.errorf(node, "there are more than %d asks", maxRules)
			}
			var g *group
			for i, node := range node.Content {
				entry, together, err := p.entry(node)
				if err != nil {
					return err
				}
				if together && i == 0 {
					return p.errorf(node, "the first ask cannot be together with one before it")
				}
				if !together {
					g = &group{all: make(chan struct{})}
				}
				g.waits++
				entry.group, entry.Gathered = g, g.all
				r.Entries = append(r.Entries, entry)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// entry reads an ask of a recording.
func (p reader) entry(node *yaml.Node) (e *Entry, together bool, err error) {
	e = &Entry{Rule: Rule{File: p.name, Line: node.Line, Times: 1, Recorded: true}, asked: &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
	ways := []string{}
	way := func(w Way, read func(*yaml.Node) error) func(*yaml.Node) error {
		return func(node *yaml.Node) error {
			e.Way, ways = w, append(ways, string(w))
			return read(node)
		}
	}
	keep := func(name string, check func(*yaml.Node) error) func(*yaml.Node) error {
		return func(node *yaml.Node) error {
			e.asked.Content = append(e.asked.Content, textNode(name), node)
			return check(node)
		}
	}
	anything := func(node *yaml.Node) error {
		_, err := p.value(node, maxDepth)
		return err
	}
	var ignored string
	err = p.members(node, "an ask", map[string]func(*yaml.Node) error{
		"kind": keep("kind", func(node *yaml.Node) error {
			e.Kind = Kind(node.Value)
			if !slices.Contains(kinds, node.Value) || e.Kind == Review {
				return p.errorf(node, "there is no kind %q: it is %s", node.Value, Either(kinds))
			}
			return nil
		}),
		"server":    keep("server", p.text(&ignored)),
		"tools":     keep("tools", anything),
		"message":   keep("message", p.text(&ignored)),
		"url":       keep("url", p.text(&ignored)),
		"fields":    keep("fields", anything),
		"request":   keep("request", anything),
		"arguments": keep("arguments", anything),
		"together":  func(node *yaml.Node) error { together = true; return p.yes("together")(node) },
		"answer": way(Answer, func(node *yaml.Node) error {
			e.answer = node
			return anything(node)
		}),
		"completion": way(Complete, func(node *yaml.Node) error {
			e.answer = node
			return p.text(&ignored)(node)
		}),
		"toolUses": func(node *yaml.Node) error {
			var raw json.RawMessage
			if err := p.json(&raw)(node); err != nil {
				return err
			}
			if json.Unmarshal(raw, &e.ToolUses) != nil {
				return p.errorf(node, "toolUses must be a list of id, name and input")
			}
			return nil
		},
		"approve": way(Approve, p.yes("approve")),
		"decline": way(Decline, p.yes("decline")),
		"cancel":  way(Cancel, p.yes("cancel")),
		"fail": way(Fail, func(node *yaml.Node) error {
			e.Completion = new(string)
			return p.text(e.Completion)(node)
		}),
	})
	switch {
	case err != nil:
		return nil, false, err
	case len(ways) != 1:
		return nil, false, p.errorf(node, "an ask needs one of answer, approve, completion, decline, cancel or fail, and has %s", count(ways))
	case e.Kind == "":
		return nil, false, p.errorf(node, `an ask has the key "kind"`)
	case !e.suits(e.Kind):
		return nil, false, p.errorf(node, "%s cannot settle an ask of the kind %s", e.Way, e.Kind)
	case e.ToolUses != nil && e.Way != Complete:
		return nil, false, p.errorf(node, "toolUses go with completion alone")
	}
	return e, together, nil
}

// Reveal adds the secrets, which are not in the file, to the answers. A secret is the value of lookup for the
// variable's name, or else the value of other for the ask and its member; other may be nil. The error names a missing
// secret.
func (r *Recording) Reveal(lookup func(variable string) (string, bool), other func(e *Entry, name string) (json.RawMessage, bool)) error {
	p := reader{r.Name}
	for _, e := range r.Entries {
		if e.answer == nil {
			continue
		}
		shown, err := p.reveal(e.answer, "", func(node *yaml.Node, name string) (*yaml.Node, error) {
			if value, ok := lookup(node.Value); ok && node.Value != "" {
				return textNode(value), nil
			}
			if other != nil {
				if raw, ok := other(e, name); ok {
					return nodeOf(raw, func(text string) string { return text })
				}
			}
			what := "this secret"
			if name != "" {
				what = fmt.Sprintf("the secret %q", name)
			}
			return nil, p.errorf(node, "%s is not in the recording: set %s in the environment, or answer it in a file of --answers", what, node.Value)
		})
		if err != nil {
			return err
		}
		if e.Way == Complete {
			e.Completion = new(string)
			err = p.text(e.Completion)(shown)
		} else {
			err = p.json(&e.Rule.Answer)(shown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reveal returns a node with its secrets; name is the name of the member with this value.
func (p reader) reveal(node *yaml.Node, name string, secret func(*yaml.Node, string) (*yaml.Node, error)) (*yaml.Node, error) {
	if node.Kind == yaml.ScalarNode && node.Tag == secretTag {
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

// Take returns the entry for a question that a server asks now: the first equal one that was not taken. Asks that were
// open together may come in any order. The error is a [Drift] if there is no such entry, or if the question comes too
// early.
func (r *Recording) Take(q Question) (*Entry, error) {
	asked, err := nodeOf(q, r.clean)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var next, likely *Entry // the first that was not taken, and the one that has probably changed
	changes := ""           // the diff of likely
	for _, e := range r.Entries {
		if e.taken {
			continue
		}
		if next == nil {
			next = e
		}
		before, now := sameServer(e.asked, asked)
		text := rendered(now)
		if recorded := rendered(asRecorded(before, now)); recorded != text {
			if e == next || e.group == next.group && e.Kind == q.Kind {
				changed := unified(e.String(), recorded, "asked now", text)
				if likely == nil || likely.Kind != q.Kind || len(changed) < len(changes) {
					likely, changes = e, changed
				}
			}
			continue
		}
		if e.group != next.group {
			return nil, &Drift{fmt.Sprintf("%s is asked before %s, which comes first in the recording:\n%s", &e.Rule, &next.Rule, rendered(next.asked))}
		}
		e.taken = true
		if e.group.waits--; e.group.waits == 0 {
			close(e.group.all)
		}
		return e, nil
	}
	if next == nil {
		return nil, &Drift{fmt.Sprintf("%s is at its end, and this is asked besides:\n%s", r.Name, rendered(asked))}
	}
	return nil, &Drift{fmt.Sprintf("the question differs from the one recorded at %s:\n%s", likely, changes)}
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

// Unasked returns a [Drift] if a part of the recording was not asked.
func (r *Recording) Unasked() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.Entries {
		if !e.taken {
			a := e.Ask()
			fmt.Fprintf(&b, "\n  %s: %s", e, brief(fmt.Sprintf("%s %s %s %s", a.Kind, a.Server, strings.Join(a.Tools, ", "), a.Message)))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return &Drift{"this was recorded, and was not asked:" + b.String()}
}

// Has reports whether an ask of a server was recorded. An ask without a server's name may belong to any
// server.
func (r *Recording) Has(server string) bool {
	return slices.ContainsFunc(r.Entries, func(e *Entry) bool {
		recorded := e.Ask().Server
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

// String returns the position of the ask.
func (e *Entry) String() string { return e.Rule.String() }

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

// Recorded is an ask to be written to a recording, with its answer.
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

// Recorder writes recordings.
type Recorder struct {
	// Clean removes from the texts of questions and failures what must not be written. A replay compares the cleaned
	// texts of questions.
	Clean func(string) string
	// Secret reports whether a text of an answer contains a secret. The members in [Recorded.Secrets] are left out
	// without this check.
	Secret func(text string) bool
}

// Marshal returns the file of a recording. Asks that were open together get an order that does not depend on their
// arrival.
func (r Recorder) Marshal(asks []Recorded) ([]byte, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(asks) == 0 {
		list.Style = yaml.FlowStyle
	}
	for _, a := range r.inOrder(asks) {
		node, err := nodeOf(a.Question, r.Clean)
		if err != nil {
			return nil, err
		}
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
	b.WriteString("# Questions and their answers. --replay answers from this file, and fails at other questions.\n")
	err := write(&b, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		textNode("version"),
		{Kind: yaml.ScalarNode, Tag: "!!int", Value: recordingVersion},
		textNode("asks"), list,
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
			*node = yaml.Node{Kind: yaml.ScalarNode, Tag: secretTag, Value: variable(name)}
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

// readFile reads a file, within the limit of its size.
func readFile(name string) (_ []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readBounded(f, name)
}

// Ask returns the ask in the form that rules match.
func (e *Entry) Ask() Ask {
	text := func(node *yaml.Node, name string) string {
		if _, value := member(node, name); value != nil {
			return value.Value
		}
		return ""
	}
	a := Ask{Kind: e.Kind, Server: text(e.asked, "server"), Message: text(e.asked, "message")}
	if _, tools := member(e.asked, "tools"); tools != nil {
		for _, tool := range tools.Content {
			a.Tools = append(a.Tools, tool.Value)
		}
	}
	if _, fields := member(e.asked, "fields"); fields != nil {
		for _, field := range fields.Content {
			a.Fields = append(a.Fields, text(field, "name"))
		}
	}
	return a
}
