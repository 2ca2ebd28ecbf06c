package ask

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
)

// cutMark is the end of a truncated text.
const cutMark = "…"

// The bounds of what can be answered in a list.
const (
	mostOptions  = 6
	longestShort = 200 // code points of a text to type
)

// InBrief returns what a question is in a list: see [protocol.OpenAsk].
func InBrief(question protocol.UseMcpServer) (wants protocol.AskWants, text string) {
	switch q := question.(type) {
	case protocol.McpElicitation:
		return protocol.WantsForm, words(q.ElicitationRequest.Message)
	case protocol.McpURLElicitation:
		return protocol.WantsPage, words(q.Message)
	case protocol.McpSampling:
		if n := len(q.SamplingRequest.Messages); n > 0 {
			text = firstText(q.SamplingRequest.Messages[n-1].Content, q.Secrets...)
		}
		return protocol.WantsCompletion, text
	case protocol.McpSamplingReview:
		return protocol.WantsReview, firstText(q.SamplingResponse.Content)
	case protocol.UseMcpTool:
		if q.FromApp {
			wants = protocol.WantsToolForApp
		}
		return cmp.Or(wants, protocol.WantsTool), FirstLine(q.Tool.Name + " " + string(q.Arguments))
	case protocol.AccessMcpResource:
		return protocol.WantsResource, FirstLine(q.URI)
	case protocol.RepeatMcpCall:
		return protocol.WantsRepeat, FirstLine(q.Reason)
	case protocol.HostPermission:
		text = cmp.Or(q.Command, q.Tool+" "+q.Input)
		if len(q.Changes) > 0 {
			text = q.Tool + " " + q.Changes[0].Path
		}
		if q.Plan != "" {
			return protocol.WantsPermission, words(q.Plan)
		}
		return protocol.WantsPermission, FirstLine(text)
	default:
		return "", ""
	}
}

// firstText returns the first text as words returns it. It leaves out the secrets, because other people may see a list or a
// notification.
func firstText(content []protocol.ContentBlock, secrets ...protocol.SecretFinding) string {
	for _, block := range content {
		if text, ok := block.(protocol.TextContent); ok {
			return words(withoutFound(text.Text, secrets))
		}
	}
	return ""
}

// withoutFound replaces secrets by their descriptions.
func withoutFound(text string, secrets []protocol.SecretFinding) string {
	// One secret may be a part of another.
	longestFirst := slices.SortedFunc(slices.Values(secrets), func(a, b protocol.SecretFinding) int { return len(b.Text) - len(a.Text) })
	for _, s := range longestFirst {
		if s.Text != "" {
			text = strings.ReplaceAll(text, s.Text, "[redacted: "+s.Description+"]")
		}
	}
	return text
}

// FirstLine returns the beginning of a text on one line, truncated if it is long.
func FirstLine(s string) string {
	return oneLine(beginning(s))
}

// words does the same with a text in Markdown, without the markup.
func words(markdown string) string {
	text, more := beginning(markdown)
	return oneLine(plain(text), more)
}

// oneLine puts a text on one line, and marks it as truncated if it is too long or more is true.
func oneLine(text string, more bool) string {
	line := strings.Join(strings.Fields(text), " ")
	if len(line) > maxBrief {
		line, more = line[:maxBrief], true
	}
	if !more {
		return line
	}
	for len(line) > 0 { // not within a character
		if r, size := utf8.DecodeLastRuneInString(line); r != utf8.RuneError || size != 1 {
			break
		}
		line = line[:len(line)-1]
	}
	return line + cutMark
}

// beginning returns as much of a text as may fit on a line, and whether there is more. It does not read the rest, which
// can have megabytes.
func beginning(s string) (text string, more bool) {
	s = strings.TrimSpace(s)
	cut := min(len(s), 4*maxBrief)
	return s[:cut], cut < len(s)
}

// Simple reports whether a question can be answered in a list that shows this text, and returns the fields of its
// form; see [protocol.OpenAsk.Simple].
func Simple(question protocol.UseMcpServer, text string) ([]protocol.Field, bool) {
	if text == "" || strings.HasSuffix(text, cutMark) {
		return nil, false
	}
	switch q := question.(type) {
	case protocol.McpElicitation:
		fields := q.ElicitationRequest.Fields
		if len(fields) > 1 || len(fields) == 1 && !simpleField(fields[0]) {
			return nil, false
		}
		return fields, true
	case protocol.UseMcpTool:
		return nil, !q.Destructive && q.Changed == nil
	default:
		return nil, false
	}
}

func simpleField(field protocol.Field) bool {
	switch f := field.(type) {
	case protocol.BooleanField:
		return true
	case protocol.ChoiceField:
		return len(f.Options) <= mostOptions
	case protocol.StringField:
		long := f.MaxLength != nil && *f.MaxLength > longestShort
		return !f.Secret && !long && f.Pattern == "" && f.Format == ""
	default:
		return false
	}
}

// markup is what Markdown has besides words, and what remains of it. Links keep their targets: a text must not hide where
// it leads.
var markup = []struct {
	find func() *regexp.Regexp
	keep string
}{
	{lazyregexp.New("(?m)^[ \\t]*(```[^`\\n]*|~~~.*)$"), ""},
	{lazyregexp.New(`(?m)^[ \t]*([-*_][ \t]*){3,}$`), ""},
	{lazyregexp.New(`(?m)^[ \t]*(#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)+`), ""},
	{lazyregexp.New(`!?\[([^\]\n]*)\]\(([^()\s]*)[^()\n]*\)`), "$1 ($2)"},
	{lazyregexp.New("`+([^`]*)`+"), "$1"},
	{lazyregexp.New(`\*\*([^*]+)\*\*`), "$1"},
	{lazyregexp.New(`~~([^~]+)~~`), "$1"},
	{lazyregexp.New(`(^|[^\\*])\*([^*\s]|[^*\s][^*\n]*[^\\*\n])\*`), "$1$2"},
	{lazyregexp.New(`(^|[^\w])__?([^_\s][^_\n]*)__?($|[^\w])`), "$1$2$3"},
	{lazyregexp.New("\\\\([\\\\`*_{}\\[\\]()#+.!|>~-])"), "$1"},
}

// plain returns a text in Markdown without the markup.
func plain(text string) string {
	for _, m := range markup {
		text = m.find().ReplaceAllString(text, m.keep)
	}
	return text
}
