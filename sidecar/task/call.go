package task

import (
	"cmp"
	"context"
	"time"

	"assent/protocol"
	"assent/sidecar/task/tasklog"
)

// progressPause is the minimum time between two announcements of a call's progress.
const progressPause = 200 * time.Millisecond

// callState is the state of a live call. The log's lock guards it.
type callState struct {
	// round is set if the server has answered with questions; nil otherwise.
	round *Round
	// mcpStatus is the last journaled status of the MCP task.
	mcpStatus protocol.McpTaskStatus
	// progressDue is set while the next announcement of the call's progress is pending.
	progressDue *time.Timer
}

// Show implements [tasklog.Work].
func (*callState) Show(m protocol.Message) (protocol.Message, bool) { return m, false }

// callOf returns the state of a call.
func callOf(m *tasklog.Message) *callState {
	c, ok := m.Work.(*callState)
	if !ok {
		c = &callState{}
		m.Work = c
	}
	return c
}

// StartCall adds a call to the task and returns its message's id. A task without a title is named
// after the tool, prompt or resource.
func (t *Task) StartCall(serverName string, request protocol.CallRequest) (int64, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return 0, err
	}
	if t.log.Info.Title == "" {
		t.log.Info.Title = titleOf(request)
		t.log.Changed()
	}
	m := t.log.Add(protocol.Call{ServerName: serverName, Request: request}, true, "")
	return m.ID, nil
}

// StartAppCall adds a call that the app of another call asked for, and returns its message's id.
func (t *Task) StartAppCall(serverName string, request protocol.CallRequest, fromApp int64) (int64, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckOpen(); err != nil {
		return 0, err
	}
	return t.log.Add(protocol.Call{ServerName: serverName, Request: request, FromApp: fromApp}, true, "").ID, nil
}

// StartHostCall adds a call of a host to the task, and returns its message's id. It is not an act of a person, and is saved
// later; see [tasklog.Log.Defer].
func (t *Task) StartHostCall(serverName string, request protocol.CallRequest) (id int64, err error) {
	t.log.Defer(func() {
		if err = t.log.CheckOpen(); err == nil {
			m := t.log.Add(protocol.Call{ServerName: serverName, Request: request}, true, "")
			m.ByHost, id = true, m.ID
		}
	})
	return id, err
}

// FollowMcpTask adds a call for an MCP task from a server's list. It returns its message's id, and the
// MCP task with only its id and creation time.
func (t *Task) FollowMcpTask(serverName string, request protocol.TaskResultRequest) (int64, protocol.McpTask, error) {
	t.log.Lock()
	defer t.log.Unlock()
	known := protocol.McpTask{TaskID: request.McpTaskID, Status: protocol.McpTaskWorking, CreatedAt: t.registry.now()}
	if err := t.log.CheckOpen(); err != nil {
		return 0, known, err
	}
	if t.log.Info.Title == "" {
		t.log.Info.Title = titleOf(request)
		t.log.Changed()
	}
	m := t.log.Add(protocol.Call{ServerName: serverName, Request: request, Task: &known}, true, "")
	return m.ID, known, nil
}

func titleOf(request protocol.CallRequest) string {
	switch r := request.(type) {
	case protocol.CallToolRequest:
		return cmp.Or(r.Title, r.ToolName)
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
func (t *Task) liveCall(messageID int64) (*tasklog.Message, protocol.Call, bool) {
	m := t.log.Message(messageID)
	if m == nil || !m.Live {
		return nil, protocol.Call{}, false
	}
	call, ok := m.Body.(protocol.Call)
	return m, call, ok
}

// CallProgress records the progress of a call. It is announced at most a few times a second. The last
// report is always announced.
func (t *Task) CallProgress(messageID int64, p protocol.Progress) {
	t.log.Lock()
	defer t.log.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok {
		return
	}
	call.Progress = &p
	m.Body = call
	state := callOf(m)
	if state.progressDue != nil {
		return
	}
	t.announceProgress(m)
	announced := p
	// The callback is a no-op once the call has ended, so no goroutine waits for it.
	state.progressDue = time.AfterFunc(progressPause, func() {
		t.log.Lock()
		defer t.log.Unlock()
		state.progressDue = nil
		if call, ok := m.Body.(protocol.Call); ok && m.Live && *call.Progress != announced {
			t.announceProgress(m)
		}
	})
}

// announceProgress announces the server's last report. The lock must be held.
func (t *Task) announceProgress(m *tasklog.Message) {
	call, ok := m.Body.(protocol.Call)
	if !ok || call.Progress == nil {
		return
	}
	err := t.registry.opts.Events.CallProgress(context.Background(), &protocol.CallProgressParams{
		TaskID: t.log.Info.ID, MessageID: m.ID, Progress: *call.Progress,
	})
	t.registry.storage.LogSend(err)
}

// CallTask records the server's state of the MCP task that a call became.
func (t *Task) CallTask(messageID int64, task protocol.McpTask) {
	t.log.Lock()
	defer t.log.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok || call.Task != nil && *call.Task == task {
		return
	}
	call.Task = &task
	m.Body = call
	event := protocol.CallTaskChanged{MessageID: messageID, Task: task}
	if state := callOf(m); state.mcpStatus == task.Status {
		t.log.CommitUnrecorded(m, event) // servers often report an unchanged state
	} else {
		state.mcpStatus = task.Status
		t.log.Commit(m, event)
	}
}

// CallApp records the URI of the app of a call's tool.
func (t *Task) CallApp(messageID int64, uri string) {
	t.log.Lock()
	defer t.log.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok || call.AppURI == uri {
		return
	}
	call.AppURI = uri
	m.Body = call
	t.log.CommitUnrecorded(m, protocol.CallAppFound{MessageID: messageID, AppURI: uri})
}

// CallJoined records the equal calls that wait for the result of a call; nil for none.
func (t *Task) CallJoined(messageID int64, joined *protocol.JoinedCall) {
	t.log.Lock()
	defer t.log.Unlock()
	m, call, ok := t.liveCall(messageID)
	if !ok || joined == nil && call.Joined == nil || joined != nil && call.Joined != nil && *joined == *call.Joined {
		return
	}
	call.Joined = joined
	m.Body = call
	t.log.CommitUnrecorded(m, protocol.CallJoined{MessageID: messageID, Joined: joined})
}

// EndCall ends a call with its result. Only the first end counts.
func (t *Task) EndCall(messageID int64, result protocol.CallResult) {
	t.log.Lock()
	defer t.log.Unlock()
	if m, received := t.endCall(messageID, result); received && t.opened {
		t.gotResults([]protocol.Message{m.Message})
	}
}

// EndHostCall is EndCall for a call of a host. The end is saved later; see [tasklog.Log.Defer].
func (t *Task) EndHostCall(messageID int64, result protocol.CallResult) {
	isMcpTask := false
	t.log.Defer(func() {
		m, call, ok := t.liveCall(messageID)
		if isMcpTask = ok && call.Task != nil; ok && !isMcpTask {
			t.endLive(m, call, result)
		}
	})
	if isMcpTask { // the event says whether a front end has the result
		t.EndCall(messageID, result)
	}
}

// endCall ends a call, and reports whether a front end received the event. The lock must be held.
func (t *Task) endCall(messageID int64, result protocol.CallResult) (m *tasklog.Message, received bool) {
	m, call, ok := t.liveCall(messageID)
	if !ok {
		return nil, false
	}
	return m, t.endLive(m, call, result)
}

// endLive ends a call that has not ended, and reports whether a front end received the event. The lock must be held.
func (t *Task) endLive(m *tasklog.Message, call protocol.Call, result protocol.CallResult) (received bool) {
	t.endRounds(m)
	call.EndedAt, call.Result, call.Progress = t.registry.now(), result, nil
	m.Body, m.Live = call, false
	return t.log.Commit(m, protocol.CallEnded{MessageID: m.ID, EndedAt: call.EndedAt, Result: result})
}
