package terminal

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// progress is the newest progress of the calls of a run. On a terminal with a display it is one line that is redrawn;
// elsewhere each change is a line of its own.
type progress struct {
	mu   sync.Mutex // guards the fields below
	call *protocol.Progress
	task *protocol.McpTask
	// start is why a server does not start yet, or empty.
	start string
}

// serverChanged shows why a server does not start yet, for example because it waits for a window.
func (s *session) serverChanged(server protocol.Server) {
	start := ""
	if server.State == protocol.ServerStarting && server.Reason != "" {
		start = fmt.Sprintf("… The server %q does not start yet. %s", server.Name, oneLine(server.Reason, 200))
	}
	s.stderr.progress.mu.Lock()
	changed := s.stderr.progress.start != start
	s.stderr.progress.start = start
	s.stderr.progress.mu.Unlock()
	if changed && (start != "" || s.stderr.display != nil) {
		s.drawProgress(start)
	}
}

// progressed shows the progress of a call.
func (s *session) progressed(p protocol.Progress) {
	s.stderr.progress.mu.Lock()
	s.stderr.progress.call = &p
	s.stderr.progress.mu.Unlock()
	s.drawProgress(progressLine(p))
}

// taskChanged shows the state of an MCP task.
func (s *session) taskChanged(t protocol.McpTask) {
	s.stderr.progress.mu.Lock()
	s.stderr.progress.task = &t
	s.stderr.progress.mu.Unlock()
	s.drawProgress(taskLine(t))
}

// callEnded removes the progress line.
func (s *session) callEnded() {
	s.stderr.progress.mu.Lock()
	s.stderr.progress.call, s.stderr.progress.task = nil, nil
	s.stderr.progress.mu.Unlock()
	if s.stderr.display != nil {
		s.stderr.display.show(nil)
	}
}

// drawProgress redraws the progress line or, without a display, writes the text of the change.
func (s *session) drawProgress(change string) {
	if s.stderr.display == nil {
		s.note("%s", change)
		return
	}
	s.stderr.display.show(s.stderr.progress.line)
}

// line returns the progress in one line of at most width columns.
func (p *progress) line(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	if p.start != "" {
		parts = append(parts, p.start)
	}
	if p.call != nil {
		parts = append(parts, bar(*p.call, width))
	}
	if p.task != nil {
		parts = append(parts, strings.TrimPrefix(taskLine(*p.task), "… "))
	}
	if p.call != nil && p.call.Message != "" {
		parts = append(parts, oneLine(p.call.Message, 200))
	}
	return safe(strings.Join(parts, " "))
}

// bar returns a progress as a bar, or as text if it has no total.
func bar(p protocol.Progress, width int) string {
	if p.Total <= 0 {
		return "… " + amount(p.Progress)
	}
	share := min(max(p.Progress/p.Total, 0), 1)
	cells := min(max(width/4, 5), 30)
	full := int(share * float64(cells))
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full) + fmt.Sprintf(" %3.0f%%", share*100)
}

// amount returns a number of a progress. Servers add fractions up, so it has two decimals at most.
func amount(f float64) string { return form.Number(math.Round(f*100) / 100) }

func progressLine(p protocol.Progress) string {
	text := amount(p.Progress)
	if p.Total > 0 {
		text += " of " + amount(p.Total)
	}
	if p.Message != "" {
		text += ": " + oneLine(p.Message, 200)
	}
	return "… " + text
}

func taskLine(t protocol.McpTask) string {
	text := fmt.Sprintf("… MCP task %s: %s", oneLine(t.TaskID, 60), t.Status)
	if t.StatusMessage != "" {
		text += ": " + oneLine(t.StatusMessage, 200)
	}
	if t.Problem != "" {
		text += " (" + t.Problem + ")"
	}
	return text
}
