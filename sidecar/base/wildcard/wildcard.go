// Package wildcard matches texts against patterns with *. It has no state.
package wildcard

import "strings"

// Match reports whether a text matches a pattern, in which each * stands for any text, also an empty one.
func Match(pattern, text string) bool {
	start, rest, open := strings.Cut(pattern, "*")
	text, begins := strings.CutPrefix(text, start)
	if !begins || !open {
		return begins && text == ""
	}
	for {
		part, more, open := strings.Cut(rest, "*")
		if !open {
			return strings.HasSuffix(text, part)
		}
		_, after, found := strings.Cut(text, part) // the first place leaves the most for the rest
		if !found {
			return false
		}
		text, rest = after, more
	}
}
