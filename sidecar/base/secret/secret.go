// Package secret finds keys and tokens in texts: those of well-known services by their form (the
// rules of [Scanner]), and the caller's own by their values ([Known]).
//
// Its rules have few false positives: they recognise a secret by a prefix, by a checked structure or by the name right
// before it, never by its randomness. A finding is worth a question to the person. A text without findings may still
// have secrets. The package never logs a text or a value, and stores only the known values of the last scan.
//
// A [Scanner] may be used from any goroutine. It reads a text in one pass for the literals with which secrets begin,
// and checks a bounded window at each. So the time is linear in the text, even if an attacker wrote it.
package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MostFindings bounds the findings in a text.
const MostFindings = 100

// Rules of findings that are not in the table. They are stable, like the ids of the table.
const (
	// RuleKnown is a value that the caller holds.
	RuleKnown = "held"
	// RuleRest is the rest of a text with more than [MostFindings]. It is one finding, so that a
	// redacted text has no secrets.
	RuleRest = "rest"
)

// Finding is one secret in a text.
type Finding struct {
	// Rule is a stable id, such as "aws-access-token", [RuleKnown] or [RuleRest].
	Rule string
	// Description is for the person: "an AWS access key", or the [Known.Description]. It has no part of
	// the secret.
	Description string
	// Start and End are the secret's position, in bytes.
	Start, End int
}

// Known is a value that the caller keeps secret.
type Known struct {
	// Value is found as it is, without the white space around it, and in other forms: base64, alone or
	// within a longer text, percent-encoded, and escaped as in JSON. A value shorter than 8 bytes is not
	// searched for, because unrelated texts would contain it.
	Value string
	// Description names the value for the person: "the API key of Anthropic".
	Description string
}

// Scanner finds secrets. Create it with [New].
type Scanner struct {
	// lastKnown are the known values of the last scan. Most callers search for the same values in every
	// text.
	lastKnown atomic.Pointer[knownLiterals]
}

// New returns a scanner. It costs nothing until the first scan of any scanner, which prepares the rules.
func New() *Scanner {
	return &Scanner{}
}

// rules are those of all scanners. They do not change after they are made.
var rules = sync.OnceValue(newRuleSet)

// Scan returns the secrets of a text in ascending order. They do not overlap: a finding covers all
// overlapping matches, and is named after the known value, or else after the longest match. There are
// at most [MostFindings]; see [RuleRest].
func (s *Scanner) Scan(text string, known []Known) []Finding {
	findings := s.findAll(text, known)
	if len(findings) > MostFindings {
		findings = findings[:MostFindings]
		findings[MostFindings-1] = Finding{
			Rule: RuleRest, Description: "the rest of the text, with more secrets than can be listed",
			Start: findings[MostFindings-1].Start, End: len(text),
		}
	}
	return findings
}

// findAll is Scan without the bound.
func (s *Scanner) findAll(text string, known []Known) []Finding {
	return apart(append(s.findKnown(text, known), rules().find(text)...))
}

func (s *Scanner) findKnown(text string, known []Known) []Finding {
	if len(known) == 0 {
		return nil
	}
	return s.prepareKnown(known).find(text)
}

// apart merges overlapping findings.
func apart(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	joined := findings[:0]
	longest := 0 // the length of the longest match in the last finding
	for _, f := range findings {
		length := f.End - f.Start
		if len(joined) == 0 || joined[len(joined)-1].End <= f.Start {
			joined, longest = append(joined, f), length
			continue
		}
		last := &joined[len(joined)-1]
		last.End = max(last.End, f.End)
		if isKnown, wasKnown := f.Rule == RuleKnown, last.Rule == RuleKnown; isKnown && !wasKnown || isKnown == wasKnown && length > longest {
			last.Rule, last.Description, longest = f.Rule, f.Description, length
		}
	}
	return joined
}

// Redact returns the text with a note in place of each finding, as in "[redacted: an AWS access
// key]". The findings must be those that Scan returned for this text.
func Redact(text string, findings []Finding) string {
	return replace(text, findings, func(f Finding) string { return "[redacted: " + f.Description + "]" })
}

// replace returns the text with another text in place of each finding.
func replace(text string, findings []Finding, by func(Finding) string) string {
	if len(findings) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range findings {
		b.WriteString(text[end:f.Start])
		b.WriteString(by(f))
		end = f.End
	}
	b.WriteString(text[end:])
	return b.String()
}
