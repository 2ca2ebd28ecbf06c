package answers_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/terminal/answers"
)

func plain(text string) string { return text }

// noSecrets writes recordings without secrets.
var noSecrets = answers.Recorder{Clean: plain, Secret: func(string) bool { return false }}

func record(t *testing.T, asks ...answers.Recorded) *answers.File {
	t.Helper()
	data, err := noSecrets.Marshal(asks)
	if err != nil {
		t.Fatal(err)
	}
	r, err := answers.Parse("f.yaml", data, plain)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return r
}

func form(message string) answers.Question {
	return answers.Question{Kind: answers.Form, Server: "s", Tools: []string{"t"}, Message: message}
}

func TestTheReasonOfAFailureIsCleaned(t *testing.T) {
	recorder := noSecrets
	recorder.Clean = func(text string) string { return strings.ReplaceAll(text, "sk-1", "[secret]") }
	data, err := recorder.Marshal([]answers.Recorded{
		{Question: answers.Question{Kind: answers.Completion, Server: "s"}, Way: answers.Fail, Completion: "the key sk-1 is wrong"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); !strings.Contains(text, "the key [secret] is wrong") {
		t.Errorf("the recording has the reason uncleaned:\n%s", text)
	}
}

func TestAStrictFileThatIsWrong(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no list", "strict: true\nanswers: {}", `f.yaml:2:10: answers must be a list of rules`},
		{"strict and not", "strict: false\nanswers: []", `f.yaml:1:9: strict must be true`},
		{"an unknown key", "strict: true\nanswers:\n  - asked: {kind: form, mesage: m}\n    cancel: true", `f.yaml:3:25: asked has no key "mesage": did you mean "message"?`},
		{"a match", "strict: true\nanswers:\n  - match: {kind: form}\n    cancel: true", `f.yaml:3:5: a rule has no key "match": it has answer, approve, asked, cancel, completion, decline, delay, fail, model, together or toolUses`},
		{"an unknown kind", "strict: true\nanswers:\n  - asked: {kind: from}", `f.yaml:3:19: there is no kind "from": it is form, page, completion, input, tool, resource or repeat`},
		{"a review", "strict: true\nanswers:\n  - asked: {kind: review}", `f.yaml:3:19: there is no kind "review": it is form, page, completion, input, tool, resource or repeat`},
		{"no question", "strict: true\nanswers:\n  - cancel: true", `f.yaml:3:5: a rule of a strict file has the key "asked", with a kind`},
		{"no kind", "strict: true\nanswers:\n  - asked: {message: m}\n    cancel: true", `f.yaml:3:5: a rule of a strict file has the key "asked", with a kind`},
		{"no way", "strict: true\nanswers:\n  - asked: {kind: form}", `f.yaml:3:5: a rule needs one of answer, approve, completion, decline, cancel or fail, and has none`},
		{"two ways", "strict: true\nanswers:\n  - asked: {kind: form}\n    cancel: true\n    decline: true", `f.yaml:3:5: a rule needs one of answer, approve, completion, decline, cancel or fail, and has cancel and decline`},
		{"no way of that kind", "strict: true\nanswers:\n  - asked: {kind: form}\n    approve: true", `f.yaml:3:5: approve cannot settle an ask of the kind form`},
		{"together with nothing", "strict: true\nanswers:\n  - {asked: {kind: form}, cancel: true, together: true}", `f.yaml:3:5: the first question cannot be together with one before it`},
		{"an alias", "strict: true\nanswers:\n  - asked:\n      kind: form\n      fields: [&a 1, *a]\n    cancel: true", `f.yaml:5:22: aliases are not known here: write the value out`},
		{"calls of no completion", "strict: true\nanswers:\n  - {asked: {kind: form}, cancel: true, toolUses: []}", `f.yaml:3:5: toolUses go with completion alone`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := answers.Parse("f.yaml", []byte(tt.text), plain)
			if err == nil || err.Error() != tt.want {
				t.Errorf("the error is\n%v, want\n%s", err, tt.want)
			}
		})
	}
}

func TestTheDocumentedStrictFile(t *testing.T) {
	text, err := os.ReadFile("../../../docs/terminal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Recordings")
	_, block, _ := strings.Cut(section, "```yaml\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("docs/terminal.md has no recording")
	}
	r, err := answers.Parse("f.yaml", []byte(block), plain)
	if err != nil {
		t.Fatal(err)
	}
	want := `f.yaml:13:17: the secret "password" is not in the file: set ASSENT_SECRET_PASSWORD in the environment`
	if err := r.Reveal(func(string) (string, bool) { return "", false }); err == nil || err.Error() != want {
		t.Errorf("without the secret: %v, want %s", err, want)
	}
	if err := r.Reveal(func(name string) (string, bool) { return "of " + name, true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"name":"Ada","password":"of ASSENT_SECRET_PASSWORD"}`, string(r.Rules[0].Answer)); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	if got := *r.Rules[1].Completion; got != "Hello" {
		t.Errorf("the completion is %q", got)
	}
}

func TestOrder(t *testing.T) {
	cancel := func(message string, together bool) answers.Recorded {
		return answers.Recorded{Question: form(message), Together: together, Way: answers.Cancel}
	}
	asks := []answers.Recorded{cancel("a", false), cancel("b", true), cancel("c", false), cancel("a", false)}
	for _, tt := range []struct {
		name, order, want string
	}{
		{"as recorded", "abca", ""},
		{"swapped where they were together", "baca", ""},
		{"too early", "acb", "is asked before"},
		{"not at all", "abc", "was not asked"},
		{"another", "abx", "the question differs from the one at"},
		{"once more", "abcaa", "is at its end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t, asks...)
			var err error
			for _, message := range tt.order {
				if _, err = r.TakeNext(form(string(message))); err != nil {
					break
				}
			}
			if err == nil {
				err = r.Unasked()
			}
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("the drift is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAnEntryWaitsForItsCompany(t *testing.T) {
	r := record(t, answers.Recorded{Question: form("a"), Way: answers.Cancel}, answers.Recorded{Question: form("b"), Together: true, Way: answers.Cancel})
	first, err := r.TakeNext(form("a"))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Gathered():
		t.Error("the second was not asked, and the first does not wait for it")
	default:
	}
	if _, err := r.TakeNext(form("b")); err != nil {
		t.Fatal(err)
	}
	<-first.Gathered()
}

func TestLike(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"You have * messages", "You have 3 messages", true},
		{"You have * messages", "You have messages", false},
		{"*", "anything", true},
		{"a*a", "a", false},
		{"*b*c*", "abbc!", true},
		{"*c*b*", "abbc!", false},
		{"plain", "plain", true},
		{"plain", "plainer", false},
	} {
		r, err := answers.Parse("f.yaml", []byte("strict: true\nanswers:\n  - {asked: {kind: form, server: s, tools: [t], message: !like '"+tt.pattern+"'}, cancel: true}"), plain)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.TakeNext(form(tt.text)); (err == nil) != tt.want {
			t.Errorf("%q is like %q: %v", tt.text, tt.pattern, err)
		}
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	recorder := answers.Recorder{Clean: plain, Secret: func(text string) bool { return strings.Contains(text, "token") }}
	data, err := recorder.Marshal([]answers.Recorded{
		{Question: form("a"), Way: answers.Answer, Answer: json.RawMessage(`{"pin":1234,"note":"my token","list":["a token"],"free":"text"}`), Secrets: []string{"pin"}},
		{Question: answers.Question{Kind: answers.Completion, Server: "s"}, Way: answers.Complete, Completion: "the token is t"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"1234", "token"} {
		if strings.Contains(string(data), wrong) {
			t.Errorf("%s is written:\n%s", wrong, data)
		}
	}
	r, err := answers.Parse("f.yaml", data, plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Reveal(func(name string) (string, bool) {
		if name == "ASSENT_SECRET_PIN" {
			name = "7"
		}
		return name, true
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"free":"text","list":["ASSENT_SECRET_LIST"],"note":"ASSENT_SECRET_NOTE","pin":7}`, string(r.Rules[0].Answer)); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	if got := *r.Rules[1].Completion; got != "ASSENT_SECRET_COMPLETION" {
		t.Errorf("the completion is %q", got)
	}
}

// FuzzRecording checks that a recorded ask is found again, for any content, and that hidden characters are visible
// in the file.
func FuzzRecording(f *testing.F) {
	for _, text := range []string{"", "a\nb", "  spaces ", "2026-07-28", "yes", "~", "1e5", "0x10", "\u202eabc\u2028\u200b\ufeff\x00\x7f", "- a: #b", "!like *", "tab\tnew\r\nline\n\n", "\xff"} {
		f.Add(text, `{"a":[1,1e400,123456789012345678901234567890,-0,true,null,"x"]}`)
	}
	f.Fuzz(func(t *testing.T, text, raw string) {
		if !json.Valid([]byte(raw)) {
			raw = "{}"
		}
		q := form(text)
		q.Arguments = json.RawMessage(raw)
		q.Fields = map[string]string{text: text}
		data, err := noSecrets.Marshal([]answers.Recorded{{Question: q, Way: answers.Complete, Completion: text}})
		if err != nil {
			return // it is nested too deep
		}
		if strings.ContainsAny(string(data), "\u202e\u200b\ufeff\u2066") {
			t.Fatalf("something is hidden in %q", data)
		}
		q.Kind = answers.Completion
		if data, err = noSecrets.Marshal([]answers.Recorded{{Question: q, Way: answers.Complete, Completion: text}}); err != nil {
			return
		}
		r, err := answers.Parse("f.yaml", data, plain)
		if err != nil {
			if strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "deep") {
				return
			}
			t.Fatalf("%v\n%s", err, data)
		}
		if err := r.Reveal(func(string) (string, bool) { return "", false }); err != nil {
			t.Fatal(err)
		}
		if got, want := *r.Rules[0].Completion, strings.ToValidUTF8(text, "\ufffd"); got != want {
			t.Fatalf("the completion is %q, want %q:\n%s", got, want, data)
		}
		if _, err := r.TakeNext(q); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
	})
}
