package tap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/secret"
	"assent/sidecar/base/tap"
)

func TestFramesBecomeATranscriptWithoutSecrets(t *testing.T) {
	var b bytes.Buffer
	tp := tap.New(&b, nil)
	tp.Frame("frontend", []byte("{\"a\": 1,\n \"value\": {\"secret\": \"s\\\"k\"}}"))
	tp.Frame("frontend", []byte(`{"b":2}`))
	tp.Frame("server s", []byte(`Listening`))
	tp.Frame("sidecar", []byte(`{"secret":"","text":"a \"secret\":\"b\""}`))
	tp.Frame("sidecar", []byte(`{"apiKey":"k","db_password":"p","pin":12.5,"secret":true,"progressToken":"t","required":["password"],"spin":"s"}`))
	want := `-- frontend --
{"a":1,"value":{"secret":"***"}}
{"b":2}
-- server s --
"Listening"
-- sidecar --
{"secret":"***","text":"a \"secret\":\"b\""}
{"apiKey":"***","db_password":"***","pin":"***","secret":true,"progressToken":"t","required":["password"],"spin":"s"}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if err := tp.Err(); err != nil {
		t.Error(err)
	}
}

// Secrets that Assent holds, and those that a rule knows, are masked anywhere in a frame. The frame stays JSON.
func TestKnownSecretsAreMaskedAnywhereInAFrame(t *testing.T) {
	var b bytes.Buffer
	masker := secret.NewMasker()
	tp := tap.New(&b, masker)
	frame := func() {
		b.Reset()
		tp.Frame("server s", []byte(`{"result":{"text":"it is hunter2-\"quoted\" here, aHVudGVyMi0icXVvdGVkIg==, AKIAQYLPMN5HHHFPZAM2","密码":"x"}}`))
	}
	frame()
	if !strings.Contains(b.String(), "hunter2") || strings.Contains(b.String(), "AKIA") {
		t.Errorf("before anything is held: %s", &b)
	}
	masker.SetKnown(func() []secret.Known { return []secret.Known{{Value: `hunter2-"quoted"`, Description: "a secret"}} })
	frame()
	_, text, _ := strings.Cut(b.String(), "\n")
	if text == "" {
		text = b.String()
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVy") || strings.Contains(text, `"x"`) || !strings.Contains(text, "it is *** here") {
		t.Errorf("the frame was written as %s", text)
	}
	if !json.Valid([]byte(text)) {
		t.Errorf("the frame is no JSON: %s", text)
	}
}

// They are in the configuration of a front end, before Assent holds them.
func TestSecretsInArgumentsAndAddressesAreMasked(t *testing.T) {
	var b bytes.Buffer
	tap.New(&b, nil).Frame("frontend", []byte(`{"s":{"args":["a.js","--token","k3y-\"of\"-mine","--api-key=k3yOfMine","--level","k3y-level"]},`+
		`"h":{"url":"https://u:k3yOfMine@a.example/?api_key=k3yOfMine&q=1"},"command":"node a.js --token k3yOfMine --level k3y-level","args":[]}`))
	want := `-- frontend --
{"s":{"args":["a.js","--token","***","--api-key=***","--level","k3y-level"]},` +
		`"h":{"url":"https://u:***@a.example/?api_key=***\u0026q=1"},"command":"node a.js --token *** --level k3y-level","args":[]}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestAMaskedNumberIsQuoted(t *testing.T) {
	var b bytes.Buffer
	masker := secret.NewMasker()
	masker.SetKnown(func() []secret.Known { return []secret.Known{{Value: "4929123456", Description: "a number"}} })
	tap.New(&b, masker).Frame("server s", []byte(`{"n":4929123456}`))
	if want := "-- server s --\n\"{\\\"n\\\":***}\"\n"; b.String() != want {
		t.Errorf("the transcript is %q, want %q", &b, want)
	}
}

// The names of these members do not ask for a secret: the form marks one as secret, and the person
// two.
func TestSecretAnswersAreMasked(t *testing.T) {
	var b bytes.Buffer
	tp := tap.New(&b, nil)
	for _, frame := range []struct{ speaker, text string }{
		{tap.Sidecar, `{"method":"task/event","params":{"event":{"type":"messageAdded","message":{"body":{"type":"ask","askId":"a","question":{"type":"mcp_elicitation","elicitationRequest":{"fields":[{"type":"string","name":"k","secret":true},{"type":"string","name":"word"},{"type":"string","name":"name"},{"type":"number","name":"n"}]}}}}}}}`},
		{"server s", `{"method":"elicitation/create","params":{"elicitationContent":{"name":"Ada"},"secretFields":["name"]}}`},
		{tap.FrontEnd, `{"method":"askResponse","params":{"askId":"a","elicitationContent":{"name":"Ada","word":"<sword>\u0066ish","k":"blowfish","n":17},"secretFields":["word","n"]}}`},
		{"client s", `{"id":"e1","result":{"action":"accept","content":{"name":"Ada","k":"blowfish","n":17,"word":"\u003csword\u003efish"}}}`},
		{tap.FrontEnd, `{"method":"ask/check","params":{"fields":[{"type":"string","name":"pet","secret":true},{"type":"string","name":"name"}],"content":{"pet":"catfi","name":"Eve"}}}`},
		{"client s", `{"params":{"word":"another","n":18}}`},
	} {
		tp.Frame(frame.speaker, []byte(frame.text))
	}
	for _, leaked := range []string{"sword", "blowfish", ":17", "catfi"} {
		if strings.Contains(b.String(), leaked) {
			t.Errorf("%s is in the transcript:\n%s", leaked, &b)
		}
	}
	for _, kept := range []string{`"content":{"name":"Ada","k":"***","n":"***","word":"***"}`, `"word":"another","n":18`, `"pet":"***","name":"Eve"`} {
		if !strings.Contains(b.String(), kept) {
			t.Errorf("the transcript has no %s:\n%s", kept, &b)
		}
	}
}

func TestATapThatCannotWriteSaysSoOnce(t *testing.T) {
	full := errors.New("no space left on device")
	tp := tap.New(failing{full}, nil)
	tp.Frame("sidecar", []byte(`{}`))
	tp.Frame("sidecar", []byte(`{}`))
	if err := tp.Err(); !errors.Is(err, full) {
		t.Errorf("Err = %v, want %v", err, full)
	}
	var none *tap.Tap
	none.Frame("sidecar", []byte(`{}`))
	if err := none.Err(); err != nil {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
