package recovery

import (
	"context"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// notCalled is the error for a model about calls that it had asked for and that had not been made.
const notCalled = "The call was not made: " + restarted

// callsPage is how many messages are read at once to find the calls of a model's message. One can have megabytes.
const callsPage = 20

// recoverModelMessage ends an unfinished message of a model, or records which of its calls were not made.
func (r *recovery) recoverModelMessage(ctx context.Context, m *tasklog.Message, body protocol.ModelMessage) error {
	if body.End == nil {
		r.interrupted = true
		body.Progress, body.End = nil, r.interruption()
	} else {
		made, err := r.madeCalls(ctx, m.ID)
		if err != nil {
			return err
		}
		uses := make([]protocol.ModelToolUse, len(body.ToolUses))
		for i, use := range body.ToolUses {
			if !made[use.ID] && use.Error == "" {
				use.Error = notCalled
			}
			uses[i] = use
		}
		body.ToolUses = uses
	}
	m.Body = body
	r.log.Renumber(m)
	return nil
}

// madeCalls returns the ids of the tool uses of a model's message that became calls.
func (r *recovery) madeCalls(ctx context.Context, messageID int64) (map[string]bool, error) {
	made := map[string]bool{}
	page := store.Range{Limit: callsPage}
	for {
		entries, err := r.log.Stored(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if call, ok := e.Message.Body.(protocol.Call); ok && call.ToolUse != nil && call.ToolUse.MessageID == messageID {
				made[call.ToolUse.ToolUseID] = true
			}
		}
		if len(entries) == 0 || entries[0].Message.ID <= messageID {
			return made, nil // calls come after the message that asks for them
		}
		page.Before = entries[0].Message.ID
	}
}

// endTurn ends the turn that was under way. It adds a message, unless another one says that the turn was interrupted.
// Queued messages wait for the person.
func (r *recovery) endTurn() {
	if !r.log.Info.Running {
		return
	}
	r.log.Info.Running = false
	if r.interrupted || r.log.Info.Closed {
		r.log.Info.LastNumber++
		r.log.Save(nil)
		return
	}
	r.log.Append(protocol.Message{Time: r.now(), Body: protocol.ModelMessage{End: r.interruption()}})
}

func (r *recovery) interruption() *protocol.ModelEnd {
	return &protocol.ModelEnd{Reason: protocol.ModelEndInterrupted, Detail: restarted, At: r.now()}
}
