package tap_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/tap"
)

func TestFramesBecomeATranscriptWithoutSecrets(t *testing.T) {
	var b bytes.Buffer
	tp := tap.New(&b)
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

func TestATapThatCannotWriteSaysSoOnce(t *testing.T) {
	full := errors.New("no space left on device")
	tp := tap.New(failing{full})
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
