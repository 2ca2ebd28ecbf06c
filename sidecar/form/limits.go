package form

import "strconv"

// What a form may have. A person fills in none that is greater, and a server that sends one means harm
// or has a mistake in it.
const (
	maxSchemaBytes = 4 << 20
	maxFields      = 1000
	maxNameRunes   = 1000
	// maxOptions is of all fields together.
	maxOptions = 20_000
	// maxTextRunes is how long a text may be for its pattern to be checked.
	maxTextRunes = 10_000
	// maxPatternBytes is of all patterns of a form together, so that to compile them takes no time.
	maxPatternBytes = 20_000
	// maxSteps and maxClassRunes bound what one form's patterns compile to, which is greater than they are.
	maxSteps      = 8000
	maxClassRunes = 40_000
	// maxPatternSteps is of one pattern. With maxTextRunes it bounds the time that a match takes.
	maxPatternSteps = 1000
)

// quote is a server's text as it goes into an error: in one line, and short.
func quote(text string) string {
	const longest = 80
	runes := []rune(text)
	if len(runes) > longest {
		return strconv.Quote(string(runes[:longest])) + "…"
	}
	return strconv.Quote(text)
}

// clip is JSON as it goes into an error.
func clip(raw []byte) string {
	const longest = 80
	runes := []rune(string(raw))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return string(raw)
}
