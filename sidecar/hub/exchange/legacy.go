package exchange

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/wire/mcptask"
)

// legacyTask is a task of 2025-11-25: its result is fetched by tasks/result, which blocks, and while it
// does the server may ask by requests of its own.
type legacyTask struct {
	f  *following
	wg sync.WaitGroup // of what Attend began

	mu sync.Mutex // guards the fields below
	// waiting is set while tasks/result is under way.
	waiting bool
}

// Get implements [mcptask.Driver].
func (d *legacyTask) Get(ctx context.Context) (*mcptask.State, error) {
	asked := time.Now()
	raw, err := d.f.ask(ctx, "tasks/get", map[string]any{})
	if err != nil {
		return nil, err
	}
	s := parseTaskOf(d.f.id, raw)
	if s == nil {
		return nil, mcptask.ErrNoStatus
	}
	if s.Status != protocol.McpTaskInputRequired {
		// The server has its answer, so the same request is a new one.
		d.f.task.ReleaseAnswered(d.f.prefix(), asked)
	}
	return s, nil
}

// Result implements [mcptask.Driver].
func (d *legacyTask) Result(ctx context.Context, s *mcptask.State) (json.RawMessage, error) {
	if s.Result != nil {
		return s.Result, nil
	}
	if s.Err != nil {
		return nil, s.Err
	}
	limit := d.f.server.session.Housekeeping() // the task has ended, so its server has the result
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := d.f.ask(within, "tasks/result", map[string]any{})
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil, &mcptask.LostError{Over: true, Reason: fmt.Sprintf("is %s, and its server did not give the result within %v", s.Status, limit)}
	}
	return raw, err
}

// Cancel implements [mcptask.Driver].
func (d *legacyTask) Cancel(ctx context.Context) (*mcptask.State, error) {
	raw, err := d.f.ask(ctx, "tasks/cancel", map[string]any{})
	if err != nil {
		return nil, err
	}
	return parseTaskOf(d.f.id, raw), nil
}

// Attend implements [mcptask.Driver]: it waits for the result of a task that needs input, because a server may ask during
// that request.
func (d *legacyTask) Attend(ctx context.Context, s *mcptask.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Status != protocol.McpTaskInputRequired || d.waiting {
		return
	}
	d.waiting = true
	d.wg.Go(func() {
		raw, err := d.f.ask(ctx, "tasks/result", map[string]any{})
		d.mu.Lock()
		d.waiting = false
		d.mu.Unlock()
		// The status message of the last state was about the question.
		end := &mcptask.State{ID: d.f.id, Status: protocol.McpTaskCompleted, Result: raw}
		if err != nil && (ctx.Err() != nil || !errors.As(err, &end.Err)) {
			return // the next state that is seen waits again
		}
		if end.Err != nil {
			// Which of the ends it is, only tasks/get says.
			now, err := d.Get(ctx)
			switch {
			case err == nil && now.Ended():
				now.Err = end.Err
				d.f.tell(now)
			case err != nil:
				d.f.tell(nil) // the next poll comes to the same answer, and decides
			}
			return
		}
		d.f.tell(end)
	})
}

// relatedTask returns the id of the MCP task that a request of the server names, or "".
func relatedTask(params json.RawMessage) string {
	if !mentions(params, `related-task"`) {
		return ""
	}
	var p struct {
		Meta struct {
			Related struct {
				TaskID string `json:"taskId"`
			} `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
	}
	if jsonscan.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.Meta.Related.TaskID
}

// questionKey returns the key of a question of a legacy task. This era has no keys, so the content is the key: the same
// content again, before the server took the answer, is the same question.
func questionKey(prefix, method string, params json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(method+"\x00"), withoutMeta(params)...))
	return prefix + hex.EncodeToString(sum[:12])
}

// errNotYet answers a question after its connection ended: the server asks it again on the next one.
var errNotYet = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the connection ended"}
