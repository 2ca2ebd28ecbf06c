package wildcard_test

import (
	"testing"

	"assent/sidecar/base/wildcard"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"ab", "ab", true},
		{"ab", "abc", false},
		{"ab", "xab", false},
		{"*", "", true},
		{"*", "a/b c", true},
		{"a*", "abc", true},
		{"a*", "ba", false},
		{"*c", "abc", true},
		{"*c", "cb", false},
		{"ab*ba", "aba", false}, // the ends do not overlap
		{"ab*ba", "abba", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"*a*b*", "ba", false},
		{"*a*b*", "xaxbx", true},
		{"**", "a", true},
		{"a**b", "ab", true},
		{"a.c", "abc", false},
	} {
		if got := wildcard.Match(tt.pattern, tt.text); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.text, got)
		}
	}
}
