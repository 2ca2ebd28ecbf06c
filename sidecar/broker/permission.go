package broker

import (
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/broker/policy"
	"assent/sidecar/task"
)

// maxDenial bounds what a person tells a model with a no, in bytes.
const maxDenial = 8 << 10

// Permit asks whether an agent may do something, and returns the person's answer. An error means that there is none, and
// that the host's own prompt decides. No grant, rule or setting answers it.
func (b *Broker) Permit(ctx context.Context, t Asker, q protocol.HostPermission) (*task.Answer, error) {
	question := b.question(protocol.Origin{}, q)
	question.Kind = protocol.AskHostPermission
	return t.Ask(ctx, question)
}

// Question asks a form that an agent's host asks, as a form of a server with the host's name is asked.
func (b *Broker) Question(ctx context.Context, t Asker, q protocol.McpElicitation) (*task.Answer, error) {
	request := &policy.Request{Method: policy.ElicitationCreate, Origin: q.Origin, Task: t, Body: q}
	question, err := b.elicitation(ctx, request)
	defer request.Done()
	if err != nil {
		return nil, err
	}
	question.Kind = protocol.AskHostPermission
	return t.Ask(ctx, question)
}

// checkPermission accepts only an option that the host offered.
func checkPermission(options []protocol.PermissionOption, p *protocol.AskResponseParams) (*task.Answer, error) {
	answer, err := checkWayOut(p)
	if err != nil || p.Permission == nil {
		return answer, err
	}
	said := *p.Permission
	offered := func(o protocol.PermissionOption) bool { return o.ID == said.OptionID }
	switch {
	case said.OptionID != "" && p.AskResponse != protocol.YesButtonClicked:
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "optionId is for %s only", protocol.YesButtonClicked)
	case said.OptionID != "" && !slices.ContainsFunc(options, offered):
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "the host did not offer the option %q", said.OptionID)
	case said.Message != "" && p.AskResponse != protocol.NoButtonClicked:
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "a message for the model is for %s only", protocol.NoButtonClicked)
	case len(said.Message) > maxDenial:
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "the message for the model has more than %d KiB", maxDenial>>10)
	}
	answer.Permission = &said
	return answer, nil
}
