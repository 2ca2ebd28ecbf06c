package journal

import (
	"encoding/json"

	"assent/protocol"
)

// The bodies of records. docs/journal.md describes them for readers of a journal.
type (
	callStarted struct {
		MessageID int64                `json:"messageId"`
		Request   protocol.CallRequest `json:"request"`
		// ToolUse is set if a model asked for the call.
		ToolUse *protocol.ToolUseRef `json:"toolUse,omitempty"`
		// FromApp is the message of the call with the app that asked for the call; absent if no app did.
		FromApp int64 `json:"fromApp,omitempty"`
	}
	callTaskChanged struct {
		MessageID     int64                  `json:"messageId"`
		McpTaskID     string                 `json:"mcpTaskId"`
		Status        protocol.McpTaskStatus `json:"status"`
		StatusMessage string                 `json:"statusMessage,omitempty"`
	}
	// callEnded has the kind and the size of a result. The result itself is in the conversation.
	callEnded struct {
		MessageID int64 `json:"messageId"`
		// End is "result", "error", "cancelled", "abandoned" or "lost".
		End     string `json:"end"`
		IsError bool   `json:"isError,omitempty"`
		// Bytes is the size of a result's texts and data.
		Bytes int `json:"bytes,omitempty"`
		// Code is set for an error. Reason is set for an error and for a call without a result.
		Code   int64  `json:"code,omitempty"`
		Reason string `json:"reason,omitempty"`
		// RemovedAfter is in days.
		RemovedAfter int `json:"removedAfter,omitempty"`
	}
	askOpened struct {
		MessageID int64                 `json:"messageId"`
		Ask       protocol.AskKind      `json:"ask"`
		Question  protocol.UseMcpServer `json:"question"`
		// Secrets are the descriptions of the secrets in the request.
		Secrets   []string `json:"secrets,omitempty"`
		ExpiresAt int64    `json:"expiresAt,omitempty"`
	}
	askExtended struct {
		MessageID int64 `json:"messageId"`
		ExpiresAt int64 `json:"expiresAt"`
	}
	askSettled struct {
		MessageID           int64                            `json:"messageId"`
		Outcome             protocol.Outcome                 `json:"outcome"`
		ElicitationResponse *protocol.McpElicitationResponse `json:"elicitationResponse,omitempty"`
		// Model is the model that is asked after the answer.
		Model string `json:"model,omitempty"`
		// SentRequest and SentResponse are the person's edits of the request and of the model's answer.
		SentRequest  *protocol.McpSamplingRequest  `json:"sentRequest,omitempty"`
		SentResponse *protocol.McpSamplingResponse `json:"sentResponse,omitempty"`
		// SentArguments are the person's edits of the arguments of a tool.
		SentArguments json.RawMessage `json:"sentArguments,omitempty"`
		// Permission is what the person said to an agent's host beside yes or no.
		Permission *protocol.PermissionAnswer `json:"permission,omitempty"`
	}
	askUndelivered struct {
		MessageID int64 `json:"messageId"`
		// Reason is absent if the server got the answer later.
		Reason string `json:"reason,omitempty"`
	}
	samplingMoved struct {
		MessageID int64  `json:"messageId"`
		Model     string `json:"model,omitempty"`
		InReview  bool   `json:"inReview,omitempty"`
	}
	samplingEnded struct {
		MessageID int64                   `json:"messageId"`
		Model     string                  `json:"model,omitempty"`
		Result    protocol.SamplingResult `json:"result"`
		Usage     *protocol.SamplingUsage `json:"usage,omitempty"`
	}
)

// ofCall returns the record of a change of a call. The body is nil if the journal does not record the change.
func ofCall(messageID int64, call protocol.Call, event protocol.Event) (protocol.JournalKind, any) {
	switch e := event.(type) {
	case protocol.MessageAdded:
		return protocol.JournalCallStarted, callStarted{messageID, maskedRequest(call.Request), call.ToolUse, call.FromApp}
	case protocol.CallTaskChanged:
		return protocol.JournalCallTaskChanged, callTaskChanged{messageID, e.Task.TaskID, e.Task.Status, e.Task.StatusMessage}
	case protocol.CallEnded:
		body := endOf(messageID, e.Result)
		if body.RemovedAfter > 0 {
			return protocol.JournalResultRemoved, body
		}
		return protocol.JournalCallEnded, body
	default:
		return "", nil
	}
}

func endOf(messageID int64, result protocol.CallResult) callEnded {
	end := callEnded{MessageID: messageID}
	switch r := result.(type) {
	case protocol.ToolResult:
		end.End, end.IsError, end.RemovedAfter = "result", r.IsError, r.RemovedAfter
		end.Bytes = SizeOf(r.Content) + len(r.StructuredContent)
	case protocol.PromptResult:
		end.End = "result"
		for _, m := range r.Messages {
			end.Bytes += SizeOf([]protocol.ContentBlock{m.Content})
		}
	case protocol.CallError:
		end.End, end.Code, end.Reason = "error", r.Code, r.Message
	case protocol.CallCancelled:
		end.End = "cancelled"
	case protocol.CallAbandoned:
		end.End, end.Reason = "abandoned", r.Reason
	case protocol.CallLost:
		end.End, end.Reason = "lost", r.Reason
	}
	return end
}

// ofAsk returns the record of a change of an ask. The body is nil if the journal does not record the change.
func ofAsk(messageID int64, ask protocol.Ask, event protocol.Event) (protocol.JournalKind, any) {
	switch e := event.(type) {
	case protocol.AskExtended:
		return protocol.JournalAskExtended, askExtended{messageID, e.ExpiresAt}
	case protocol.AskSettled:
		return protocol.JournalAskSettled, settled(messageID, ask)
	case protocol.AskUndelivered:
		return protocol.JournalAskUndelivered, askUndelivered{messageID, e.Reason}
	case protocol.SamplingMoved:
		return protocol.JournalSamplingMoved, samplingMoved{messageID, idOf(e.Model), e.InReview}
	case protocol.SamplingEnded:
		body := samplingEnded{MessageID: messageID, Result: e.Result, Usage: e.Usage}
		if q, ok := ask.Question.(protocol.McpSampling); ok {
			body.Model = idOf(q.Model)
		}
		if r, ok := e.Result.(protocol.McpSamplingResponse); ok {
			body.Result = withoutMedia(r)
		}
		return protocol.JournalSamplingEnded, body
	default:
		return "", nil
	}
}

// opened returns an ask as the person saw it first.
func opened(messageID int64, ask protocol.Ask) askOpened {
	body := askOpened{MessageID: messageID, Ask: ask.Ask, Question: ask.Question, ExpiresAt: ask.ExpiresAt}
	switch q := ask.Question.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = nil
		body.Question = q
	case protocol.McpURLElicitation:
		q.ElicitationResponse = nil
		body.Question = q
	case protocol.McpSampling:
		for _, s := range q.Secrets {
			body.Secrets = append(body.Secrets, s.Description)
		}
		q.SamplingRequest = *requestWithoutMedia(&q.SamplingRequest)
		q.SentRequest, q.Secrets, q.Progress, q.Result, q.Usage = nil, nil, nil, nil, nil
		body.Question = q
	case protocol.McpSamplingReview:
		q.SamplingResponse, q.SentResponse = withoutMedia(q.SamplingResponse), nil
		body.Question = q
	case protocol.UseMcpTool:
		// The form and the schema belong to the tool, and can be very long. The arguments are enough.
		q.Tool.Fields, q.Tool.InputSchema, q.SentArguments = nil, nil, nil
		q.Arguments, q.ArgumentsText = maskMembers(q.Arguments), "" // the same arguments, unmasked
		body.Question = q
	case protocol.HostPermission:
		q.Command, q.Changes, q.Claim, q.Answer = "", nil, "", nil // the input has them
		body.Question = q
	}
	return body
}

// settled returns how an ask was settled.
func settled(messageID int64, ask protocol.Ask) askSettled {
	body := askSettled{MessageID: messageID}
	if ask.Outcome != nil {
		body.Outcome = *ask.Outcome
	}
	yes := body.Outcome.Reason == protocol.OutcomeAnswered || body.Outcome.Reason == protocol.OutcomeGranted
	switch q := ask.Question.(type) {
	case protocol.McpElicitation:
		body.ElicitationResponse = maskedResponse(q)
	case protocol.McpURLElicitation:
		body.ElicitationResponse = q.ElicitationResponse
	case protocol.McpSampling:
		if yes {
			body.Model, body.SentRequest = idOf(q.Model), requestWithoutMedia(q.SentRequest)
		}
		if r, ok := q.Result.(protocol.McpSamplingResponse); ok && r.ByPerson {
			body.SentResponse = &r
		}
	case protocol.UseMcpTool:
		if q.SentArguments != nil {
			body.SentArguments = maskMembers(q.SentArguments)
		}
	case protocol.HostPermission:
		body.Permission = q.Answer
	case protocol.McpSamplingReview:
		if body.Outcome.Reason == protocol.OutcomeRegenerated {
			body.Model = idOf(q.Model)
		}
		if q.SentResponse != nil {
			sent := withoutMedia(*q.SentResponse)
			body.SentResponse = &sent
		}
	}
	return body
}

func idOf(m *protocol.Model) string {
	if m == nil {
		return ""
	}
	return m.ID
}

// secretsOf returns the secrets that were found in a request.
func secretsOf(question protocol.UseMcpServer) []protocol.SecretFinding {
	if q, ok := question.(protocol.McpSampling); ok {
		return q.Secrets
	}
	return nil
}
