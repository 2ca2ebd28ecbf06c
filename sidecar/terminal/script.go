package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/terminal/answers"
)

// companyTimeout is how long an answer waits for the asks that a strict file has as open together with its own ask. They
// must come before the asks that follow from the answer.
const companyTimeout = time.Second

// script answers asks from a file of answers.
type script struct {
	session *session
	file    *answers.File
}

var _ answerer = (*script)(nil)

// newScript reads a file of answers. Its secrets come from the environment.
func newScript(s *session, line *commandLine) (*script, error) {
	file, err := answers.Load(cmp.Or(line.replay, line.answers), s.clean.text)
	switch {
	case err != nil:
		return nil, usagef("%v", err)
	case line.replay != "" && !file.Strict:
		return nil, usagef("%s is not strict, and answers other questions too: give it with --answers", file.Name)
	}
	if err := file.Reveal(os.LookupEnv); err != nil {
		return nil, usagef("%v", err)
	}
	return &script{s, file}, nil
}

// drifted is the error of a run in which the asks differ from a strict file.
type drifted struct{ text string }

func (e *drifted) Error() string { return e.text }

func asDrifted(err error) error {
	var drift *answers.Drift
	if errors.As(err, &drift) {
		return &drifted{safe(strings.TrimSuffix(drift.Error(), "\n")) + "\nIf that is intended, record it again with --record."}
	}
	return err
}

// choose takes the rule for an ask before it returns, so that rules are used in the order of the asks.
func (s *script) choose(question answers.Question, ask answers.Ask, fields []answers.Field) (*answers.Rule, error) {
	if s.file.Strict {
		rule, err := s.file.TakeNext(question)
		return rule, asDrifted(err)
	}
	if rule := s.file.Take(ask); rule != nil {
		return rule, nil
	}
	return nil, s.unmatched(ask, fields)
}

// take implements [answerer].
func (s *script) take(a *openAsk) (reply, error) {
	ask, fields := asked(a)
	question, _ := s.session.line.question(a)
	rule, err := s.choose(question, ask, fields)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
		if problems != nil {
			text := fmt.Sprintf("the answer at %s is refused:\n%s\n%s", rule, problemLines(problems), safe(describe(a)))
			if s.file.Strict {
				return nil, &drifted{text}
			}
			return nil, &unanswered{text}
		}
		if err := wait(ctx, rule.Delay); err != nil {
			return nil, err
		}
		if err := s.session.gathered(ctx); err != nil {
			return nil, err
		}
		if rule.Recorded() {
			late := time.NewTimer(companyTimeout)
			defer late.Stop()
			select {
			case <-rule.Gathered():
			case <-late.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		s.session.note("%s\n  answered by %s: %s", describe(a), rule, rule.Way)
		return answered(ctx, s.session, a, rule)
	}, nil
}

// answered returns the answer that a rule gives to an ask.
func answered(ctx context.Context, s *session, a *openAsk, rule *answers.Rule) (*protocol.AskResponseParams, error) {
	switch rule.Way {
	case answers.Decline:
		return a.response(protocol.NoButtonClicked), nil
	case answers.Cancel:
		return a.response(protocol.CancelButtonClicked), nil
	}
	r := a.response(protocol.YesButtonClicked)
	switch q := a.Question.(type) {
	case protocol.McpElicitation:
		r.ElicitationContent = rule.Answer
		if !rule.Recorded() {
			r.ElicitationContent = withDefaults(q.ElicitationRequest.Fields, rule.Answer)
		}
	case protocol.UseMcpTool:
		r.ToolArguments = rule.Answer
	case protocol.McpURLElicitation:
		_, err := s.sidecar.OpenAskURL(ctx, &protocol.OpenAskURLParams{TaskID: a.taskID, AskID: a.AskID})
		if err != nil || !q.AwaitsCompletion {
			return nil, alreadySettled(err) // opening the page was the answer
		}
	case protocol.McpSampling:
		r.ModelID = rule.Model
		r.ConfirmSecrets = len(q.Secrets) > 0 && rule.Way != answers.Approve // no model gets the secrets
		if rule.Way == answers.Complete || rule.Way == answers.Fail {
			r.ModelID = string(protocol.ProviderVSCode) + ":" + rule.ID()
		}
	}
	return r, nil
}

// withDefaults adds the defaults of missing fields to a rule's answer, as a form does for a person.
func withDefaults(fields []protocol.Field, answer json.RawMessage) json.RawMessage {
	var content map[string]json.RawMessage
	if json.Unmarshal(answer, &content) != nil || content == nil {
		return answer // the sidecar reports the error
	}
	for _, f := range fields {
		name := f.Head().Name
		if _, given := content[name]; !given && defaultOf(f) != nil {
			content[name] = defaultOf(f)
		}
	}
	merged, err := json.Marshal(content)
	if err != nil {
		return answer
	}
	return merged
}

// input implements [answerer].
func (s *script) input(ctx context.Context, params *protocol.PromptInputParams) (*string, error) {
	rule, err := s.choose(inputQuestion(params), answers.Ask{Kind: answers.Input, Server: params.ServerName, Message: params.ID}, nil)
	if err != nil {
		s.session.fail(err)
		return nil, nil
	}
	return rule.Input(), wait(ctx, rule.Delay)
}

// completions implements [answerer].
func (s *script) completions() []completion {
	var list []completion
	for _, rule := range s.file.Completions() {
		c := completion{id: rule.ID(), text: *rule.Completion}
		if rule.Way == answers.Fail {
			c = completion{id: rule.ID(), err: protocol.Errorf(protocol.CodeUnavailable, "%s", *rule.Completion)}
		}
		for _, use := range rule.ToolUses {
			c.toolUses = append(c.toolUses, protocol.ToolUseContent{ID: use.ID, Name: use.Name, Input: use.Input})
		}
		list = append(list, c)
	}
	return list
}

// end implements [answerer]. It reports the rules that were not used. In a strict file they are an error, or a server of
// theirs that does not run is.
func (s *script) end(ctx context.Context) error {
	if !s.file.Strict {
		for _, rule := range s.file.Unused() {
			s.session.note("%s: this rule was never used", rule)
		}
		return nil
	}
	err := s.file.Unasked()
	if err == nil {
		return nil
	}
	for _, name := range s.session.failedServers(ctx) {
		if s.file.HasServer(s.session.line.recordedName(name)) {
			return &lostError{fmt.Sprintf("the MCP server %q does not run, so not all that the file has was asked", name)}
		}
	}
	return asDrifted(err)
}

// unmatched returns the error for an ask that no rule matches. The error shows a rule that would match the ask.
func (s *script) unmatched(ask answers.Ask, fields []answers.Field) error {
	var b strings.Builder
	fmt.Fprintf(&b, "no rule of %s answers this:\n", s.file.Name)
	for _, rule := range s.file.Spent(ask) {
		fmt.Fprintf(&b, "  (the rule at %s would, and is used up: times: %d)\n", rule, rule.Times)
	}
	b.WriteString(answers.Template(ask, fields))
	return &unanswered{safe(strings.TrimSuffix(b.String(), "\n"))}
}

// asked returns an ask in the form that rules match, with the fields to fill in.
func asked(a *openAsk) (answers.Ask, []answers.Field) {
	origin := a.Question.From()
	ask := answers.Ask{Server: origin.ServerName, Tools: origin.ToolNames}
	var fields []answers.Field
	switch q := a.Question.(type) {
	case protocol.McpElicitation:
		ask.Kind, ask.Message = answers.Form, q.ElicitationRequest.Message
		for _, f := range q.ElicitationRequest.Fields {
			ask.Fields = append(ask.Fields, f.Head().Name)
			fields = append(fields, example(f))
		}
	case protocol.McpURLElicitation:
		ask.Kind, ask.Message = answers.Page, q.Message+" "+q.URL
	case protocol.McpSampling:
		ask.Kind, ask.Message = answers.Completion, lastText(q.SamplingRequest.Messages)
	case protocol.McpSamplingReview:
		ask.Kind = answers.Review
		for _, block := range q.SamplingResponse.Content {
			ask.Message += blockText(block)
		}
	case protocol.UseMcpTool:
		ask.Kind, ask.Tools, ask.Message = answers.Tool, []string{q.Tool.Name}, string(q.Arguments)
	case protocol.AccessMcpResource:
		ask.Kind, ask.Message = answers.Resource, q.URI
	case protocol.RepeatMcpCall:
		ask.Kind, ask.Message = answers.Repeat, q.Reason
	}
	return ask, fields
}

func lastText(messages []protocol.SamplingMessage) string {
	if len(messages) == 0 {
		return ""
	}
	var parts []string
	for _, block := range messages[len(messages)-1].Content {
		parts = append(parts, blockText(block))
	}
	return strings.Join(parts, " ")
}

// example returns a field for the rule that unmatched proposes.
func example(f protocol.Field) answers.Field {
	head := f.Head()
	out := answers.Field{Name: head.Name, Example: json.RawMessage(`""`), Note: kindOf(f)}
	if head.Required {
		out.Note += ", required"
	}
	switch f := f.(type) {
	case protocol.NumberField:
		out.Example = json.RawMessage("0")
	case protocol.BooleanField:
		out.Example = json.RawMessage("false")
	case protocol.ChoicesField, protocol.ListField:
		out.Example = json.RawMessage("[]")
	case protocol.ChoiceField:
		if len(f.Options) > 0 {
			out.Example = jsonOf(f.Options[0])
		}
	}
	return out
}

func problemLines(problems []protocol.FieldProblem) string {
	var lines []string
	for _, p := range problems {
		text := "  " + p.Message
		if p.Name != "" {
			text = "  " + p.Name + ": " + p.Message
		}
		lines = append(lines, safe(text))
	}
	return strings.Join(lines, "\n")
}

// wait waits for d. If ctx ends first, it returns the error.
func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alreadySettled returns nil for the error that an ask is settled already, because the ask's own event reports that. It
// returns any other error unchanged.
func alreadySettled(err error) error {
	var refusal *protocol.Error
	if errors.As(err, &refusal) && refusal.Code == protocol.CodeAskSettled {
		return nil
	}
	return err
}
