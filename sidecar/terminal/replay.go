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

// companyTimeout is how long an answer waits for the asks that were recorded as open together with its own ask. They
// must come before the asks that follow from the answer.
const companyTimeout = time.Second

// replay answers asks from a recording.
type replay struct {
	session   *session
	recording *answers.Recording
}

var _ answerer = (*replay)(nil)

// drifted is the error of a run in which the asks differ from the recording.
type drifted struct{ text string }

func (e *drifted) Error() string { return e.text }

func asDrifted(err error) error {
	var drift *answers.Drift
	if errors.As(err, &drift) {
		return &drifted{safe(strings.TrimSuffix(drift.Error(), "\n")) + "\nIf that is intended, record it again with --record."}
	}
	return err
}

// newReplay reads a recording. The secrets of its answers come from the environment, or from a file of answers.
func newReplay(s *session, name string, file *answers.File) (*replay, error) {
	recording, err := answers.LoadRecording(name, s.clean.text)
	if err != nil {
		return nil, usagef("%v", err)
	}
	var other func(*answers.Entry, string) (json.RawMessage, bool)
	if file != nil {
		other = func(e *answers.Entry, name string) (json.RawMessage, bool) {
			ask := e.Ask()
			ask.Server = cmp.Or(ask.Server, s.line.server)
			return file.Secret(ask, name)
		}
	}
	if err := recording.Reveal(os.LookupEnv, other); err != nil {
		return nil, usagef("%v", err)
	}
	return &replay{s, recording}, nil
}

// take implements [answerer].
func (r *replay) take(a *openAsk) (reply, error) {
	question, _ := r.session.line.question(a)
	entry, err := r.recording.Take(question)
	if err != nil {
		return nil, asDrifted(err)
	}
	return func(ctx context.Context, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
		if problems != nil {
			return nil, &drifted{fmt.Sprintf("the answer at %s is refused:\n%s\n%s", entry, problemLines(problems), safe(describe(a)))}
		}
		late := time.NewTimer(companyTimeout)
		defer late.Stop()
		select {
		case <-entry.Gathered:
		case <-late.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		r.session.note("%s\n  answered by %s: %s", describe(a), entry, entry.Way)
		return answered(ctx, r.session, a, &entry.Rule)
	}, nil
}

// input implements [answerer].
func (r *replay) input(_ context.Context, params *protocol.PromptInputParams) (*string, error) {
	entry, err := r.recording.Take(inputQuestion(params))
	if err != nil {
		r.session.fail(asDrifted(err))
		return nil, nil
	}
	return entry.Input(), nil
}

// completions implements [answerer].
func (r *replay) completions() []completion {
	var list []completion
	for _, e := range r.recording.Entries {
		c := completion{id: e.ID()}
		switch {
		case e.Way == answers.Fail:
			c.err = protocol.Errorf(protocol.CodeUnavailable, "%s", *e.Completion)
		case e.Way == answers.Complete:
			c.text = *e.Completion
			for _, use := range e.ToolUses {
				c.toolUses = append(c.toolUses, protocol.ToolUseContent{ID: use.ID, Name: use.Name, Input: use.Input})
			}
		default:
			continue
		}
		list = append(list, c)
	}
	return list
}

// end implements [answerer]. If a recorded server does not run, end reports that instead of the missing questions.
func (r *replay) end(ctx context.Context) error {
	err := r.recording.Unasked()
	if err == nil {
		return nil
	}
	for _, name := range r.session.failedServers(ctx) {
		if r.recording.Has(r.session.line.recordedName(name)) {
			return &lostError{fmt.Sprintf("the MCP server %q does not run, so not all that was recorded was asked", name)}
		}
	}
	return asDrifted(err)
}
