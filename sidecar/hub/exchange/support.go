package exchange

import (
	"context"
	"encoding/json"
	"time"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire"
)

// taskSupport reports whether a tool of a legacy server is called as a task: the server declares tasks, and the tool
// supports them (2025-11-25, "Tasks: Tool-Level Negotiation").
func (x *exchange) taskSupport(ctx context.Context, c *session.Conn) (bool, error) {
	if !declaredTasks(c.Handshake()).calls() {
		return false, nil
	}
	support, err := x.server.taskTools(ctx)
	return support[x.toolName], err
}

// taskTools returns which tools of a legacy server can be called as tasks. The list is read once, until
// the server says that it has changed.
func (s *Exchanges) taskTools(ctx context.Context) (map[string]bool, error) {
	version := s.tools.ToolsVersion()
	s.mu.Lock()
	known, at := s.taskable, s.taskableVersion
	s.mu.Unlock()
	if known != nil && at == version {
		return known, nil
	}
	pages, err := s.tools.ToolPages(ctx)
	if err != nil {
		return nil, err
	}
	taskable := map[string]bool{}
	for _, page := range pages {
		var list struct {
			Tools []struct {
				Name      string    `json:"name"`
				Execution Execution `json:"execution"`
			} `json:"tools"`
		}
		if err := jsonscan.Unmarshal(page, &list); err != nil {
			return nil, session.BadAnswerError{Reason: "its list of tools cannot be read: " + reason.Of(err)}
		}
		for _, tool := range list.Tools {
			taskable[tool.Name] = tool.Execution.IsTask()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskable, s.taskableVersion = taskable, version
	return taskable, nil
}

// Execution is how a tool is called (2025-11-25, "ToolExecution").
type Execution struct {
	TaskSupport string `json:"taskSupport"`
}

// IsTask reports whether a call of the tool is to be a task.
func (e Execution) IsTask() bool { return e.TaskSupport == "required" || e.TaskSupport == "optional" }

// TakesTasks reports whether the server declares that tools can be called as tasks.
func (s *Exchanges) TakesTasks() bool {
	h := s.session.Handshake()
	return h != nil && h.Era == wire.EraLegacy && declaredTasks(h).calls()
}

// DefaultTaskTTL is for how long a legacy server is asked to keep a task: a person may come back after a
// weekend.
const DefaultTaskTTL = 7 * 24 * time.Hour

// declared is what a legacy server declares of tasks (2025-11-25, "Tasks: Capabilities").
type declared struct {
	List     json.RawMessage `json:"list"`
	Requests struct {
		Tools struct {
			Call json.RawMessage `json:"call"`
		} `json:"tools"`
	} `json:"requests"`
}

func (d declared) list() bool  { return len(d.List) > 0 && string(d.List) != "null" }
func (d declared) calls() bool { return d.Requests.Tools.Call != nil }

// declaredTasks returns what a handshake declares of tasks. A handshake that cannot be read was refused before.
func declaredTasks(h *wire.Handshake) declared {
	var result struct {
		Capabilities struct {
			Tasks declared `json:"tasks"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(h.Result, &result) != nil {
		return declared{}
	}
	return result.Capabilities.Tasks
}
