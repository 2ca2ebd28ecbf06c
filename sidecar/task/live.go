package task

import (
	"context"
	"strings"
	"time"

	"assent/protocol"
)

// progressPause is how long a call's next progress waits to be announced.
const progressPause = 200 * time.Millisecond

// frame is how often the pieces of a completion are announced: once a screen refresh.
const frame = 16 * time.Millisecond

// stream is a completion under way.
type stream struct {
	text     strings.Builder
	sequence int64
	pending  strings.Builder
	timer    *time.Timer // set until a frame has passed since the last flush
}

// StartCall adds a call to the task and returns its message's id. A task without a title takes the
// name of what is called.
func (t *Task) StartCall(serverName string, request protocol.CallRequest) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkOpen(); err != nil {
		return 0, err
	}
	if t.info.Title == "" {
		t.info.Title = titleOf(request)
		t.changed()
	}
	m := t.add(protocol.Call{ServerName: serverName, Request: request}, true, "")
	return m.ID, nil
}

// FollowMcpTask adds a call for an MCP task that was found in a server's list, and returns its message's
// id and the task, of which nothing more is known yet than that it is there.
func (t *Task) FollowMcpTask(serverName string, request protocol.TaskResultRequest) (int64, protocol.McpTask, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := protocol.McpTask{TaskID: request.McpTaskID, Status: protocol.McpTaskWorking, CreatedAt: t.registry.now()}
	if err := t.checkOpen(); err != nil {
		return 0, known, err
	}
	if t.info.Title == "" {
		t.info.Title = titleOf(request)
		t.changed()
	}
	m := t.add(protocol.Call{ServerName: serverName, Request: request, Task: &known}, true, "")
	return m.ID, known, nil
}

func titleOf(request protocol.CallRequest) string {
	switch r := request.(type) {
	case protocol.CallToolRequest:
		return r.ToolName
	case protocol.ReadResourceRequest:
		return r.URI
	case protocol.GetPromptRequest:
		return r.PromptName
	case protocol.TaskResultRequest:
		return "Found MCP task"
	}
	return ""
}

// liveCall returns a call that has not ended. The lock must be held.
func (t *Task) liveCall(messageID int64) (*message, protocol.Call, bool) {
	m := t.memory[messageID]
	if m == nil || !m.live {
		return nil, protocol.Call{}, false
	}
	call, ok := m.Body.(protocol.Call)
	return m, call, ok
}

// CallProgress notes how far a call is. However often a server says so, it is announced a few times a
// second at most; what was said last is never left out.
func (t *Task) CallProgress(messageID int64, p protocol.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok {
		return
	}
	call.Progress = &p
	m.Body = call
	if m.progressDue != nil {
		return
	}
	t.announceProgress(m)
	announced := p
	// The callback does nothing once the call ended, so nobody has to wait for it.
	m.progressDue = time.AfterFunc(progressPause, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		m.progressDue = nil
		if call, ok := m.Body.(protocol.Call); ok && m.live && *call.Progress != announced {
			t.announceProgress(m)
		}
	})
}

// announceProgress announces what the server said last. The lock must be held.
func (t *Task) announceProgress(m *message) {
	call, ok := m.Body.(protocol.Call)
	if !ok || call.Progress == nil {
		return
	}
	err := t.registry.opts.Events.CallProgress(context.Background(), &protocol.CallProgressParams{
		TaskID: t.info.ID, MessageID: m.ID, Progress: *call.Progress,
	})
	t.registry.logSend(err)
}

// CallTask notes what a server said of the MCP task that a call became.
func (t *Task) CallTask(messageID int64, task protocol.McpTask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok || call.Task != nil && *call.Task == task {
		return
	}
	call.Task = &task
	m.Body = call
	t.commit(m, protocol.CallTaskChanged{MessageID: messageID, Task: task})
}

// EndCall says how a call ended. Only the first end counts.
func (t *Task) EndCall(messageID int64, result protocol.CallResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok {
		return
	}
	t.endRounds(m)
	call.EndedAt, call.Result, call.Progress = t.registry.now(), result, nil
	m.Body, m.live = call, false
	if t.commit(m, protocol.CallEnded{MessageID: messageID, EndedAt: call.EndedAt, Result: result}) && t.opened {
		t.gotResults([]protocol.Message{m.Message})
	}
}

// Progress adds a piece to an approved completion, or to what a model says. Pieces are announced together, at most once a
// frame.
func (t *Task) Progress(messageID int64, chunk string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[messageID]
	if m == nil || !m.live || chunk == "" {
		return
	}
	if m.stream == nil {
		m.stream = &stream{}
	}
	s := m.stream
	s.pending.WriteString(chunk)
	if s.timer != nil {
		return
	}
	t.flush(m)
	t.awaitFrame(m)
}

// awaitFrame announces a frame later what is pending by then, and so on until a frame passes in which
// nothing came. The lock must be held.
func (t *Task) awaitFrame(m *message) {
	s := m.stream
	// The callback does nothing once the completion ended, so nobody has to wait for it.
	s.timer = time.AfterFunc(frame, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.timer = nil
		if m.stream == s && s.pending.Len() > 0 {
			t.flush(m)
			t.awaitFrame(m)
		}
	})
}

// flush announces what is pending. The lock must be held.
func (t *Task) flush(m *message) {
	s := m.stream
	if s.pending.Len() == 0 {
		return
	}
	chunk := s.pending.String()
	s.pending.Reset()
	s.text.WriteString(chunk)
	var err error
	if _, ok := m.Body.(protocol.ModelMessage); ok {
		err = t.registry.opts.Events.ChatProgress(context.Background(), &protocol.ChatProgressParams{
			TaskID: t.info.ID, MessageID: m.ID, Sequence: s.sequence, Chunk: chunk,
		})
	} else {
		err = t.registry.opts.Events.McpSamplingProgress(context.Background(), &protocol.McpSamplingProgressParams{
			TaskID: t.info.ID, MessageID: m.ID, Sequence: s.sequence, Chunk: chunk,
		})
	}
	s.sequence++
	t.registry.logSend(err)
}

// EndSampling says how an approved completion ended, and what the models read and wrote for it; nil where
// none was asked. Only the first end counts.
func (t *Task) EndSampling(messageID int64, result protocol.SamplingResult, usage *protocol.SamplingUsage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[messageID]
	if m == nil || !m.live {
		return
	}
	a, ok := m.Body.(protocol.Ask)
	if !ok {
		return
	}
	q, ok := a.Question.(protocol.McpSampling)
	if !ok {
		return
	}
	m.endStream()
	if q.Result != nil {
		return
	}
	q.InReview, q.Result, q.Usage = false, result, usage
	a.Question = q
	m.Body, m.live = a, t.keys[a.InputKey] != nil
	t.commit(m, protocol.SamplingEnded{MessageID: messageID, Result: result, Usage: usage})
}

// snapshot returns the message as a front end that opens the task should see it now: with what was
// announced of a completion under way. The rest is yet to come.
func (m *message) snapshot() protocol.Message {
	if m.stream == nil {
		return m.Message
	}
	out := m.Message
	progress := &protocol.SamplingProgress{Text: m.stream.text.String(), Sequence: m.stream.sequence}
	if said, ok := out.Body.(protocol.ModelMessage); ok {
		said.Progress = progress
		out.Body = said
	}
	if a, ok := out.Body.(protocol.Ask); ok {
		if q, ok := a.Question.(protocol.McpSampling); ok {
			q.Progress = progress
			a.Question = q
			out.Body = a
		}
	}
	return out
}
