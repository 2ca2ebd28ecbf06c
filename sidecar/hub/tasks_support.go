package hub

import (
	"context"
	"encoding/json"
	"time"

	"assent/protocol"
	"assent/sidecar/reason"
	"assent/sidecar/wire"
)

// taskSupport returns whether a tool of a legacy server is to be called as a task: by the tool's own
// word, where the server declares tasks at all (2025-11-25, "Tasks: Tool-Level Negotiation").
func (x *exchange) taskSupport(ctx context.Context, c *conn) (bool, error) {
	if !c.declaredTasks().calls() {
		return false, nil
	}
	support, err := x.server.taskTools(ctx)
	return support[x.toolName], err
}

// taskTools returns which tools of a legacy server can be called as tasks. The list is read once, until
// the server says that it has changed.
func (s *server) taskTools(ctx context.Context) (map[string]bool, error) {
	generation := s.generation(protocol.ListTools)
	s.mu.Lock()
	known, at := s.taskable, s.taskableAt
	s.mu.Unlock()
	if known != nil && at == generation {
		return known, nil
	}
	pages, err := s.list(ctx, protocol.ListTools, hasTools, listTools)
	if err != nil {
		return nil, err
	}
	taskable := map[string]bool{}
	for _, page := range pages {
		var list struct {
			Tools []struct {
				Name      string    `json:"name"`
				Execution execution `json:"execution"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return nil, unusableError{"its list of tools cannot be read: " + reason.Of(err)}
		}
		for _, tool := range list.Tools {
			taskable[tool.Name] = tool.Execution.isTask()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskable, s.taskableAt = taskable, generation
	return taskable, nil
}

// execution is how a tool is called (2025-11-25, "ToolExecution").
type execution struct {
	TaskSupport string `json:"taskSupport"`
}

// isTask reports whether a call of the tool is to be a task.
func (e execution) isTask() bool { return e.TaskSupport == "required" || e.TaskSupport == "optional" }

// takesTasks reports whether a server declares that tools can be called as tasks.
func (h *Hub) takesTasks(serverName string) bool {
	s, err := h.server(serverName)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noted.handshake != nil && s.noted.handshake.Era == wire.EraLegacy && declaredTasks(s.noted.handshake).calls()
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

func (c *conn) declaredTasks() declared { return declaredTasks(c.link.handshake) }

// declaredTasks reads it from a handshake; one that cannot be read has been refused before.
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
