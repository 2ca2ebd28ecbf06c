package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/form"
	"assent/sidecar/grant"
	"assent/sidecar/task"
)

// The bounds of what the person is shown of a tool, and may write as its arguments, in bytes.
const (
	maxShownSchema = 64 << 10
	maxArguments   = 1 << 20
)

// NotApproved is why a model may not do what it asked for. Its text is for the model.
type NotApproved struct {
	Reason protocol.OutcomeReason
	told   string
}

// Error implements error.
func (e *NotApproved) Error() string { return e.told }

// UseTool asks whether a model may call a tool, unless the person has said so before, and returns the
// arguments to call it with. The error is a [NotApproved] where it may not. Tool is as its server describes it.
func (b *Broker) UseTool(ctx context.Context, t Asker, taskID string, q protocol.UseMcpTool) (json.RawMessage, error) {
	use := grant.ToolUse{TaskID: taskID, ServerName: q.ServerName, Tool: new(q.Tool)}
	q.Destructive = destructive(q.Tool.Annotations)
	if len(q.Tool.InputSchema) > maxShownSchema {
		q.Tool.InputSchema, q.Tool.Fields = nil, nil
	}
	if !form.IsExact(q.Arguments) {
		q.ArgumentsText = string(q.Arguments)
	}
	question := b.question(protocol.Origin{}, q)
	question.Check = b.checkToolUse(use)
	var known bool
	question.Granted, known = b.decided(ctx, use)
	if known && question.Granted == nil && b.opts.Tools().AutoApprove == protocol.AutoApproveReadOnly && readOnly(q.Tool.Annotations) {
		question.Granted = approved("Its server claims that it changes nothing, and your setting assent.tools.autoApprove approves such tools.", "")
	}
	if question.Granted == nil {
		q.Changed = b.changed(ctx, use)
		question.Body = q
	}
	answer, err := b.askToolUse(ctx, t, question)
	if err != nil {
		return nil, err
	}
	if answer.Content != nil {
		return answer.Content, nil
	}
	return q.Arguments, nil
}

// AccessResource asks whether a model may read a resource, as UseTool does.
func (b *Broker) AccessResource(ctx context.Context, t Asker, taskID string, q protocol.AccessMcpResource) error {
	use := grant.ToolUse{TaskID: taskID, ServerName: q.ServerName, URI: q.URI}
	question := b.question(protocol.Origin{}, q)
	question.Check = b.checkToolUse(use)
	question.Granted, _ = b.decided(ctx, use)
	_, err := b.askToolUse(ctx, t, question)
	return err
}

// readOnly reports whether a server claims that a tool changes nothing, and does not claim the contrary too.
func readOnly(a *protocol.ToolAnnotations) bool {
	return a != nil && a.ReadOnlyHint != nil && *a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint)
}

// destructive reports whether, by its server's claims, a tool may destroy something: what does not claim
// otherwise may (2025-11-25, ToolAnnotations).
func destructive(a *protocol.ToolAnnotations) bool {
	return !readOnly(a) && (a == nil || a.DestructiveHint == nil || *a.DestructiveHint)
}

// decided is what the person said before about a use, or nil; known is false where that cannot be found out.
func (b *Broker) decided(ctx context.Context, use grant.ToolUse) (granted *task.Granted, known bool) {
	if b.opts.ToolRules == nil {
		return nil, true
	}
	rule, err := b.opts.ToolRules.Find(ctx, use)
	if err != nil {
		b.log.Error().Err(err).Str("server", use.ServerName).Msg("the rules about tools cannot be read, so the person is asked")
		return nil, false
	}
	switch {
	case rule == nil:
		return nil, true
	case rule.Remember == protocol.RememberNever:
		return &task.Granted{
			Answer:  &task.Answer{Response: protocol.NoButtonClicked},
			Outcome: protocol.Outcome{Reason: protocol.OutcomeDenied, Detail: "You said in " + rule.By + " that this is never to be done.", Standing: protocol.StandingNever},
		}, true
	case rule.Remember == protocol.RememberTask:
		return approved("You allowed it for this task in "+rule.By+".", protocol.StandingTask), true
	default:
		return approved("You allowed it always in "+rule.By+".", protocol.StandingAlways), true
	}
}

// changed returns how a tool has changed since the person allowed it; nil if it has not.
func (b *Broker) changed(ctx context.Context, use grant.ToolUse) *protocol.ToolChange {
	if b.opts.ToolRules == nil {
		return nil
	}
	change, err := b.opts.ToolRules.Changed(ctx, use)
	if err != nil {
		b.log.Error().Err(err).Str("server", use.ServerName).Msg("the person is not told whether a tool has changed")
	}
	return change
}

func approved(detail string, standing protocol.StandingDecision) *task.Granted {
	return &task.Granted{
		Answer:  &task.Answer{Response: protocol.YesButtonClicked},
		Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted, Detail: detail, Standing: standing},
	}
}

// askToolUse asks, and returns the answer where it is yes.
func (b *Broker) askToolUse(ctx context.Context, t Asker, question task.Question) (*task.Answer, error) {
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
		return nil, &NotApproved{protocol.OutcomeDismissed, "The call was not made: the user put the question away without an answer."}
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
		return errors.New("are no JSON object")
	}
	return nil
}

// takeToolRule has an answer remembered, where the person wants that.
func (b *Broker) takeToolRule(answer *task.Answer, use grant.ToolUse, p *protocol.AskResponseParams) error {
	if p.Remember == "" {
		return nil
	}
	fits := p.AskResponse == protocol.YesButtonClicked && (p.Remember == protocol.RememberTask || p.Remember == protocol.RememberAlways) ||
		p.AskResponse == protocol.NoButtonClicked && p.Remember == protocol.RememberNever
	if !fits {
		return protocol.Errorf(protocol.CodeInvalidAnswer, "%q cannot be remembered of the answer %q", p.Remember, p.AskResponse)
	}
	if b.opts.ToolRules == nil {
		return protocol.Errorf(protocol.CodeInvalidAnswer, "nothing can be remembered here")
	}
	use.TaskID = p.TaskID
	answer.Take = func(by string) error {
		// The front end waits for its answer to be taken, whoever asked.
		_, err := b.opts.ToolRules.Remember(context.Background(), use, p.Remember, by)
		return err
	}
	return nil
}
