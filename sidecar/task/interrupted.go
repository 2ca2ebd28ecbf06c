package task

import (
	"context"

	"assent/protocol"
	"assent/sidecar/store"
)

// notCalledDetail is what became of the calls that a model had asked for and that had not been made.
const notCalledDetail = "The call was not made: "

// interruptedMessage is a model's message as an earlier sidecar left it: in the middle of its text, or before
// all the calls were made that it asked for.
func (t *Task) interruptedMessage(ctx context.Context, id int64, body protocol.ModelMessage) (protocol.ModelMessage, error) {
	if body.End == nil {
		body.Progress = nil
		body.End = &protocol.ModelEnd{Reason: protocol.ModelEndInterrupted, Detail: restartedDetail, At: t.registry.now()}
		return body, nil
	}
	made := map[string]bool{}
	page := store.Range{Limit: conversationPage, Bytes: t.registry.opts.MaxRead}
	for {
		entries, err := t.registry.store.Messages(ctx, t.info.ID, page)
		if err != nil {
			return body, err
		}
		for _, e := range entries {
			if call, ok := e.Message.Body.(protocol.Call); ok && call.ToolUse != nil && call.ToolUse.MessageID == id {
				made[call.ToolUse.ToolUseID] = true
			}
		}
		if len(entries) == 0 || entries[0].Message.ID <= id {
			break // calls come after the message that asks for them
		}
		page.Before = entries[0].Message.ID
	}
	uses := make([]protocol.ModelToolUse, len(body.ToolUses))
	for i, use := range body.ToolUses {
		if !made[use.ID] && use.Error == "" {
			use.Error = notCalledDetail + restartedDetail
		}
		uses[i] = use
	}
	body.ToolUses = uses
	return body, nil
}

// recoverTurn ends the turn that was under way when an earlier sidecar ended; interrupted, where a message
// says so already. What is queued waits for the person.
func (t *Task) recoverTurn(interrupted bool) {
	if !t.info.Running {
		return
	}
	t.info.Running = false
	t.info.LastNumber++
	if interrupted || t.info.Closed {
		t.save(nil)
		return
	}
	t.lastMessage++
	m := &message{Message: protocol.Message{ID: t.lastMessage, Time: t.registry.now(), Body: protocol.ModelMessage{
		End: &protocol.ModelEnd{Reason: protocol.ModelEndInterrupted, Detail: restartedDetail, At: t.registry.now()},
	}}, number: t.info.LastNumber}
	if !t.save(m) {
		t.memory[m.ID] = m
	}
}

// whatEnded says what ended with the sidecar that asked.
func whatEnded(question protocol.UseMcpServer) string {
	switch question.(type) {
	case protocol.UseMcpTool, protocol.AccessMcpResource:
		return " The call was not made."
	case protocol.RepeatMcpCall:
		return " The call was not made once more."
	default:
		return " The server stopped waiting."
	}
}
