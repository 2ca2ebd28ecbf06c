package terminal

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/atomicfile"
	"assent/sidecar/terminal/answers"
)

// gather is how long an answer from a file waits for other asks during a recording, so that asks that are open together
// are recorded as such.
const gather = 100 * time.Millisecond

// recorder keeps asks and their answers. Its methods may be called from any goroutine.
type recorder struct {
	file  string
	clean *cleaner

	mu   sync.Mutex // guards the fields below
	asks []*answers.Recorded
	open map[askKey]*answers.Recorded
}

// newRecorder returns an error if the file cannot be written. The recorder writes the file at the end.
func newRecorder(file string, clean *cleaner) (*recorder, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, usagef("--record: %s is not a file", file)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, usagef("--record: %v", err)
	}
	info, err := f.Stat()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && info.Size() == 0 {
		err = os.Remove(file) // an empty file is not a recording
	}
	if err != nil {
		return nil, usagef("--record: %v", err)
	}
	return &recorder{file: file, clean: clean, open: map[askKey]*answers.Recorded{}}, nil
}

// opened records a new ask. It ignores a review, because the entry of its completion records what the server gets.
func (r *recorder) opened(key askKey, question answers.Question, secrets []string) {
	if question.Kind == answers.Review {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := &answers.Recorded{Question: question, Together: len(r.open) > 0, Way: answers.Cancel, Secrets: secrets}
	r.asks = append(r.asks, entry)
	r.open[key] = entry
}

// settled records how an ask was answered. An ask without an answer, for example after a timeout, is recorded as
// cancelled.
func (r *recorder) settled(key askKey, e protocol.AskSettled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.open[key]
	if entry == nil {
		return
	}
	switch reason := e.Outcome.Reason; {
	case reason == protocol.OutcomeDeclined:
		entry.Way = answers.Decline
	case reason == protocol.OutcomeCompleted && entry.Kind == answers.Page:
		entry.Way = answers.Approve
	case reason != protocol.OutcomeAnswered:
	case entry.Kind == answers.Completion && e.SentResponse != nil:
		completed(entry, *e.SentResponse)
	case entry.Kind == answers.Completion:
		return // sampled records it when the model has answered
	case entry.Kind == answers.Form:
		entry.Way, entry.Answer = answers.Answer, []byte("{}")
		if response := e.ElicitationResponse; response != nil && len(response.Content) > 0 {
			entry.Answer = response.Content
			entry.Secrets = append(entry.Secrets, response.SecretFields...)
		}
	case len(e.SentArguments) > 0:
		entry.Way, entry.Answer = answers.Answer, e.SentArguments
	default:
		entry.Way = answers.Approve
	}
	delete(r.open, key)
}

// sampled records the result of a server's request for a completion.
func (r *recorder) sampled(key askKey, result protocol.SamplingResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.open[key]
	if entry == nil {
		return
	}
	switch result := result.(type) {
	case protocol.McpSamplingResponse:
		completed(entry, result)
	case protocol.SamplingWithheld:
		entry.Way = answers.Decline
	case protocol.SamplingFailure:
		entry.Way, entry.Completion = answers.Fail, result.Reason
	}
	delete(r.open, key)
}

// completed records the completion that the server got.
func completed(entry *answers.Recorded, response protocol.McpSamplingResponse) {
	entry.Way = answers.Complete
	for _, block := range response.Content {
		if use, ok := block.(protocol.ToolUseContent); ok {
			entry.ToolUses = append(entry.ToolUses, answers.ToolUse{ID: use.ID, Name: use.Name, Input: use.Input})
			continue
		}
		entry.Completion += blockText(block)
	}
}

// input records an input of mcp.json. A nil value means that the person gave none.
func (r *recorder) input(params *protocol.PromptInputParams, value *string) error {
	entry := &answers.Recorded{Question: inputQuestion(params), Way: answers.Cancel}
	if value != nil {
		raw, err := jsonText(*value)
		if err != nil {
			return err
		}
		entry.Way, entry.Answer = answers.Answer, raw
	}
	if params.Password {
		entry.Secrets = []string{params.ID}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.asks); n > 0 && r.asks[n-1].Kind == answers.Input {
		entry.Together = true // servers that start at once ask in any order
	}
	r.asks = append(r.asks, entry)
	return nil
}

// save writes the recording, and replaces an earlier one.
func (r *recorder) save() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var asks []answers.Recorded
	for _, entry := range r.asks {
		asks = append(asks, *entry)
	}
	data, err := answers.Recorder{Clean: r.clean.text, Secret: r.clean.secret}.Marshal(asks)
	if err != nil {
		return fmt.Errorf("the recording cannot be written: %w", err)
	}
	if err := atomicfile.Write(r.file, data); err != nil {
		return fmt.Errorf("the recording cannot be written: %w", err)
	}
	return nil
}

// gathered waits for [gather] before an answer from a file, if the run is recorded.
func (s *session) gathered(ctx context.Context) error {
	if s.recorder == nil {
		return nil
	}
	return wait(ctx, gather)
}
