package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
)

// toolText returns the text above the question whether a model may use a tool. It is safe to show.
func toolText(q protocol.UseMcpTool) string {
	var b strings.Builder
	who := "the model"
	if q.HostName != "" {
		who = strong(oneLine(q.HostName, 200))
	}
	fmt.Fprintf(&b, "Allow %s to use the tool %s of the server %s?\n", who, strong(oneLine(q.Tool.Name, 200)), strong(oneLine(q.ServerName, 200)))
	if q.Destructive {
		b.WriteString("! By what its server says, or does not say, it may destroy something.\n")
	}
	if text := changeText(q.Changed); text != "" {
		b.WriteString("\n" + text)
	}
	if q.Tool.Description != "" {
		fmt.Fprintf(&b, "\nIts server says of it: %s\n", safe(q.Tool.Description))
	}
	return b.String()
}

// resourceText returns the text above the question whether a model may read a resource. It is safe to show.
func resourceText(q protocol.AccessMcpResource) string {
	return fmt.Sprintf("Allow the model to read a resource of the server %s?\n  %s\n", strong(oneLine(q.ServerName, 200)), safe(q.URI))
}

// The answers to a model's request, in the order of the list.
const (
	allowOnce = iota
	allowTask
	allowDecline
	allowCancel
	allowEdit // only for a tool, which has arguments
)

// allow shows the call or read that a model requests of a server, and asks whether it may run.
func (q *dialogs) allow(ctx context.Context, a *openAsk, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	var text string
	var arguments json.RawMessage // nil for a resource
	switch question := a.Question.(type) {
	case protocol.UseMcpTool:
		text, arguments = toolText(question), question.Arguments
	case protocol.AccessMcpResource:
		text = resourceText(question)
	}
	names := []string{"Allow it", "Allow it in the rest of this conversation", "Decline, and tell the model", "Cancel: dismiss it without an answer"}
	byHost := isByHost(a.Question)
	switch {
	case byHost:
		names = slices.Delete(names, allowTask, allowTask+1)
	case arguments != nil:
		names = append(names, "Edit the arguments first")
	}
	response := a.response(protocol.YesButtonClicked)
	for {
		shown := text
		if arguments != nil {
			shown += "\nIts arguments:\n" + safe(indented(arguments))
		}
		if problems != nil {
			shown = "! That cannot be sent:\n" + safe(problemLines(problems)) + "\n" + shown
		}
		at, err := q.choose(ctx, shown, "May it?", true, names...)
		if err != nil {
			return nil, err
		}
		if byHost && at >= allowTask {
			at++
		}
		switch at {
		case allowOnce:
			return response, nil
		case allowTask:
			response.Remember = protocol.RememberTask
			return response, nil
		case allowDecline:
			return nil, errDeclined
		case allowEdit:
			switch edited, err := q.editArguments(ctx, arguments); {
			case err == nil:
				arguments, response.ToolArguments, problems = edited, edited, nil
			case errors.Is(err, errNotWhole):
				problems = []protocol.FieldProblem{{Message: err.Error()}}
			case !errors.Is(err, errDismissed): // Esc leaves everything as it was
				return nil, err
			}
		default:
			return nil, errDismissed
		}
	}
}

// isByHost reports whether a question is about the call of a host. The person cannot edit such a call.
func isByHost(question protocol.UseMcpServer) bool {
	q, ok := question.(protocol.UseMcpTool)
	return ok && q.HostName != ""
}

// errNotWhole is the error for a text that a control would not show exactly.
var errNotWhole = errors.New("it is too long, or has characters that are not shown, to be edited here")

// editArguments lets the person edit a JSON object.
func (q *dialogs) editArguments(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	typed, c := newTypedText(indented(arguments), func(value *string) control {
		return textControl(value, func(text string) error {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
				return errors.New("this is not a JSON object")
			}
			return nil
		})
	})
	if !typed.whole() {
		return nil, errNotWhole
	}
	p := &page{text: editingText, title: "Arguments, as a JSON object", control: c}
	if err := q.run(ctx, &dialog{pages: []*page{p}}); err != nil {
		return nil, err
	}
	text, changed := typed.text()
	if !changed {
		return arguments, nil
	}
	return json.RawMessage(text), nil
}

// indented returns a JSON value with indentation, for reading.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
