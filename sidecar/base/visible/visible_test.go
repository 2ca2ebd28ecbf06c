package visible_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"unicode"

	"github.com/rs/zerolog"

	"assent/sidecar/base/visible"
)

// text is a case of texts.json. The tests of visible.ts read the same file.
type text struct{ Name, Text, Want string }

func texts(t *testing.T) (texts []text) {
	t.Helper()
	raw, err := os.ReadFile("testdata/texts.json")
	if err == nil {
		err = json.Unmarshal(raw, &texts)
	}
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	return texts
}

func TestHiddenCharactersAreWrittenOut(t *testing.T) {
	for _, tt := range texts(t) {
		t.Run(tt.Name, func(t *testing.T) {
			if got := visible.Text(tt.Text); got != tt.Want {
				t.Errorf("Text = %q, want %q", got, tt.Want)
			}
		})
	}
	if got, want := visible.Text("a\xffb"), "a<U+FFFD>b"; got != want {
		t.Errorf("Text of what is not UTF-8 = %q, want %q", got, want)
	}
}

func TestDataKeepsWhatAProgramReads(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain words", "a b\tc\nd", "a b\tc\nd"},
		{"commands to a terminal", "\x1b[2J\x07\x7f\u009b", "<U+001B>[2J<U+0007><U+007F><U+009B>"},
		{"directions", "a\u202eb\u2066c\u200f", "a<U+202E>b<U+2066>c<U+200F>"},
		{"a line of Windows", "a\r\nb\rc", "a\r\nb<U+000D>c"},
		{"joiners", "👩\u200d💻", "👩\u200d💻"},
		{"characters without a glyph", "a\u200b\u3164\u2800\U000e0041\ufe0f", "a\u200b\u3164\u2800\U000e0041\ufe0f"},
		{"separators", "a\u2028b", "a<U+2028>b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible.Data(tt.text); got != tt.want {
				t.Errorf("Data = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTheTableHasAllThatUnicodeHides holds the table against Go's own. Signs of numbers and verses are formatting to
// Unicode, and have a glyph.
func TestTheTableHasAllThatUnicodeHides(t *testing.T) {
	hides := []*unicode.RangeTable{
		unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		unicode.Bidi_Control,
	}
	for r := range unicode.MaxRune + 1 {
		want := unicode.In(r, hides...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && r != '\n' && r != '\t'
		switch got := visible.Hidden(r); {
		case want && !got:
			t.Errorf("%U is not hidden", r)
		case got && !want && unicode.IsLetter(r) && r != '\u3164' && r != '\u115f' && r != '\u1160' && r != '\uffa0':
			t.Errorf("%U is a letter, and is hidden", r)
		}
	}
}

func TestALineIsOneLine(t *testing.T) {
	if got, want := visible.Line("a\tb\r\nc\u202e"), "a<U+0009>b<U+000D><U+000A>c<U+202E>"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func TestJSONKeepsItsValue(t *testing.T) {
	text := "a\x1b\u009b\x7f\u202e\u200d\U000e0041ä\ufe0f"
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
