package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"assent/protocol"
	"assent/sidecar/reason"
)

// mostText is how many characters of a text a line quotes.
const mostText = 160

// Line returns a record as one line for the person, in their time zone: the time, the server, and
// what happened. The record itself has the details.
func Line(r protocol.JournalRecord, zone *time.Location) string {
	when := time.UnixMilli(r.At).In(zone).Format("2006-01-02 15:04:05")
	return fmt.Sprintf("%6d  %s  %s  %s", r.Seq, when, plain(cmp.Or(r.ServerName, "-")), plain(sentence(r)))
}

// sentence describes a record. The body may have been altered, so sentence reads only the members
// that it knows.
func sentence(r protocol.JournalRecord) string {
	var b struct {
		MessageID int64
		Request   struct {
			Type, ToolName, URI, PromptName, McpTaskID string
			Arguments                                  json.RawMessage
		}
		End, Reason, Status, Model, Method, By, Text string
		IsError, InReview                            bool
		Bytes, Count                                 int64
		RemovedAfter                                 int
		ExpiresAt                                    int64
		Question                                     struct {
			Type, Message, URL string
			ToolNames          []string
			URI                string
			Tool               struct{ Name string }
			Arguments          json.RawMessage
			ElicitationRequest struct{ Message string }
			SamplingRequest    struct {
				Messages  []json.RawMessage
				MaxTokens int64
			}
		}
		Outcome             protocol.Outcome
		ElicitationResponse *protocol.McpElicitationResponse
		SentRequest         json.RawMessage
		SentResponse        *struct{ ByPerson bool }
		SentArguments       json.RawMessage
		ToolUse             *protocol.ToolUseRef
		ToolName            string
		ResourceURI         string
		Remember            protocol.Remember
		Result              struct{ Type, Reason string }
		Usage               *protocol.SamplingUsage
		Models              []string
		ThroughSeq          int64
		Title               string
		Decision, Source    string
		ID                  string
	}
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Sprintf("%s (%s)", r.Kind, reason.Of(err))
	}
	switch r.Kind {
	case protocol.JournalCallStarted:
		what := cmp.Or(b.Request.ToolName, b.Request.URI, b.Request.PromptName, b.Request.McpTaskID)
		if b.ToolUse != nil {
			return fmt.Sprintf("a model's %s %s %s", b.Request.Type, what, b.Request.Arguments)
		}
		return fmt.Sprintf("%s %s %s", b.Request.Type, what, b.Request.Arguments)
	case protocol.JournalCallTaskChanged:
		return "the MCP task is " + b.Status
	case protocol.JournalCallEnded:
		switch {
		case b.End == "result" && b.IsError:
			return fmt.Sprintf("the call ended with an error of the tool (%d bytes)", b.Bytes)
		case b.End == "result":
			return fmt.Sprintf("the call ended with a result (%d bytes)", b.Bytes)
		}
		return join("the call ended: "+b.End, b.Reason)
	case protocol.JournalResultRemoved:
		return fmt.Sprintf("the result was removed after %d days", b.RemovedAfter)
	case protocol.JournalAskOpened:
		q := b.Question
		switch q.Type {
		case "mcp_sampling":
			return fmt.Sprintf("asks for a completion of %d messages and up to %d tokens", len(q.SamplingRequest.Messages), q.SamplingRequest.MaxTokens)
		case "mcp_sampling_review":
			return "a model's answer is shown for review"
		case "mcp_url_elicitation":
			return join("asks for a page to be opened: "+q.URL, q.Message)
		case "use_mcp_tool":
			return fmt.Sprintf("a model wants to use the tool %s %s", q.Tool.Name, q.Arguments)
		case "access_mcp_resource":
			return "a model wants to read " + q.URI
		}
		return "asks: " + q.ElicitationRequest.Message
	case protocol.JournalAskExtended:
		return "time limit extended"
	case protocol.JournalAskSettled:
		text := Words(b.Outcome.Reason)
		if b.Outcome.By != "" {
			text += " in " + b.Outcome.By
		}
		if b.Outcome.GrantID != "" {
			text += " (grant " + b.Outcome.GrantID + ")"
		}
		switch {
		case b.SentResponse != nil && b.SentResponse.ByPerson:
			text += ", written by hand"
		case b.SentRequest != nil || b.SentResponse != nil || b.SentArguments != nil:
			text += ", edited"
		}
		if b.Model != "" {
			text += ", for " + b.Model
		}
		if e := b.ElicitationResponse; e != nil && len(e.Content) > 0 {
			text += ": " + string(e.Content)
		}
		return join(text, b.Outcome.Detail)
	case protocol.JournalAskUndelivered:
		if b.Reason == "" {
			return "the server got the answer after all"
		}
		return join("the server did not get the answer", b.Reason)
	case protocol.JournalSamplingMoved:
		if b.InReview {
			return b.Model + " has answered"
		}
		return b.Model + " answers again"
	case protocol.JournalSamplingEnded:
		text := "the server got the answer of " + b.Model
		if b.Result.Type != "response" {
			text = join("the server got no answer of "+b.Model, b.Result.Reason)
		}
		if u := b.Usage; u != nil {
			text += fmt.Sprintf(" (%d tokens read, %d written)", u.InputTokens, u.OutputTokens)
		}
		return text
	case protocol.JournalGrantCreated:
		return fmt.Sprintf("grant %s was made in %s, for %s", b.ID, b.By, strings.Join(b.Models, ", "))
	case protocol.JournalGrantEnded:
		return fmt.Sprintf("grant %s was revoked in %s", b.ID, b.By)
	case protocol.JournalRequestUnclaimed:
		text := fmt.Sprintf("%s was not assigned to a conversation, and %s", b.Method, Words(b.Outcome.Reason))
		if b.Outcome.By != "" {
			text += " in " + b.Outcome.By
		}
		return join(text, b.Text)
	case protocol.JournalToolRuleCreated:
		return fmt.Sprintf("remembered in %s for %s: %s", b.By, cmp.Or(b.ToolName, b.ResourceURI), b.Remember)
	case protocol.JournalToolRuleRemoved:
		return fmt.Sprintf("rule removed in %s for %s", b.By, cmp.Or(b.ToolName, b.ResourceURI))
	case protocol.JournalServerDecided:
		return fmt.Sprintf("%s in %s: to run it as configured in %s", b.Decision, b.By, b.Source)
	case protocol.JournalTaskDeleted:
		return fmt.Sprintf("deleted in %s: the task %q", b.By, b.Title)
	case protocol.JournalTaskRestored:
		return fmt.Sprintf("restored in %s: the task %q", b.By, b.Title)
	case protocol.JournalRecordsRemoved:
		return fmt.Sprintf("%d old records were removed, up to record %d", b.Count, b.ThroughSeq)
	case protocol.JournalRequestDenied:
		text := join(fmt.Sprintf("%s was %s", b.Method, Words(b.Outcome.Reason)), b.Outcome.Detail)
		if b.Count > 1 {
			text += fmt.Sprintf(" (%d times)", b.Count)
		}
		return text
	default:
		return string(r.Kind)
	}
}

func join(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// plain returns an untrusted text as one short line. Nothing in it moves the cursor or changes the
// direction of writing.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > mostText {
		text = string(runes[:mostText]) + "…"
	}
	return text
}
