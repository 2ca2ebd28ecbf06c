package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"assent/protocol"
)

// answerer answers the asks of servers. Its methods are called from any goroutine.
type answerer interface {
	// take is called for each ask, in order, and must not wait. The session calls the reply until the sidecar accepts
	// the answer; the reply's context ends with the ask.
	take(a *openAsk) (reply, error)
	// input returns the value of an input of mcp.json, or nil for no value.
	input(ctx context.Context, params *protocol.PromptInputParams) (*string, error)
	// completions returns the completions that the answerer gives in place of a model.
	completions() []completion
	// end is called when no more asks can come. It returns an error if an expected ask did not come.
	end(ctx context.Context) error
}

// completion is a completion from a file. err is the failure that the file has in place of a completion.
type completion struct {
	id, text string
	toolUses []protocol.ToolUseContent
	err      error
}

// reply answers an ask. problems are the problems of the previous answer. reply returns nil if the ask was answered in
// another way.
type reply func(ctx context.Context, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error)

// openAsk is an ask that waits for its answer.
type openAsk struct {
	taskID string
	protocol.Ask
}

// response returns an answer to the ask, without the fields that only some answers have.
func (a *openAsk) response(way protocol.AskResponse) *protocol.AskResponseParams {
	return &protocol.AskResponseParams{TaskID: a.taskID, AskID: a.AskID, AskResponse: way}
}

// take handles the events in the mailbox, one after the other.
func (s *session) take(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sidecar.Done():
			s.fail(errEnded)
			return
		case <-s.feed.events.ready:
		}
		for _, event := range s.feed.events.take() {
			switch e := event.(type) {
			case protocol.TaskEventParams:
				s.taskEvent(ctx, e)
			case protocol.ChatProgressParams:
				s.feed.watched.put(e)
			case protocol.UnattributedChangedParams:
				if e.Count > 0 {
					s.claim(ctx)
				}
			}
		}
	}
}

func (s *session) taskEvent(ctx context.Context, params protocol.TaskEventParams) {
	if !s.isOwn(params.TaskID) {
		return
	}
	switch params.Event.(type) {
	case protocol.CallEnded:
		s.callEnded() // before anything is printed
		s.feed.watched.put(params)
	case protocol.MessageAdded, protocol.ModelMessageEnded, protocol.ToolUseFailed, protocol.CallJoined:
		s.feed.watched.put(params)
	}
	switch e := params.Event.(type) {
	case protocol.MessageAdded:
		switch body := e.Message.Body.(type) {
		case protocol.Ask:
			if body.Outcome == nil {
				s.opened(ctx, askKey{params.TaskID, e.Message.ID}, &openAsk{params.TaskID, body})
			}
		case protocol.Notice:
			s.noticed(ctx, body)
		}
	case protocol.AskSettled:
		key := askKey{params.TaskID, e.MessageID}
		if s.recorder != nil {
			s.recorder.settled(key, e)
		}
		if cancel := s.feed.asks[key]; cancel != nil {
			cancel(&settled{e.Outcome})
			delete(s.feed.asks, key)
		}
		// The result of AskResponse says this, too, but the call may end before that result arrives.
		if params.Unsaved && e.Outcome.By == askName {
			s.note("This answer is not saved: it is lost if Assent ends before the disk can be written.")
		}
	case protocol.AskUndelivered:
		if e.Reason != "" {
			s.note("\n%s", e.Reason)
		}
	case protocol.SamplingEnded:
		if s.recorder != nil {
			s.recorder.sampled(askKey{params.TaskID, e.MessageID}, e.Result)
		}
		switch r := e.Result.(type) {
		case protocol.McpSamplingResponse:
			s.note("\nThe server got the model's answer.")
		case protocol.SamplingWithheld:
			s.note("\n%s", r.Reason)
		case protocol.SamplingFailure:
			s.note("\nThe server got no completion: %s", r.Reason)
		}
	case protocol.CallTaskChanged:
		s.taskChanged(e.Task)
	}
}

// settled is the error of an open question that ended without an answer from this command.
type settled struct{ outcome protocol.Outcome }

func (e *settled) Error() string {
	if e.outcome.Detail != "" {
		return e.outcome.Detail
	}
	switch e.outcome.Reason {
	case protocol.OutcomeTimedOut:
		return "the time for the answer is over"
	case protocol.OutcomeServerStoppedWaiting:
		return "the server stopped waiting"
	case protocol.OutcomeCallEnded:
		return "its call ended first"
	case protocol.OutcomeServerLost:
		return "the connection to the server ended"
	case protocol.OutcomeCompleted:
		return "the server says that it is done"
	}
	return "it was settled: " + string(e.outcome.Reason)
}

// note returns a sentence that tells the person how the question ended.
func (e *settled) note() string {
	if e.outcome.By != "" {
		return fmt.Sprintf("The question was answered in %s.", e.outcome.By)
	}
	return fmt.Sprintf("The question is over: %s.", strings.TrimSuffix(e.Error(), "."))
}

// opened starts to answer an ask.
func (s *session) opened(ctx context.Context, key askKey, a *openAsk) {
	if s.feed.asks[key] != nil { // it was listed as open before its own event came
		return
	}
	switch {
	case s.answerer != nil:
	case s.configuredBy != "":
		s.note("\n%s There is no person to answer here: it can be answered in %s.", describe(a), s.configuredBy)
		return
	default: // the sidecar knows that, and refuses the asks
		s.fail(&unanswered{describe(a) + " There is no person to answer."})
		return
	}
	if sampling, ok := a.Question.(protocol.McpSampling); ok {
		s.clean.learn(sampling.Secrets)
	}
	ofAgent := a.Ask.Ask == protocol.AskHostPermission
	if _, isPerson := s.answerer.(*personAnswerer); ofAgent && !isPerson {
		s.note("\n%s No file answers for a person here.", describe(a))
		return
	}
	if s.recorder != nil && !ofAgent {
		question, secrets := s.line.question(a)
		s.recorder.opened(key, question, secrets)
	}
	reply, err := s.answerer.take(a)
	if err != nil {
		s.fail(err)
		return
	}
	asked, cancel := context.WithCancelCause(ctx)
	s.feed.asks[key] = cancel
	s.feed.asking.Go(func() {
		defer cancel(nil)
		if err := s.answer(ctx, asked, reply); err != nil && ctx.Err() == nil {
			s.fail(err)
		}
	})
}

// answer calls reply until the sidecar accepts the answer. The context asked ends with the ask.
func (s *session) answer(ctx, asked context.Context, reply reply) error {
	var problems []protocol.FieldProblem
	for {
		response, err := reply(asked, problems)
		var over *settled
		switch {
		case errors.As(context.Cause(asked), &over):
			if over.outcome.By != askName {
				s.note("\n%s", over.note())
			}
			return nil
		case err != nil:
			return err
		case response == nil:
			return nil
		}
		_, err = s.sidecar.AskResponse(ctx, response)
		var refusal *protocol.Error
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &refusal):
			return err
		case refusal.Code == protocol.CodeAskSettled:
			s.note("The question is over: %s", refusal.Message)
			return nil
		case refusal.Code == protocol.CodeInvalidAnswer:
			data, _ := refusal.Data.(protocol.InvalidAnswerData)
			if problems = data.Problems; len(problems) == 0 {
				problems = []protocol.FieldProblem{{Message: refusal.Message}}
			}
		default:
			return err
		}
	}
}

// claim assigns each unattributed request to a new conversation, so that the person is asked without the name of a
// call. If another front end configured the servers, claim leaves the requests to that front end.
func (s *session) claim(ctx context.Context) {
	if s.configuredBy != "" {
		return
	}
	list, err := s.sidecar.ListOpenAsks(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.fail(err)
		}
		return
	}
	for _, u := range list.Unattributed {
		if u.Workspace != "" { // it belongs to another front end
			continue
		}
		claimed, err := s.sidecar.ClaimAsk(ctx, &protocol.ClaimAskParams{ID: u.ID, NewTask: true})
		if err == nil {
			s.owns(claimed.TaskID)
		}
		var refusal *protocol.Error
		if err != nil && ctx.Err() == nil && !errors.As(err, &refusal) {
			s.fail(err)
		}
	}
}

// describe returns a sentence that says who asks for what.
func describe(a *openAsk) string {
	origin := a.Question.From()
	who := fmt.Sprintf("The server %q", origin.ServerName)
	if a.Ask.Ask == protocol.AskHostPermission {
		who = origin.ServerName
	}
	if len(origin.ToolNames) > 0 {
		who += fmt.Sprintf(" (tool %s)", strings.Join(origin.ToolNames, ", "))
	}
	switch q := a.Question.(type) {
	case protocol.McpElicitation:
		return fmt.Sprintf("%s asks: %s", who, q.ElicitationRequest.Message)
	case protocol.McpURLElicitation:
		return fmt.Sprintf("%s asks you to go to a page: %s", who, q.Message)
	case protocol.McpSampling:
		return who + " asks for a completion by a model."
	case protocol.McpSamplingReview:
		return fmt.Sprintf("A model answered. %s gets it if you approve.", who)
	case protocol.UseMcpTool:
		if q.FromApp {
			return fmt.Sprintf("An app of the server %q wants to call its %s with %s.", origin.ServerName, q.Tool.Name, q.Arguments)
		}
		caller := "The model"
		if q.HostName != "" {
			caller = q.HostName
		}
		return fmt.Sprintf("%s wants to call %s of the server %q with %s.", caller, q.Tool.Name, origin.ServerName, q.Arguments)
	case protocol.AccessMcpResource:
		return fmt.Sprintf("The model wants to read %s of the server %q.", q.URI, origin.ServerName)
	case protocol.HostPermission:
		return fmt.Sprintf("%s asks whether it may use %s: %s", origin.ServerName, q.Tool, cmp.Or(q.Command, q.Input))
	case protocol.RepeatMcpCall:
		return fmt.Sprintf("The call of %s of the server %q failed. %s", strings.Join(origin.ToolNames, ", "), origin.ServerName, q.Reason)
	}
	return who + " asks for what a terminal cannot show."
}
