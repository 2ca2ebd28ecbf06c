package chat_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"assent/protocol"
	"assent/sidecar/model"
)

// A panic ends one turn or call with an error, and the task continues.
func TestAPanicCostsOneTurnOrCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
			switch attempt {
			case 1:
				panic("the model, on purpose")
			case 2:
				use := protocol.ToolUseContent{ID: "1", Name: "s__t", Input: json.RawMessage(`{}`)}
				return &model.Completion{ToolUses: []protocol.ToolUseContent{use}, StopReason: "toolUse"}, nil
			}
			return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{names: []string{"s"}, call: func(context.Context, string) protocol.CallResult { panic("the call, on purpose") }})
		defer f.close(t)
		f.say(t, "Hi")
		f.say(t, "Hi again")
		opened, err := f.task.Open(t.Context(), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, message := range opened.Messages {
			switch body := message.Body.(type) {
			case protocol.ModelMessage:
				said = append(said, "model "+string(body.End.Reason)+" "+body.End.Detail+body.Text)
			case protocol.Call:
				lost, _ := body.Result.(protocol.CallLost)
				said = append(said, "call "+lost.Reason)
			}
		}
		got := strings.Join(said, "\n")
		const want = `model failed the request to the model failed inside Assent: see its log
model toolUse 
call the call failed inside Assent: see its log.
model endTurn Hello.`
		if got != want {
			t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
		}
	})
}
