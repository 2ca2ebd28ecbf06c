package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"assent/protocol"
)

// taskSupport returns whether a tool of a legacy server is to be called as a task: by the tool's own
// word, where the server declares tasks at all (2025-11-25, "Tasks: Tool-Level Negotiation").
func (x *exchange) taskSupport(ctx context.Context, c *conn) (bool, error) {
	var declared struct {
		Capabilities struct {
			Tasks struct {
				Requests struct {
					Tools struct {
						Call json.RawMessage `json:"call"`
					} `json:"tools"`
				} `json:"requests"`
			} `json:"tasks"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(c.link.handshake.Result, &declared); err != nil || declared.Capabilities.Tasks.Requests.Tools.Call == nil {
		return false, nil // a handshake that cannot be read has been refused before
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
				Name      string `json:"name"`
				Execution struct {
					TaskSupport string `json:"taskSupport"`
				} `json:"execution"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return nil, noAnswerError{fmt.Sprintf("its list of tools cannot be read: %v", err)}
		}
		for _, tool := range list.Tools {
			support := tool.Execution.TaskSupport
			taskable[tool.Name] = support == "required" || support == "optional"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskable, s.taskableAt = taskable, generation
	return taskable, nil
}

// taskTTL is for how long a legacy server is asked to keep a task: a person may come back after a
// weekend.
const taskTTL = 7 * 24 * time.Hour
