package diagnose

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
)

const (
	// tailLines is how many lines of a server are kept, and MaxLine how many bytes of each.
	tailLines = 200
	MaxLine   = 2000
)

// LogTail holds the last lines that a server wrote, over all its connections. The zero value is empty, and it
// may be used from any goroutine.
type LogTail struct {
	mu sync.Mutex // guards the fields below
	// lines grow to tailLines: most servers write few.
	lines []protocol.ServerLogLine
	// written counts all lines; the next one goes to its remainder.
	written int64
}

// Add keeps the beginning of a line. Its cost does not depend on the length of the line.
func (t *LogTail) Add(from protocol.ServerLogFrom, level, text string) {
	line := protocol.ServerLogLine{At: time.Now().UnixMilli(), From: from, Level: Clip(level, 20), Text: strings.Clone(Clip(text, MaxLine))}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.written < tailLines {
		t.lines = append(t.lines, line)
	} else {
		t.lines[t.written%tailLines] = line
	}
	t.written++
}

// AddMessage keeps a message for the log (2025-11-25, "Logging"). Its data may be any JSON.
func (t *LogTail) AddMessage(level, logger string, data json.RawMessage) {
	text := string(data)
	if strings.HasPrefix(text, `"`) {
		_ = json.Unmarshal(data, &text) // it is valid
	}
	if logger != "" {
		text = Clip(logger, 100) + ": " + text
	}
	t.Add(protocol.LogMessage, level, text)
}

// last returns the lines, the oldest first, and how many came before them.
func (t *LogTail) last() (lines []protocol.ServerLogLine, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dropped = max(0, t.written-tailLines)
	for i := dropped; i < t.written; i++ {
		line := t.lines[i%tailLines]
		line.Text, line.Level = plain(line.Text), plain(line.Level)
		lines = append(lines, line)
	}
	return lines, dropped
}

// Clip returns the beginning of a text, of at most n bytes.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// escapes are what terminals take for commands, as of ECMA-48: CSI, OSC, and those of two characters.
var escapes = lazyregexp.New("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]")

// plain returns a stranger's line without what commands a terminal, what breaks it, and what turns the
// order of its characters.
func plain(text string) string {
	if strings.ContainsAny(text, "\x1b\u009b") {
		text = escapes().ReplaceAllString(text, "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// plainLines is plain for the beginnings of lines.
func plainLines(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, plain(Clip(line, MaxLine)))
	}
	return out
}
