package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
)

// TestLongTexts has texts that are encoded in pieces, with what encoding/json escapes or replaces where a piece ends.
func TestLongTexts(t *testing.T) {
	for name, text := range map[string]string{
		"short": "a \"text\"\n", "of many bytes": strings.Repeat("x", 1<<20), "escaped": strings.Repeat("\\\"\n<\u2028", 50_000),
		"of signs of several bytes": strings.Repeat("é\U0001f600", 50_000), "not valid": strings.Repeat("\xff\xf0\x9f\x98", 50_000),
		"that never begins a sign": strings.Repeat("\x80", 200_000),
	} {
		for _, shift := range []string{"", "1", "12", "123"} {
			want, err := json.Marshal(shift + text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(protocol.TextContent{Text: shift + text, Annotations: &protocol.Annotations{}})
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != `{"type":"text","text":`+string(want)+`,"annotations":{}}` {
				t.Errorf("a text %s is encoded wrong", name)
			}
		}
	}
}
