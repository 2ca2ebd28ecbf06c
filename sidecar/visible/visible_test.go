package visible_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rs/zerolog"

	"assent/sidecar/visible"
)

func TestHiddenCharactersAreWrittenOut(t *testing.T) {
	tests := []struct{ name, text, want, data string }{
		{"plain words", "a b\tc\nd", "a b\tc\nd", "a b\tc\nd"},
		{"other alphabets", "ärger жук 木 עברית", "ärger жук 木 עברית", "ärger жук 木 עברית"},
		{"commands to a terminal", "\x1b[2J\x07\x7f", "<U+001B>[2J<U+0007><U+007F>", "<U+001B>[2J<U+0007><U+007F>"},
		{"one of two bytes", "a\u009b2J", "a<U+009B>2J", "a<U+009B>2J"},
		{"directions", "a\u202eb\u2066c\u200f", "a<U+202E>b<U+2066>c<U+200F>", "a<U+202E>b<U+2066>c<U+200F>"},
		{"a line of Windows", "a\r\nb\rc", "a<U+000D>\nb<U+000D>c", "a\r\nb<U+000D>c"},
		{"joiners", "👩\u200d💻", "👩<U+200D>💻", "👩\u200d💻"},
		{"what is blank", "a\u200b\u3164\u2800\U000e0041", "a<U+200B><U+3164><U+2800><U+E0041>", "a\u200b\u3164\u2800\U000e0041"},
		{"separators", "a\u2028b", "a<U+2028>b", "a<U+2028>b"},
		{"no UTF-8", "a\xffb", "a<U+FFFD>b", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible.Text(tt.text); got != tt.want {
				t.Errorf("Text = %q, want %q", got, tt.want)
			}
			if got := visible.Data(tt.text); got != tt.data {
				t.Errorf("Data = %q, want %q", got, tt.data)
			}
		})
	}
}

func TestALineIsOneLine(t *testing.T) {
	if got, want := visible.Line("a\tb\r\nc\u202e"), "a<U+0009>b<U+000D><U+000A>c<U+202E>"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func TestJSONKeepsItsValue(t *testing.T) {
	text := "a\x1b\u009b\x7f\u202e\u200d\U000e0041ä"
	raw, err := json.MarshalIndent([]string{text}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	shown := visible.JSON(raw)
	for _, r := range string(shown) {
		if visible.Hidden(r) {
			t.Errorf("%q has %U", shown, r)
		}
	}
	var got []string
	if err := json.Unmarshal(shown, &got); err != nil || got[0] != text {
		t.Errorf("%s is %q, %v; want %q", shown, got, err, text)
	}
}

func TestALogHidesNothing(t *testing.T) {
	var b bytes.Buffer
	log := zerolog.New(visible.JSONWriter(&b))
	log.Info().Str("stderr", "a\u009b31m\u202eb\x1b[2J").Str("k\u202e", "v").Msg("done\u2066")
	want := `{"level":"info","stderr":"a\u009b31m\u202eb\u001b[2J","k\u202e":"v","message":"done\u2066"}` + "\n"
	if b.String() != want {
		t.Errorf("the log is %s, want %s", b.String(), want)
	}
}
