package exchange

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/wire/mcptask"
	"assent/sidecar/wire/quirk"
)

// taskState is MCP's Task of both eras. Members of another type than MCP's are read if their meaning is clear, and left
// out if Assent can do without.
type taskState struct {
	TaskID        looseText       `json:"taskId"`
	CreatedAt     any             `json:"createdAt"`
	Status        looseText       `json:"status"`
	StatusMessage looseText       `json:"statusMessage"`
	TTL           looseNumber     `json:"ttl"`
	PollInterval  looseNumber     `json:"pollInterval"`
	TTLMs         looseNumber     `json:"ttlMs"`
	PollMs        looseNumber     `json:"pollIntervalMs"`
	Inputs        json.RawMessage `json:"inputRequests"`
	Result        json.RawMessage `json:"result"`
	Error         json.RawMessage `json:"error"`
	Task          json.RawMessage `json:"task"`
}

// looseText is a text, or a number as it was written; anything else is empty.
type looseText struct {
	text     string
	isNumber bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseText) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &t.text) == nil {
		return nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		t.text, t.isNumber = n.String(), true
	}
	return nil
}

// looseNumber is a number, also one in quotes; anything else is nil.
type looseNumber struct{ *float64 }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *looseNumber) UnmarshalJSON(raw []byte) error {
	if value, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64); err == nil {
		n.float64 = &value
	}
	return nil
}

// parseTask decodes a task, or returns nil if the JSON is none. The task may be in a member "task".
func parseTask(raw json.RawMessage) *mcptask.State { return parseTaskOf("", raw) }

// parseTaskOf is parseTask for an answer about one task, of which some servers leave out the id.
func parseTaskOf(id string, raw json.RawMessage) *mcptask.State {
	var t taskState
	if jsonscan.Unmarshal(raw, &t) != nil {
		return nil
	}
	if t.TaskID.text == "" && t.Task != nil {
		inner := t.Task
		if t = (taskState{}); jsonscan.Unmarshal(inner, &t) != nil {
			return nil
		}
	}
	if t.TaskID.text == "" {
		t.TaskID.text = id
	}
	return t.state()
}

// parseCreated decodes the task of a call. Some servers leave out its first status, which is "working".
func parseCreated(raw json.RawMessage) *mcptask.State {
	var t taskState
	if jsonscan.Unmarshal(raw, &t) != nil {
		return nil
	}
	if t.Status.text == "" {
		t.Status.text = string(protocol.McpTaskWorking)
	}
	return t.state()
}

// state returns the state of the task, or nil without an id or a status.
func (t *taskState) state() *mcptask.State {
	if t.TaskID.text == "" || t.Status.text == "" || t.Status.isNumber {
		return nil
	}
	s := &mcptask.State{
		ID: t.TaskID.text, HasNumber: t.TaskID.isNumber, Status: mcptask.StatusOf(t.Status.text), StatusMessage: t.StatusMessage.text,
		CreatedAt: unixMilli(t.CreatedAt), TTL: milliseconds(t.TTL.float64, t.TTLMs.float64), Result: t.Result, Err: taskError(t.Error),
	}
	if string(s.Status) != t.Status.text && s.StatusMessage == "" {
		s.StatusMessage = "The server calls it " + strconv.Quote(words(t.Status.text)) + "."
	}
	if !quirk.IsEmptyObject(t.Inputs) {
		var inputs inputRequests
		if t.Inputs != nil && inputs.UnmarshalJSON(t.Inputs) != nil {
			return nil
		}
		s.Inputs = inputs
	}
	if poll := milliseconds(t.PollInterval.float64, t.PollMs.float64); poll != nil {
		s.PollInterval = *poll
	}
	return s
}

// taskError returns the error of a task that failed, or nil. An error that is not JSON-RPC's is quoted.
func taskError(raw json.RawMessage) *jsonrpc.Error {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var e jsonrpc.Error
	if json.Unmarshal(raw, &e) == nil && e.Message != "" {
		return &e
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || text == "" {
		text = words(string(raw))
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}

// wireID returns a task's id as the server wrote it.
func wireID(s *mcptask.State) any {
	if s.HasNumber {
		return json.Number(s.ID)
	}
	return s.ID
}

// maxTime is the longest time that is taken from a server. A longer one may not fit into a Duration.
const maxTime = 100 * 365 * 24 * time.Hour

// milliseconds returns the first of the values that there is; one below 0 counts as none.
func milliseconds(values ...*float64) *time.Duration {
	for _, v := range values {
		if v != nil && *v >= 0 {
			d := maxTime
			if *v < float64(maxTime/time.Millisecond) {
				d = time.Duration(*v * float64(time.Millisecond))
			}
			return &d
		}
	}
	return nil
}
