package form

import "strconv"

// The limits of a form. No person fills in a larger one; a server that sends it is hostile or has a
// bug.
const (
	maxSchemaBytes = 4 << 20
	maxFields      = 1000
	maxNameRunes   = 1000
	// maxOptions is the limit over all fields.
	maxOptions = 20_000
	// maxTextRunes is the maximum length of a text that is checked against its pattern.
	maxTextRunes = 10_000
	// maxPatternBytes is the limit over all patterns of a form. It bounds the time to compile
	// them.
	maxPatternBytes = 20_000
	// maxSteps and maxClassRunes bound the compiled patterns of a form, which can be larger than their
	// source.
	maxSteps      = 8000
	maxClassRunes = 40_000
	// maxPatternSteps is the limit for one pattern. With maxTextRunes it bounds the time of a
	// match.
	maxPatternSteps = 1000
)

// quote returns a server's text for an error: on one line, and short.
func quote(text string) string {
	const longest = 80
	runes := []rune(text)
	if len(runes) > longest {
		return strconv.Quote(string(runes[:longest])) + "…"
	}
	return strconv.Quote(text)
}

// clip returns JSON for an error.
func clip(raw []byte) string {
	const longest = 80
	runes := []rune(string(raw))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return string(raw)
}
