// Package secret finds keys and tokens in texts: those of well-known services by the form that they
// have ([Scanner]'s rules), and those that the caller holds by their values ([Known]).
//
// It owns the rules, which have few false positives: they know a secret by a prefix, by a checked structure or by the name
// right before it, never by its randomness. A finding is worth a question to the person. A text without findings may still
// have secrets. The package never logs a text or a value, and keeps only the known values of the last scan.
//
// A [Scanner] may be used from any goroutine. It reads a text in one pass for the literals with which secrets begin, and
// checks a bounded window at each. So the time is linear in the text, even if an attacker wrote it.
package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MostFindings is how many findings a text has at most.
const MostFindings = 100

// Rules of findings that no table has. They are stable, like the ids of the table.
const (
	// RuleKnown is a value that the caller holds.
	RuleKnown = "held"
	// RuleRest is the rest of a text that has more than [MostFindings]: it is one finding, so that a
	// redacted text holds none of them.
	RuleRest = "rest"
)

// Finding is one secret in a text.
type Finding struct {
	// Rule is a stable id, such as "aws-access-token", [RuleKnown] or [RuleRest].
	Rule string
	// Description is for the person: "an AWS access key", or the [Known.Description]. It has nothing of the
	// secret.
	Description string
	// Start and End are the secret's place, in bytes.
	Start, End int
}

// Known is a value that the caller keeps secret.
type Known struct {
	// Value is found as it is, without the white space around it, and in the forms that it takes in other
	// texts: base64, alone or within more, percent-encoded, and escaped as in JSON. A value shorter than 8
	// bytes is not looked for: it would be found in texts that have nothing to do with it.
	Value string
	// Description names the value for the person: "the API key of Anthropic".
	Description string
}

// Scanner finds secrets. It is made by [New].
type Scanner struct {
	prepare func() *ruleSet
	// lastKnown are the known values of the last scan. Most callers look for the same values in every text.
	lastKnown atomic.Pointer[knownLiterals]
}

// New returns a scanner. It costs nothing until the first scan, which prepares the rules.
func New() *Scanner {
	return &Scanner{prepare: sync.OnceValue(newRuleSet)}
}

// Scan returns the secrets of a text in ascending order. They do not overlap: where several things were
// found in one place, the finding covers them all and is named after the known value, or else after the
// longest. There are [MostFindings] at most; see [RuleRest].
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

// findAll is Scan without its bound.
func (s *Scanner) findAll(text string, known []Known) []Finding {
	return apart(append(s.findKnown(text, known), s.prepare().find(text)...))
}

func (s *Scanner) findKnown(text string, known []Known) []Finding {
	if len(known) == 0 {
		return nil
	}
	return s.prepareKnown(known).find(text)
}

// apart joins the findings that overlap.
func apart(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	joined := findings[:0]
	longest := 0 // of those that the last one is joined of, its own length
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

// Redact returns the text with a note in the place of each finding, as in "[redacted: an AWS access
// key]". The findings are those that Scan returned for this text.
func Redact(text string, findings []Finding) string {
	return replace(text, findings, func(f Finding) string { return "[redacted: " + f.Description + "]" })
}

// replace returns the text with something else in the place of each finding.
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
