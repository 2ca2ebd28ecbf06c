package ask

import (
	"time"

	"assent/protocol"
	"assent/sidecar/task/tasklog"
)

// Restore restores an ask with a key that an earlier sidecar left open or answered, from a message of the log. The log's lock
// must be held.
func Restore(s *Asks, m *tasklog.Message, question protocol.Ask) {
	question.WaitsUntil = 0 // the request that the server waited for ended with the earlier sidecar
	m.Body = question
	a := &ask{message: m, question: question, settled: make(chan struct{}), drafted: true}
	s.keys[question.InputKey] = a
	if question.Outcome != nil {
		a.settlement = settlement{answer: AnswerOf(question), outcome: *question.Outcome}
		close(a.settled)
		return
	}
	a.check = s.opts.Check(question.Question)
	s.open.put(a)
	s.log.Info.OpenAsks++
	if question.ExpiresAt > 0 {
		// The first time limit is not saved. The time from the message to the end is close enough.
		a.timeout.each = time.Duration(question.ExpiresAt-m.Time) * time.Millisecond
		a.timeout.all = a.timeout.each
		left := time.Duration(question.ExpiresAt-s.now()) * time.Millisecond
		s.expireAfter(a, min(left, a.timeout.each)) // a clock that was set back gives no more time
	}
}

// AnswerOf returns the answer that settled an ask, as far as the ask has it. The ask must be settled.
func AnswerOf(question protocol.Ask) *Answer {
	answer := &Answer{Response: protocol.CancelButtonClicked}
	switch question.Outcome.Reason {
	case protocol.OutcomeAnswered, protocol.OutcomeGranted:
		answer.Response = protocol.YesButtonClicked
	case protocol.OutcomeDeclined:
		answer.Response = protocol.NoButtonClicked
	case protocol.OutcomeRegenerated:
		answer.Response = protocol.RegenerateButtonClicked
	}
	switch q := question.Question.(type) {
	case protocol.McpElicitation:
		if q.ElicitationResponse != nil {
			answer.Content = q.ElicitationResponse.Content
		}
	case protocol.McpSampling:
		answer.Model, answer.SentRequest = q.Model, q.SentRequest
		if written, ok := q.Result.(protocol.McpSamplingResponse); ok && written.ByPerson {
			answer.SentResponse = &written
		}
	case protocol.McpSamplingReview:
		answer.Model, answer.SentResponse = q.Model, q.SentResponse
	}
	return answer
}
