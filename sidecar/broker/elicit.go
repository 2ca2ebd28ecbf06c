package broker

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/form"
	"assent/sidecar/task"
)

// Elicit serves elicitation/create in form mode (2025-06-18 and later, "Elicitation"). The result
// is a [protocol.McpElicitationResponse].
//
// Decline is said only when a person declined. Where nobody answered, the nearest true word is
// cancel: "dismissed without making an explicit choice".
func (b *Broker) Elicit(ctx context.Context, t Asker, origin protocol.Origin, params json.RawMessage) (any, error) {
	var request struct {
		Mode            string          `json:"mode"`
		Message         *string         `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	if err := decode(params, &request); err != nil {
		return nil, err
	}
	if request.Mode != "" && request.Mode != "form" {
		return nil, invalidParams("elicitation mode %q was not declared by this client", request.Mode)
	}
	if request.Message == nil {
		return nil, invalidParams("message is missing")
	}
	fields, err := form.ParseElicitation(request.RequestedSchema)
	if err != nil {
		return nil, invalidParams("requestedSchema: %v", err)
	}

	answer, err := t.Ask(ctx, task.Question{
		Body: protocol.McpElicitation{
			Origin:             origin,
			ElicitationRequest: protocol.McpElicitationRequest{Message: *request.Message, Fields: fields},
		},
		Check: func(p *protocol.AskResponseParams) (*task.Answer, error) { return checkElicitation(fields, p) },
	})
	if err != nil {
		if why := ended(err); why != nil {
			b.log.Info().Str("server", origin.ServerName).Str("reason", string(why.Reason)).Msg("elicitation ended without an answer")
			return protocol.McpElicitationResponse{Action: protocol.ActionCancel}, nil
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	switch answer.Response {
	case protocol.YesButtonClicked:
		return protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: answer.Content}, nil
	case protocol.NoButtonClicked:
		return protocol.McpElicitationResponse{Action: protocol.ActionDecline}, nil
	default:
		return protocol.McpElicitationResponse{Action: protocol.ActionCancel}, nil
	}
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
		answer.Content = content
		return answer, nil
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}
