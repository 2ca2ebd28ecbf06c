package answers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	hello := "Hello\nthere\n"
	tests := []struct {
		name, text string
		want       []*Rule
	}{
		{"none", "answers: []", nil},
		{
			"everything", "answers:\n  - match: {server: s, tool: t, kind: form, message: m, schema: [a, b]}\n    answer: {a: 1, b: [x]}\n    delay: 1s\n    times: 0\n",
			[]*Rule{{
				File: "f", Line: 2, Server: "s", Tool: "t", Kind: Form, Message: "m", Schema: []string{"a", "b"},
				Way: Answer, Answer: json.RawMessage(`{"a":1,"b":["x"]}`), Delay: time.Second,
			}},
		},
		{"JSON", `{"answers": [{"decline": true, "times": 2}]}`, []*Rule{{File: "f", Line: 1, Way: Decline, Times: 2}}},
		{"a block of text", "answers:\n  # why\n  - completion: |\n      Hello\n      there\n", []*Rule{{File: "f", Line: 3, Way: Complete, Completion: &hello, Times: 1}}},
		{"a number for a text", "answers:\n- match: {message: 42}\n  approve: true\n  model: m\n", []*Rule{{File: "f", Line: 2, Message: "42", Way: Approve, Model: "m", Times: 1}}},
		{"a date stays as written", "answers:\n- answer: {day: 2026-07-28, zip: \"01234\", big: 12345678901234567890, hex: 0x10}\n", []*Rule{{File: "f", Line: 2, Way: Answer, Answer: json.RawMessage(`{"big":12345678901234567890,"day":"2026-07-28","hex":16,"zip":"01234"}`), Times: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, err := Parse("f", []byte(tt.text), plain)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, file.Rules, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Rule{})); diff != "" {
				t.Errorf("the rules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNamesThePlace(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", `f: is empty, and must have the key "answers"`},
		{"two documents", "answers: []\n---\nanswers: []", "f:2:1: a second document begins here"},
		{"an alias", "answers:\n  - answer: {a: &a 1, b: *a}", "f:2:26: aliases are not known here"},
		{"a number that JSON has not", "answers:\n  - answer: {a: .inf}", "f:2:17: JSON has no such number"},
		{"a key twice in an answer", "answers:\n  - answer: {a: 1, a: 2}", "f:2:20: this key is not a text, or is repeated"},
		{"a list", "- decline: true", "f:1:1: the file must be a mapping"},
		{"a typo at the top", "answrs: []", `f:1:1: the file has no key "answrs": did you mean "answers"?`},
		{"a typo in a rule", "answers:\n  - decine: true", `f:2:5: a rule has no key "decine": did you mean "decline"?`},
		{"a typo in a match", "answers:\n  - match:\n      sever: x\n    cancel: true", `f:3:7: match has no key "sever": did you mean "server"?`},
		{"a key like no other", "answers:\n  - zzzzzzzz: 1", `f:2:5: a rule has no key "zzzzzzzz": it has answer, approve, `},
		{"an earlier recording", "version: 1\nasks: []", "f:2:1: an unpublished version of Assent recorded this: record it again with --record"},
		{"a question without strict", "answers:\n  - asked: {kind: form}\n    cancel: true", `f:2:5: a rule has no key "asked"`},
		{"no list", "answers: 3", "f:1:10: answers must be a list of rules"},
		{"a rule that is none", "answers:\n  - yes", "f:2:5: a rule must be a mapping"},
		{"no way", "answers:\n  - times: 2", "a rule needs one of answer, approve, completion, decline, cancel or fail, and has none"},
		{"two ways", "answers:\n  - decline: true\n    cancel: true", "and has decline and cancel"},
		{"a way that is false", "answers:\n  - decline: false", "f:2:14: decline must be true"},
		{"a wrong kind", "answers:\n  - match: {kind: from}\n    decline: true", `f:2:19: there is no kind "from": it is form, page`},
		{"a wrong way for a kind", "answers:\n  - match: {kind: page}\n    completion: x", "completion cannot settle an ask of the kind page"},
		{"a wrong delay", "answers:\n  - cancel: true\n    delay: soon", "f:3:12: delay must be a time"},
		{"a negative delay", "answers:\n  - cancel: true\n    delay: -1s", "f:3:12: delay must be a time"},
		{"wrong times", "answers:\n  - cancel: true\n    times: often", "f:3:12: times must be a number"},
		{"a wrong schema", "answers:\n  - match: {schema: {a: 1}}\n    cancel: true", "schema must be a list of names"},
		{"a model for nothing", "answers:\n  - decline: true\n    model: x", "model goes with approve alone"},
		{"a key twice", "answers:\n  - decline: true\n    decline: true", "f:3:5: "},
		{"no YAML", "answers:\n- a: b\n\t- c", "f: this is not YAML, near line 2: found a tab"},
		{"a text that is a list", "answers:\n  - completion: [a]", "f:2:17: this must be a text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text), plain)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLoadBoundsTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(name, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(name, plain); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("Load = %v", err)
	}
}

func TestTakeUsesTheFirstRuleThatIsLeft(t *testing.T) {
	file, err := Parse("f", []byte(`
answers:
  - {match: {tool: a}, decline: true, times: 2}
  - {match: {message: NAME, schema: [first]}, answer: {first: x}}
  - {match: {kind: completion}, completion: c, times: 0}
  - {match: {server: other}, cancel: true}
`), plain)
	if err != nil {
		t.Fatal(err)
	}
	form := Ask{Kind: Form, Server: "s", Tools: []string{"a", "b"}, Message: "Your name?", Fields: []string{"first", "last"}}
	elsewhere := form
	elsewhere.Tools = []string{"c"}
	completion := Ask{Kind: Completion, Server: "s"}
	tests := []struct {
		name string
		ask  Ask
		want int // the rule's line; 0 for none
	}{
		{"the first", form, 3},
		{"another one", elsewhere, 4},
		{"the first again", form, 3},
		{"all used up", form, 0},
		{"nothing else", elsewhere, 0},
		{"without end", completion, 5},
		{"without end, again", completion, 5},
	}
	for _, tt := range tests {
		got := 0
		if r := file.Take(tt.ask); r != nil {
			got = r.Line
		}
		if got != tt.want {
			t.Errorf("%s: the rule at line %d, want %d", tt.name, got, tt.want)
		}
	}
	if spent := file.Spent(form); len(spent) != 2 {
		t.Errorf("%d rules are used up, want 2", len(spent))
	}
	if unused := file.Unused(); len(unused) != 1 || unused[0].Line != 6 {
		t.Errorf("unused: %v", unused)
	}
}

// A template must be a valid rule for the ask, for any text of a server.
func TestATemplateIsARule(t *testing.T) {
	asks := []Ask{
		{Kind: Form, Server: "a: b", Tools: []string{"- x"}, Message: "\"Really\"?\n# no", Fields: []string{"a b: c"}},
		{Kind: Completion, Server: "s", Tools: []string{"a", "b"}},
		{Kind: Page, Server: "<&>", Message: "hidden \u202e\x1b\u0085 \U000E0041 " + strings.Repeat("long \n", 100)},
		{Kind: Review, Server: "s"},
		{Kind: Input, Server: "s", Message: "token"},
	}
	for _, ask := range asks {
		text := "answers:\n" + Template(ask, []Field{{Name: "a b: c", Example: json.RawMessage(`"x"`), Note: "text\nanswers: []"}})
		file, err := Parse("f", []byte(text), plain)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		if file.Take(ask) == nil {
			t.Errorf("the rule does not match what it is for:\n%s", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("answers:\n  - match: {kind: form}\n    answer: {a: 1}\n")
	f.Add("answers: &a\n  - *a\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Parse("f", []byte(text), plain) // it returns an error, and does not panic
	})
}
