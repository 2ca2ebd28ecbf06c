package chat

import (
	"encoding/json"
	"fmt"

	"assent/protocol"
	"assent/sidecar/model"
)

// readable returns the part of a server's content that a model gets.
func readable(content []protocol.ContentBlock, structured json.RawMessage) []protocol.ToolResultBlock {
	return model.Readable(content, structured, model.MaxResultText, model.MaxImage)
}

// resultOf returns a call's result for a model.
func resultOf(toolUseID string, result protocol.CallResult) protocol.ToolResultContent {
	failed := func(text string) protocol.ToolResultContent { return failedUse(toolUseID, text) }
	switch r := result.(type) {
	case protocol.ToolResult:
		if r.RemovedAfter > 0 {
			return failed("The result was removed by the retention setting.")
		}
		return protocol.ToolResultContent{ToolUseID: toolUseID, Content: readable(r.Content, r.StructuredContent), IsError: r.IsError}
	case protocol.CallError:
		return failed(fmt.Sprintf("The server answered with the error %d: %s", r.Code, model.Cut(r.Message, model.MaxResultText)))
	case protocol.CallCancelled:
		return failed("The user cancelled the call.")
	case protocol.CallAbandoned:
		return failed("The call was abandoned: " + r.Reason)
	case protocol.CallLost:
		return failed("There is no result: " + model.Cut(r.Reason, model.MaxResultText))
	default:
		return failed("The call has not ended yet.")
	}
}

// failedUse is the result of a call that has none.
func failedUse(toolUseID, text string) protocol.ToolResultContent {
	return protocol.ToolResultContent{ToolUseID: toolUseID, Content: []protocol.ToolResultBlock{protocol.TextContent{Text: text}}, IsError: true}
}
