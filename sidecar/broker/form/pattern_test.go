package form

import (
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{`^a$`, `\A\x{61}\z`},
		{`.`, dot},
		{`a{2,}b{c`, `\x{61}{2,}\x{62}\{\x{63}`},
		{`(?<n>x)`, `(?:\x{78})`},
		{`[^\]a-c]`, `[^\x{5d}\x{61}-\x{63}]`},
		{`\/\b\uD83D\uDC4D`, `\x{2f}\b\x{1f44d}`},
	}
	for _, tt := range tests {
		got, err := translate(tt.pattern)
		if err != nil || got != tt.want {
			t.Errorf("translate(%s) = %s, %v, want %s", tt.pattern, got, err, tt.want)
		}
	}
}

func TestUncheckedPatterns(t *testing.T) {
	for _, pattern := range []string{
		`(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `(?i)a`, `(?P<n>a)`, `\1`, `\k<n>`, `\Aa`, `a\z`, `\Q.\E`, `(`, `[`, `[b-a]`,
		`a**`, `\`, `\u00`, `\u{110000}`, `\uD83D`, `\p{}x{`, `\p{Nope}`, `[\d-z]`, `\07`, `a{1001}`, `(?<n`,
	} {
		if steps, _, err := measurePattern(pattern); err == nil {
			t.Errorf("measurePattern(%s) = %d steps, want an error", pattern, steps)
		}
	}
}

// TestTheWorstPatternEnds matches a long text with the greatest program that there may be. An engine that goes
// back would never end.
func TestTheWorstPatternEnds(t *testing.T) {
	const pattern = `(?:a?){480}b`
	if _, _, err := measurePattern(pattern); err != nil {
		t.Fatal(err)
	}
	if matches(pattern, strings.Repeat("a", maxTextRunes/10)) {
		t.Error("it matches")
	}
}

// worstPatterns are patterns with the largest compiled form for their length.
var worstPatterns = []string{
	strings.Repeat(`\P{L}`, 2000), `(?:\P{L}{30}){30}`, strings.Repeat(`(?:\P{L}|[\S\W]){5}`, 400), strings.Repeat("(", 5000) + strings.Repeat(")*", 5000),
	strings.Repeat("(?:", 900) + "x" + strings.Repeat("){2}", 900), strings.Repeat("a?", 5000),
}

// TestTheWorstPatternsAreBounded compiles each many times in a form, and counts what that takes.
func TestTheWorstPatternsAreBounded(t *testing.T) {
	for _, pattern := range worstPatterns {
		allocations := testing.AllocsPerRun(1, func() {
			p := &parser{}
			for range 100 {
				p.canCheck(pattern)
			}
		})
		if allocations > 200_000 {
			t.Errorf("%.20s…, a hundred times: %v allocations", pattern, allocations)
		}
	}
}
