package secret

import (
	"math"
	"regexp"
	"strings"
	"sync"
)

// window is how many bytes of a text a pattern reads, starting at the literal; see whole.
const window = 256

// finder looks for a secret at a literal's position in a text.
type finder func(text string, at int) (start, end int, ok bool)

// pattern returns a finder with a regular expression that begins at the literal. The secret is its
// group, if it has one. A match within a longer word is not a secret.
func pattern(expr string) finder {
	match := matcher(expr)
	return func(text string, at int) (start, end int, ok bool) {
		if !beginsWord(text, at) {
			return 0, 0, false
		}
		return match(text, at)
	}
}

// behind returns a finder for a secret that has from least to most bytes of a class before its literal.
func behind(class func(c byte) bool, least, most int, expr string) finder {
	match := matcher(expr)
	return func(text string, at int) (start, end int, ok bool) {
		for start = at; start > 0 && at-start < most && class(text[start-1]); {
			start--
		}
		if at-start < least || start > 0 && class(text[start-1]) && !beginsWord(text, start) {
			return 0, 0, false
		}
		_, end, ok = match(text, at)
		return start, end, ok
	}
}

// matcher matches an expression at a position, without looking at the text before it. It compiles the
// expression at the first use, because most are never used. For an expression that ends with {n,}, it
// matches the minimum, and whole finds the rest. Otherwise a hostile text would be read again from each
// of its literals.
func matcher(expr string) finder {
	least, open := strings.CutSuffix(expr, ",}")
	if open {
		expr = least + "}"
	}
	// lazily would allocate once more for each of the rules, in each process.
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + expr + `)`) })
	return func(text string, at int) (start, end int, ok bool) {
		seen := text[at:min(len(text), at+window)]
		m := compiled().FindStringSubmatchIndex(seen)
		if m == nil {
			return 0, 0, false
		}
		if len(m) > 2 {
			m = m[2:]
		}
		return at + m[0], at + m[1], open || m[1] == len(seen) || endsWord(text, at+m[1])
	}
}

// whole returns the end of a secret for which a finder found a minimum end. The secret continues while the
// text looks like a token. It is called only for secrets, so that no text is read twice.
func whole(text string, at, end int) int {
	if end == at+window || end < len(text) && isBase64URL(text[end]) {
		end = skip(text, end, isToken)
	}
	for text[end-1] == '.' { // the end of a sentence
		end--
	}
	return end
}

// beginsWord reports whether a word can begin at a position. The end of an escape does not count as
// a word, as in "\n" or "%3D".
func beginsWord(text string, at int) bool {
	switch {
	case at == 0 || !isWord(text[at]) || !isWord(text[at-1]):
		return true
	case at >= 2 && text[at-2] == '\\':
		return strings.IndexByte("nrt", text[at-1]) >= 0
	case at >= 3 && text[at-3] == '%':
		return isHex(text[at-2]) && isHex(text[at-1])
	default:
		return false
	}
}

func endsWord(text string, end int) bool {
	return end == len(text) || !isWord(text[end]) || !isWord(text[end-1])
}

// skip returns the first position from at on whose byte does not belong to a class.
func skip(text string, at int, class func(c byte) bool) int {
	for at < len(text) && class(text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isBase64URL is the alphabet of RFC 4648, section 5.
func isBase64URL(c byte) bool { return isWord(c) || c == '-' }

// isToken is the alphabet of RFC 6750's tokens.
func isToken(c byte) bool { return isWord(c) || strings.IndexByte("-.~+/=", c) >= 0 }

// entropy returns Shannon's entropy, in bits per byte.
func entropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
