package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/broker/form"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/task"
)

// The bounds of the description of a tool that the person sees, and of arguments that they edit, in
// bytes.
const (
	maxShownSchema = 64 << 10
	maxArguments   = 1 << 20
)

// NotApproved is the reason why a model may not make a call. Its text is for the model.
type NotApproved struct {
	Reason protocol.OutcomeReason
	told   string
}

// Error implements error.
func (e *NotApproved) Error() string { return e.told }

// UseTool asks whether a model may call a tool, unless the person has decided that before, and returns the
// arguments for the call. The error is a [NotApproved] if the model may not call it. Tool is the server's
// description.
func (b *Broker) UseTool(ctx context.Context, t Asker, taskID string, q protocol.UseMcpTool) (json.RawMessage, error) {
	use := grant.ToolUse{TaskID: taskID, ServerName: q.ServerName, Tool: new(q.Tool)}
	q.Destructive = destructive(q.Tool.Annotations)
	if len(q.Tool.InputSchema) > maxShownSchema {
		q.Tool.InputSchema, q.Tool.Fields = nil, nil
	}
	if !form.IsExact(q.Arguments) {
		q.ArgumentsText = string(q.Arguments)
	}
	d := b.policy.Decide(ctx, &policy.Request{Stage: policy.Ready, Task: t, Body: q, Use: use})
	q.Changed = d.Changed
	question := b.question(protocol.Origin{}, q)
	question.Check, question.Granted = b.checkToolUse(use), granted(d)
	answer, err := b.askToolUse(ctx, t, question)
	if err != nil {
		return nil, err
	}
	if answer.Content != nil {
		return answer.Content, nil
	}
	return q.Arguments, nil
}

// UseChangedTool asks whether a host's call may run although its tool has changed since the person last allowed it. It
// is a no-op if the tool has not changed. The error is a [NotApproved] if it may not run. The host itself approves all
// other calls.
func (b *Broker) UseChangedTool(ctx context.Context, t Asker, q protocol.UseMcpTool) error {
	use := grant.ToolUse{ServerName: q.ServerName, Tool: new(q.Tool)}
	if q.Changed = b.policy.CalledByHost(ctx, use, q.HostName); q.Changed == nil {
		return nil
	}
	q.Destructive = destructive(q.Tool.Annotations)
	if len(q.Tool.InputSchema) > maxShownSchema {
		q.Tool.InputSchema = nil
	}
	if !form.IsExact(q.Arguments) {
		q.ArgumentsText = string(q.Arguments)
	}
	question := b.question(protocol.Origin{}, q)
	question.Check = b.checkHostCall(use)
	_, err := b.askToolUse(ctx, t, question)
	return err
}

// checkHostCall returns the check of the answers about a host's call.
func (b *Broker) checkHostCall(use grant.ToolUse) task.Check {
	return func(p *protocol.AskResponseParams) (*task.Answer, error) {
		answer, err := checkWayOut(p)
		switch {
		case err != nil:
			return nil, err
		case p.Remember != "" || p.ToolArguments != nil || p.ToolArgumentsText != "":
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "a host's call runs as it is, or not at all: nothing is remembered or edited")
		case p.AskResponse == protocol.YesButtonClicked:
			answer.Take = func(by string) error {
				b.policy.Allowed(context.Background(), use, by)
				return nil
			}
		}
		return answer, nil
	}
}

// AccessResource asks whether a model may read a resource, as UseTool does.
func (b *Broker) AccessResource(ctx context.Context, t Asker, taskID string, q protocol.AccessMcpResource) error {
	use := grant.ToolUse{TaskID: taskID, ServerName: q.ServerName, URI: q.URI}
	question := b.question(protocol.Origin{}, q)
	question.Check = b.checkToolUse(use)
	question.Granted = granted(b.policy.Decide(ctx, &policy.Request{Stage: policy.Ready, Task: t, Body: q, Use: use}))
	_, err := b.askToolUse(ctx, t, question)
	return err
}

// destructive reports whether a tool may destroy something, according to its server's annotations. The
// default is yes (2025-11-25, ToolAnnotations).
func destructive(a *protocol.ToolAnnotations) bool {
	return !policy.ReadOnly(a) && (a == nil || a.DestructiveHint == nil || *a.DestructiveHint)
}

// askToolUse asks the person, and returns the answer if it is yes.
func (b *Broker) askToolUse(ctx context.Context, t Asker, question *task.Question) (*task.Answer, error) {
	answer, err := t.Ask(ctx, question)
	why := ended(err)
	switch {
	case why != nil && why.Reason == protocol.OutcomeTimedOut:
		return nil, &NotApproved{why.Reason, "The call was not made: the user did not answer in time whether it may be."}
	case why != nil:
		return nil, &NotApproved{why.Reason, "The call was not made: " + cmp.Or(why.Detail, "the user could not be asked whether it may be.")}
	case err != nil:
		return nil, err
	case answer.Response == protocol.YesButtonClicked:
		return answer, nil
	case question.Granted != nil:
		return nil, &NotApproved{protocol.OutcomeDenied, "The call was not made: the user does not allow it. Do not try it again."}
	case answer.Response == protocol.NoButtonClicked:
		return nil, &NotApproved{protocol.OutcomeDeclined, "The call was not made: the user declined it. Do not try it again unless they ask for it."}
	default:
		return nil, &NotApproved{protocol.OutcomeDismissed, "The call was not made: the user dismissed the question without an answer."}
	}
}

// checkToolUse returns the check of the answers about a use.
func (b *Broker) checkToolUse(use grant.ToolUse) task.Check {
	return func(p *protocol.AskResponseParams) (*task.Answer, error) {
		answer, err := checkWayOut(p)
		if err != nil {
			return nil, err
		}
		answer.Content = nil
		arguments := p.ToolArguments
		if p.ToolArgumentsText != "" {
			arguments = json.RawMessage(strings.TrimSpace(p.ToolArgumentsText))
		}
		if arguments != nil {
			if p.AskResponse != protocol.YesButtonClicked || use.Tool == nil {
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "arguments are for a tool that is called")
			}
			if err := checkArguments(arguments); err != nil {
				return nil, &protocol.Error{Code: protocol.CodeInvalidAnswer, Message: "The arguments " + err.Error() + ".", Data: protocol.InvalidAnswerData{
					Problems: []protocol.FieldProblem{{Name: "toolArguments", Message: "The arguments " + err.Error() + "."}},
				}}
			}
			answer.Content = arguments
		}
		return answer, b.takeToolRule(answer, use, p)
	}
}

func checkArguments(arguments json.RawMessage) error {
	if len(arguments) > maxArguments {
		return fmt.Errorf("have more than %d KiB", maxArguments>>10)
	}
	if checkObject(arguments) != nil {
		return errors.New("are not a JSON object")
	}
	return nil
}

// takeToolRule remembers an answer, if the person chose that, and the tool that they allow.
func (b *Broker) takeToolRule(answer *task.Answer, use grant.ToolUse, p *protocol.AskResponseParams) error {
	if p.Remember == "" {
		if p.AskResponse == protocol.YesButtonClicked {
			answer.Take = func(by string) error {
				b.policy.Allowed(context.Background(), use, by)
				return nil
			}
		}
		return nil
	}
	if err := b.policy.CheckRemember(p.AskResponse, p.Remember); err != nil {
		return err
	}
	use.TaskID = p.TaskID
	answer.Take = func(by string) error {
		// The front end waits for this, so ctx of the server's request does not apply.
		return b.policy.Remember(context.Background(), use, p.Remember, by)
	}
	return nil
}

// RepeatCall asks whether to repeat a failed call. Without an answer it returns false. No grant and no rule
// answers this: they allow one call, not two.
func (b *Broker) RepeatCall(ctx context.Context, t Asker, q protocol.RepeatMcpCall) (bool, error) {
	if !b.opts.FrontEnd().Elicitation {
		return false, nil
	}
	answer, err := t.Ask(ctx, b.question(protocol.Origin{}, q))
	if ended(err) != nil {
		return false, nil
	}
	return err == nil && answer.Response == protocol.YesButtonClicked, err
}
