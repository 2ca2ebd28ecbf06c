package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/base/visible"
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
	switch r.Kind {
	case protocol.JournalCallStarted:
		return said(r, sayCallStarted)
	case protocol.JournalCallTaskChanged:
		return said(r, func(b callTaskChanged) string { return "the MCP task is " + string(b.Status) })
	case protocol.JournalCallEnded:
		return said(r, sayCallEnded)
	case protocol.JournalResultRemoved:
		return said(r, func(b callEnded) string {
			return fmt.Sprintf("the result was removed after %d days", b.RemovedAfter)
		})
	case protocol.JournalAskOpened:
		return said(r, sayAskOpened)
	case protocol.JournalAskExtended:
		return "time limit extended"
	case protocol.JournalAskSettled:
		return said(r, sayAskSettled)
	case protocol.JournalAskUndelivered:
		return said(r, func(b askUndelivered) string {
			if b.Reason == "" {
				return "the server got the answer after all"
			}
			return join("the server did not get the answer", b.Reason)
		})
	case protocol.JournalSamplingMoved:
		return said(r, func(b samplingMoved) string {
			if b.InReview {
				return b.Model + " has answered"
			}
			return b.Model + " answers again"
		})
	case protocol.JournalSamplingEnded:
		return said(r, saySamplingEnded)
	case protocol.JournalGrantCreated:
		return said(r, func(b decided) string {
			return fmt.Sprintf("grant %s was made in %s, for %s", b.ID, b.By, strings.Join(b.Models, ", "))
		})
	case protocol.JournalGrantEnded:
		return said(r, func(b decided) string { return fmt.Sprintf("grant %s was revoked in %s", b.ID, b.By) })
	case protocol.JournalToolRuleCreated:
		return said(r, func(b decided) string {
			return fmt.Sprintf("remembered in %s for %s: %s", b.By, cmp.Or(b.ToolName, b.ResourceURI), b.Remember)
		})
	case protocol.JournalToolRuleRemoved:
		return said(r, func(b decided) string {
			text := fmt.Sprintf("rule removed in %s for %s", b.By, cmp.Or(b.ToolName, b.ResourceURI))
			if b.Remember != "" { // earlier records do not have it
				text += ": " + string(b.Remember)
			}
			return text
		})
	case protocol.JournalAskFirstChanged:
		return said(r, func(b AskFirst) string {
			if b.After == "" {
				return fmt.Sprintf("rule removed in %s: %s", b.By, b.Before)
			}
			return fmt.Sprintf("rule made in %s: %s", b.By, b.After)
		})
	case protocol.JournalServerDecided:
		return said(r, func(b decided) string {
			return fmt.Sprintf("%s in %s: to run it as configured in %s", b.Decision, b.By, b.Source)
		})
	case protocol.JournalServerBlocked:
		return said(r, func(b Blocked) string { return fmt.Sprintf("blocked by your organisation: %s, %s", b.File, b.Entry) })
	case protocol.JournalTaskDeleted:
		return said(r, func(b decided) string { return fmt.Sprintf("deleted in %s: the task %q", b.By, b.Title) })
	case protocol.JournalTaskRestored:
		return said(r, func(b decided) string { return fmt.Sprintf("restored in %s: the task %q", b.By, b.Title) })
	case protocol.JournalRecordsRemoved:
		return said(r, func(b struct{ Count, ThroughSeq int64 }) string {
			return fmt.Sprintf("%d old records were removed, up to record %d", b.Count, b.ThroughSeq)
		})
	case protocol.JournalRequestUnattributed:
		return said(r, sayRequestUnattributed)
	case protocol.JournalRequestDenied:
		return said(r, sayRequestDenied)
	case protocol.JournalRequestInvalid:
		return said(r, func(b struct{ Method, Reason string }) string {
			return fmt.Sprintf("%s could not be shown: %s", b.Method, b.Reason)
		})
	default:
		return string(r.Kind)
	}
}

// said describes a record by the members of its body.
func said[T any](r protocol.JournalRecord, say func(T) string) string {
	var body T
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Sprintf("%s (%s)", r.Kind, reason.Of(err))
	}
	return say(body)
}

// decided are the members of records about what a person decided for later.
type decided struct {
	By                    string
	ID                    string
	Models                []string
	ToolName, ResourceURI string
	Remember              protocol.Remember
	Decision, Source      string
	Title                 string
}

func sayCallStarted(b struct {
	Request struct {
		Type, ToolName, URI, PromptName, McpTaskID string
		Arguments                                  json.RawMessage
	}
	ToolUse *protocol.ToolUseRef
	FromApp int64
},
) string {
	r := b.Request
	text := fmt.Sprintf("%s %s %s", r.Type, cmp.Or(r.ToolName, r.URI, r.PromptName, r.McpTaskID), r.Arguments)
	switch {
	case b.FromApp != 0:
		return "an app's " + text
	case b.ToolUse != nil:
		return "a model's " + text
	}
	return text
}

func sayCallEnded(b callEnded) string {
	switch {
	case b.End == "result" && b.IsError:
		return fmt.Sprintf("the call ended with an error of the tool (%d bytes)", b.Bytes)
	case b.End == "result":
		return fmt.Sprintf("the call ended with a result (%d bytes)", b.Bytes)
	}
	return join("the call ended: "+b.End, b.Reason)
}

func sayAskOpened(b struct {
	Question struct {
		Type, Message, URL, URI string
		FromApp                 bool
		Tool                    struct{ Name string }
		Arguments               json.RawMessage
		ElicitationRequest      struct{ Message string }
		SamplingRequest         struct {
			Messages  []json.RawMessage
			MaxTokens int64
		}
	}
},
) string {
	q := b.Question
	switch q.Type {
	case "mcp_sampling":
		messages := "1 message"
		if n := len(q.SamplingRequest.Messages); n != 1 {
			messages = fmt.Sprintf("%d messages", n)
		}
		return fmt.Sprintf("asks for a completion of %s and up to %d tokens", messages, q.SamplingRequest.MaxTokens)
	case "mcp_sampling_review":
		return "a model's answer is shown for review"
	case "mcp_url_elicitation":
		return join("asks for a page to be opened: "+q.URL, q.Message)
	case "use_mcp_tool":
		who := "a model"
		if q.FromApp {
			who = "its app"
		}
		return fmt.Sprintf("%s wants to use the tool %s %s", who, q.Tool.Name, q.Arguments)
	case "access_mcp_resource":
		return "a model wants to read " + q.URI
	}
	return "asks: " + q.ElicitationRequest.Message
}

func sayAskSettled(b struct {
	Outcome             protocol.Outcome
	Model               string
	ElicitationResponse *protocol.McpElicitationResponse
	SentRequest         json.RawMessage
	SentResponse        *struct{ ByPerson bool }
	SentArguments       json.RawMessage
},
) string {
	text := outcome(b.Outcome)
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
}

func saySamplingEnded(b struct {
	Model  string
	Result struct{ Type, Reason string }
	Usage  *protocol.SamplingUsage
},
) string {
	text := "the server got the answer of " + b.Model
	if b.Result.Type != "response" {
		text = join("the server got no answer of "+b.Model, b.Result.Reason)
	}
	if u := b.Usage; u != nil {
		text += fmt.Sprintf(" (%d tokens read, %d written)", u.InputTokens, u.OutputTokens)
	}
	return text
}

func sayRequestUnattributed(b struct {
	Method, Text string
	Outcome      protocol.Outcome
},
) string {
	return join(fmt.Sprintf("%s was not assigned to a conversation, and %s", b.Method, outcome(b.Outcome)), b.Text)
}

func sayRequestDenied(b struct {
	Method  string
	Outcome protocol.Outcome
	Count   int64
},
) string {
	text := join(fmt.Sprintf("%s was %s", b.Method, Words(b.Outcome.Reason)), b.Outcome.Detail)
	if b.Count > 1 {
		text += fmt.Sprintf(" (%d times)", b.Count)
	}
	return text
}

// outcome says how a request ended, and in which front end.
func outcome(o protocol.Outcome) string {
	if o.By == "" {
		return Words(o.Reason)
	}
	return Words(o.Reason) + " in " + o.By
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
		if visible.Hidden(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > mostText {
		text = string(runes[:mostText]) + "…"
	}
	return text
}
