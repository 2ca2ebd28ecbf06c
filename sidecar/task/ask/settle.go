package ask

import (
	"assent/protocol"
	"assent/sidecar/task/tasklog"
)

// DismissAll dismisses all open asks in the front end that by names, with a detail for the person. The log's lock must be
// held.
func DismissAll(s *Asks, by, detail string) {
	for _, a := range s.open.inOrder() {
		s.settle(a, nil, protocol.Outcome{Reason: protocol.OutcomeDismissed, By: by, At: s.now(), Detail: detail})
	}
}

// settle is the only way an ask ends. The first settlement wins, the others change nothing. The
// lock must be held.
func (s *Asks) settle(a *ask, answer *Answer, outcome protocol.Outcome) {
	if s.open.get(a.question.AskID) != a {
		return
	}
	s.open.drop(a.question.AskID)
	s.log.Info.OpenAsks--
	a.question.Outcome = &outcome
	event := protocol.AskSettled{MessageID: a.message.ID, Outcome: outcome}
	a.message.Live = a.livesOn(answer)
	if answer == nil {
		delete(s.keys, a.question.InputKey)
	}
	switch q := a.question.Question.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = elicitationResponse(answer)
		shown := tasklog.MaskElicitation(q)
		event.ElicitationResponse = shown.ElicitationResponse
		if a.question.InputKey == "" {
			q = shown
		} // else the answer outlives the sidecar until the MCP task's server has it; see release
		a.question.Question = q
	case protocol.McpURLElicitation:
		if !q.AwaitsCompletion {
			q.ElicitationResponse = elicitationResponse(answer)
			event.ElicitationResponse = q.ElicitationResponse
			a.question.Question = q
		}
	case protocol.McpSampling:
		if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.Model, q.SentRequest = answer.Model, answer.SentRequest
			event.Model, event.SentRequest = answer.Model, answer.SentRequest
			if answer.SentResponse != nil {
				q.Result, event.SentResponse = *answer.SentResponse, answer.SentResponse
			}
		}
		a.question.Question = q
	case protocol.UseMcpTool:
		if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.SentArguments, event.SentArguments = answer.Content, answer.Content
		}
		a.question.Question = q
	case protocol.HostPermission:
		if answer != nil {
			q.Answer, event.Permission = answer.Permission, answer.Permission
		}
		a.question.Question = q
	case protocol.McpSamplingReview:
		if answer != nil && answer.Response == protocol.RegenerateButtonClicked {
			q.Model, event.Model = answer.Model, answer.Model
		} else if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.SentResponse, event.SentResponse = answer.SentResponse, answer.SentResponse
		}
		a.question.Question = q
	}
	a.message.Body = a.question
	s.log.Commit(a.message, event)
	s.log.OnCommit(func() {
		a.settlement = settlement{answer: answer, outcome: outcome}
		if a.timeout.timer != nil {
			a.timeout.timer.Stop()
		}
		close(a.settled)
	})
	s.log.OnPublish(func() { s.forgetDraft(a) })
}

func elicitationResponse(answer *Answer) *protocol.McpElicitationResponse {
	if answer == nil {
		return nil
	}
	switch answer.Response {
	case protocol.YesButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: answer.Content, SecretFields: answer.SecretFields}
	case protocol.NoButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionDecline}
	default:
		return &protocol.McpElicitationResponse{Action: protocol.ActionCancel}
	}
}
