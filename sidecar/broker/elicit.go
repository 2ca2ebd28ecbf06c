package broker

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/form"
	"assent/sidecar/broker/policy"
	"assent/sidecar/task"
	"assent/sidecar/wire"
	"assent/sidecar/wire/apps"
)

// Elicit serves elicitation/create (2025-06-18 and later, "Elicitation"). The result is a
// [protocol.McpElicitationResponse].
//
// The result is decline only if a person declined. If no person answered, it is cancel: "dismissed without making an
// explicit choice". If too many requests of the server are open, the person is not asked, and the error names the limit.
func (b *Broker) Elicit(ctx context.Context, r *attribution.Request) (any, error) {
	request := &policy.Request{Method: policy.ElicitationCreate, Origin: r.Origin, Task: r.Task}
	question, err := b.prepareElicitation(ctx, request, r.Params)
	defer request.Done()
	if err != nil {
		return nil, err
	}
	wire.Accept(ctx)
	if question == nil {
		return b.elicitUnattributed(ctx, r, request)
	}
	return b.elicited(b.ask(ctx, r, question))
}

// prepareElicitation reads a request of elicitation/create, and returns the question for its task or the reason for a
// refusal. It returns nil if the task is unknown.
func (b *Broker) prepareElicitation(ctx context.Context, r *policy.Request, params json.RawMessage) (_ *task.Question, err error) {
	if d := b.policy.Decide(ctx, r); d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	if r.Body, err = b.readElicitation(r.Origin, params); err != nil {
		b.policy.Invalid(r, why(err))
		return nil, err
	}
	if r.Task == nil {
		return nil, nil
	}
	return b.elicitation(ctx, r)
}

// why returns the reason of a refusal for the person, who does not know the members of MCP's messages.
func why(refusal error) string {
	var e *jsonrpc.Error
	if !errors.As(refusal, &e) {
		return reason.Of(refusal)
	}
	return strings.TrimPrefix(e.Message, "requestedSchema: ")
}

// readElicitation reads a request of elicitation/create. The error says why it cannot be shown.
func (b *Broker) readElicitation(origin protocol.Origin, params json.RawMessage) (protocol.UseMcpServer, error) {
	var request struct {
		Mode            string          `json:"mode"`
		URL             string          `json:"url"`
		Message         *plain          `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
		Meta            json.RawMessage `json:"_meta"`
	}
	if err := decode(params, &request); err != nil {
		return nil, err
	}
	isForm := request.Mode == "" || request.Mode == "form"
	if request.Message == nil && !isForm {
		return nil, invalidParams("message is missing")
	}
	switch {
	case request.Mode == "url" && b.opts.FrontEnd().OpenURL:
		if err := checkURL(request.URL); err != nil {
			return nil, err
		}
		return protocol.McpURLElicitation{Origin: origin, Message: string(*request.Message), URL: request.URL}, nil
	case !isForm:
		return nil, invalidParams("elicitation mode %q was not declared by this client", request.Mode)
	}
	fields, err := b.forms.ParseElicitation(request.RequestedSchema)
	if err != nil {
		return nil, invalidParams("requestedSchema: %s", reason.Of(err))
	}
	if request.Message == nil {
		if len(fields) == 0 { // the person cannot know the question
			return nil, invalidParams("message is missing")
		}
		request.Message = new(plain("(The server gave no message.)"))
	}
	elicitation := protocol.McpElicitationRequest{
		Message: string(*request.Message), Fields: fields, RequestedSchema: string(request.RequestedSchema),
	}
	if b.opts.FrontEnd().AppForms {
		if elicitation.AppURI = apps.ReadForm(request.Meta); elicitation.AppURI != "" && len(request.Meta) <= maxAppMeta {
			elicitation.Meta = request.Meta
		}
	}
	return protocol.McpElicitation{Origin: origin, ElicitationRequest: elicitation}, nil
}

// maxAppMeta bounds the _meta that is kept for the app of a form, in bytes.
const maxAppMeta = 64 << 10

// elicitation has the policy decide about an elicitation, and returns the question for its task. The question includes
// the answer if the policy answers for the person.
func (b *Broker) elicitation(ctx context.Context, r *policy.Request) (*task.Question, error) {
	r.Stage = policy.Ready
	d := b.policy.Decide(ctx, r)
	if d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	question := b.question(r.Origin, answeredFor(r.Body, d))
	question.Granted = granted(d)
	return question, nil
}

// answeredFor returns a question with the answer that the policy gives for the person. If the person decides, it returns the
// question itself, since an open ask would keep a copy.
func answeredFor(body protocol.UseMcpServer, d policy.Decision) protocol.UseMcpServer {
	var response protocol.McpElicitationResponse
	switch d.Verdict {
	case policy.Decline:
		response.Action = protocol.ActionDecline
	case policy.Approve:
		response.Action, response.Content = protocol.ActionAccept, d.Content
	default:
		return body
	}
	switch q := body.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = &response
		return q
	case protocol.McpURLElicitation:
		if d.Verdict == policy.Decline && !q.AwaitsCompletion {
			q.ElicitationResponse = &response
			return q
		}
	}
	return body
}

// withDecline declines all later elicitations of the server too, if the person chose that.
func (b *Broker) withDecline(serverName string, p *protocol.AskResponseParams, answer *task.Answer, err error) (*task.Answer, error) {
	if err != nil || !p.DeclineAll {
		return answer, err
	}
	if answer.Response != protocol.NoButtonClicked {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "declineAll is for %s only", protocol.NoButtonClicked)
	}
	answer.DeclinedAll = true
	answer.Take = func(by string) error {
		b.policy.DeclineAll(serverName, by)
		return nil
	}
	return answer, nil
}

// elicited returns the outcome of an ask as MCP's result.
func (b *Broker) elicited(answer *task.Answer, err error) (any, error) {
	if err != nil {
		if why := ended(err); why != nil {
			b.log.Info().Str("reason", string(why.Reason)).Msg("elicitation ended without an answer")
			return protocol.McpElicitationResponse{Action: protocol.ActionCancel}, nil
		}
		return nil, asWireError(err)
	}
	return *elicitationResponse(answer), nil
}

// asWireError returns the error for a server. Errors that are made for servers are passed on.
func asWireError(err error) error {
	if errors.As(err, new(*jsonrpc.Error)) {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
}

func checkElicitation(fields []protocol.Field, p *protocol.AskResponseParams) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		content, problems := form.Check(fields, p.ElicitationContent)
		if problems != nil {
			return nil, &protocol.Error{
				Code:    protocol.CodeInvalidAnswer,
				Message: "The form is not filled in as the server asks.",
				Data:    protocol.InvalidAnswerData{Problems: problems},
			}
		}
		for _, name := range p.SecretFields {
			if !slices.ContainsFunc(fields, func(f protocol.Field) bool { return f.Head().Name == name }) {
				return nil, protocol.Errorf(protocol.CodeInvalidParams, "secretFields names %q, which is not a field of the form", name)
			}
		}
		answer.Content, answer.SecretFields = content, p.SecretFields
		return answer, nil
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}

// checkURL refuses URLs that are not safe to open (2025-11-25, "URL Mode: Security Considerations").
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return invalidParams("url must be an absolute http or https URL")
	}
	return nil
}

// checkWayOut accepts every [protocol.AskResponse].
func checkWayOut(p *protocol.AskResponseParams) (*task.Answer, error) {
	switch p.AskResponse {
	case protocol.YesButtonClicked, protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return &task.Answer{Response: p.AskResponse}, nil
	default:
		return nil, wrongWayOut(p)
	}
}

// URLElicitation is an entry in the data of error -32042 (2025-11-25, "URL Elicitation Required
// Error").
type URLElicitation struct {
	ElicitationID string `json:"elicitationId"`
	Mode          string `json:"mode"`
	Message       string `json:"message"`
	URL           string `json:"url"`
}

// AwaitURL asks the person to open a page, and reports whether they completed it: they say so, or ctx ends with a
// [task.Ended] of the reason [protocol.OutcomeCompleted].
func (b *Broker) AwaitURL(ctx context.Context, r *attribution.Request, e URLElicitation) (bool, error) {
	if err := checkURL(e.URL); err != nil {
		return false, err
	}
	request := &policy.Request{
		Method: policy.ElicitationCreate, Origin: r.Origin, Task: r.Task,
		Body: protocol.McpURLElicitation{Origin: r.Origin, Message: e.Message, URL: e.URL, AwaitsCompletion: true},
	}
	question, err := b.elicitation(ctx, request)
	if err != nil {
		return false, err
	}
	defer request.Done()
	answer, err := r.Ask(ctx, question)
	if err != nil {
		why := ended(err)
		if why == nil {
			return false, asWireError(err)
		}
		return why.Reason == protocol.OutcomeCompleted, nil
	}
	return answer.Response == protocol.YesButtonClicked, nil
}
