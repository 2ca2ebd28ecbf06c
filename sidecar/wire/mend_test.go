package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/sidecar/wire"
)

func TestAnOddHandshakeIsMended(t *testing.T) {
	for _, tt := range []struct{ name, result, want, problems string }{
		{"right", `{ "protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}`, "", ""},
		{
			"lists for objects", `{"capabilities":{"experimental":[],"tools":[]},"serverInfo":{"name":"s"},"_meta":[],"instructions":[]}`,
			`{"capabilities":{"experimental":{},"tools":{}},"serverInfo":{"name":"s"}}`,
			"_meta is an array and must be an object|capabilities.experimental is an array and must be an object|" +
				"capabilities.tools is an array and must be an object|instructions is an array and must be a string",
		},
		{"capabilities that are a list", `{"capabilities":[],"serverInfo":{}}`, `{"capabilities":{},"serverInfo":{}}`, "capabilities is an array and must be an object"},
		{"true for a capability", `{"capabilities":{"prompts":false,"tools":true},"serverInfo":{}}`, `{"capabilities":{"tools":{}},"serverInfo":{}}`, "capabilities.prompts is a boolean and must be an object|capabilities.tools is a boolean and must be an object"},
		{"a number for a version", `{"capabilities":{},"serverInfo":{"version":1.20,"name":"s"}}`, `{"capabilities":{},"serverInfo":{"name":"s","version":"1.20"}}`, "serverInfo.version is a number and must be a string"},
		{"a text for a server", `{"capabilities":{},"serverInfo":"x"}`, `{"capabilities":{},"serverInfo":{"name":"x","version":""}}`, "serverInfo is a string and must be an object"},
		{"no server", `{"capabilities":null}`, `{"capabilities":{},"serverInfo":{"name":"","version":""}}`, "serverInfo is missing"},
		{"a flag that is a text", `{"capabilities":{"tools":{"listChanged":"yes"}},"serverInfo":{}}`, `{"capabilities":{"tools":{}},"serverInfo":{}}`, "capabilities.tools.listChanged is a string and must be a boolean"},
		{"a modern server", `{"supportedVersions":"2026-07-28","capabilities":{}}`, `{"capabilities":{},"supportedVersions":["2026-07-28"]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := wire.Mend(json.RawMessage(tt.result))
			want := tt.want
			if want == "" {
				want = tt.result
			}
			if string(got) != want || strings.Join(problems, "|") != tt.problems {
				t.Errorf("got  %s\nwant %s\nproblems: %s", got, want, strings.Join(problems, "|"))
			}
		})
	}
}

// FuzzMend mends whatever a server answers to a handshake.
func FuzzMend(f *testing.F) {
	f.Add([]byte(`{"protocolVersion":1,"capabilities":{"tools":[1]},"serverInfo":[],"_meta":{"io.modelcontextprotocol/serverInfo":"x"},"icons":5}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(` null`))
	f.Fuzz(func(t *testing.T, result []byte) {
		if !json.Valid(result) {
			return
		}
		got, _ := wire.Mend(result)
		if !json.Valid(got) {
			t.Errorf("%s became %s", result, got)
		}
		again, problems := wire.Mend(got)
		if string(again) != string(got) || len(problems) > 0 {
			t.Errorf("%s became %s, and then %s: %q", result, got, again, problems)
		}
	})
}
