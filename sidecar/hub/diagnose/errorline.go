package diagnose

import (
	"regexp"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// maxQuoted bounds how much of a line is quoted in a verdict, in bytes.
const maxQuoted = 300

var (
	// pythonFrame begins a frame of a Python traceback, which may be one of an exception group.
	pythonFrame = lazyregexp.New(`^[ |+]*File "[^"]*", line \d+`)
	// groupBorder is drawn before the lines of a Python exception group.
	groupBorder = lazyregexp.New(`^ +\| `)
	// uvReason begins the reason that uv gives for an error.
	uvReason = lazyregexp.New("^ *(?:╰─▶|`->) *")
	// beside are lines that programs write around an error: stacks, the version of Node.js, the place of npm's log.
	beside = lazyregexp.New(`^\s*$|^\s+at |^[\s^~]+$|^\s*[\])}]+[,;]?$|^Node\.js v\d|^exit status \d+$|^Require stack:|^- /|^\s+code: '|^note: |` +
		`^(?:See|Run) '|^npm (?:warn|WARN|notice)|^npm (?:error|ERR!)(?: \d+)?$|^npm (?:error|ERR!) (?:code|syscall|path|errno|dest|A complete log)\b`)
	// telling are the forms of an error's line, the most certain first.
	telling = []func() *regexp.Regexp{
		uvReason,
		lazyregexp.New(`^\[?(?:Uncaught )?[\w.]*(?:Error|Exception|Rejection)\b(?: \[\w+\])?:`),
		lazyregexp.New(`^(?:panic|fatal error|fatal|error|docker|ERROR|npm error|npm ERR!)\b`),
		lazyregexp.New(`\b(?:ERROR|FATAL|CRITICAL)\b`),
		lazyregexp.New(`(?i)\berror\b|exception|panicked|cannot |can't |could not |not found|not provided|no such |no module|denied|refused|` +
			`required|missing|not set|not defined|invalid|unknown |unable to|failed|bad option|in use`),
	}
)

// errorLine returns the line of a program's stderr that best explains its end: the exception of a Python traceback, the
// first line that looks like an error, or the last line. It returns an empty text if stderr is empty.
func errorLine(stderr []string) string {
	if line := pythonException(stderr); line != "" {
		return line
	}
	var lines []string
	for _, line := range stderr {
		if !beside().MatchString(line) {
			lines = append(lines, line)
		}
	}
	for _, form := range telling {
		for i, line := range lines {
			if !form().MatchString(line) {
				continue
			}
			line = strings.TrimSpace(uvReason().ReplaceAllString(line, ""))
			if strings.HasSuffix(line, ":") && i+1 < len(lines) { // the next line completes it
				line += " " + strings.TrimSpace(lines[i+1])
			}
			return withCause(strings.TrimSuffix(line, " {"), lines[i+1:])
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// withCause adds the cause that Node.js writes after an error: "fetch failed" alone says nothing.
func withCause(line string, after []string) string {
	for _, next := range after {
		if _, cause, ok := strings.Cut(next, "[cause]: "); ok {
			return line + ", because of " + strings.TrimSuffix(cause, " {")
		}
	}
	return line
}

// pythonException returns the exception after the last frame of a traceback, or an empty text.
func pythonException(stderr []string) string {
	inside, found := false, ""
	for _, line := range stderr {
		switch text := groupBorder().ReplaceAllString(line, ""); {
		case pythonFrame().MatchString(line):
			inside = true
		case inside && text != "" && text[0] != ' ': // the frames and their code are indented
			inside, found = false, text
		}
	}
	return found
}
