package ask

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/task/tasklog"
)

// McpTaskPrefix returns the beginning of the keys of an MCP task's questions.
func McpTaskPrefix(serverName, mcpTaskID string) string {
	return serverName + "\x00" + mcpTaskID + "\x00"
}

// RoundPrefix returns the beginning of the keys of questions that results of a call contain.
func RoundPrefix(callMessageID int64) string {
	return "\x00" + strconv.FormatInt(callMessageID, 10) + "\x00"
}

// HasKey reports whether there is an ask of a key, open or answered. The log's lock must be held.
func HasKey(s *Asks, key string) bool { return s.keys[key] != nil }

// IsCompleting reports whether a model generates the completion for the sampling request of a key. The log's lock must be
// held.
func IsCompleting(s *Asks, key string) bool {
	a := s.keys[key]
	return a != nil && a.completing()
}

// Asked returns what the ask of a key asks or asked, or nil if there is none.
func (s *Asks) Asked(key string) protocol.UseMcpServer {
	s.log.Lock()
	defer s.log.Unlock()
	if a := s.keys[key]; a != nil {
		return a.question.Question
	}
	return nil
}

// IsOpen reports whether the question that was asked under a key waits for an answer.
func (s *Asks) IsOpen(key string) bool {
	s.log.Lock()
	defer s.log.Unlock()
	a := s.keys[key]
	return a != nil && s.open.get(a.question.AskID) != nil
}

// Release forgets the keys that begin with prefix, because their questions are not asked again. Asks that are still open
// are settled as ended says.
func (s *Asks) Release(prefix string, ended *Ended) {
	s.log.Lock()
	defer s.log.Unlock()
	ReleaseLocked(s, prefix, ended)
}

// ReleaseLocked is [Asks.Release] for code that holds the log's lock.
func ReleaseLocked(s *Asks, prefix string, ended *Ended) {
	for key, a := range s.keys {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		s.settle(a, nil, protocol.Outcome{Reason: ended.Reason, Detail: ended.Detail, At: s.now()})
		s.release(a)
	}
}

// ReleaseAnswered is as Release, for those that were answered before a time.
func (s *Asks) ReleaseAnswered(prefix string, before time.Time) {
	s.log.Lock()
	defer s.log.Unlock()
	for key, a := range s.keys {
		if strings.HasPrefix(key, prefix) && a.question.Outcome != nil && a.question.Outcome.At < before.UnixMilli() && !a.completing() {
			s.release(a)
		}
	}
}

// Delivered notes that the server has acknowledged the answer to the ask of a key.
func (s *Asks) Delivered(key string) {
	s.log.Lock()
	defer s.log.Unlock()
	a := s.keys[key]
	if a == nil {
		return
	}
	question, ok := a.message.Body.(protocol.Ask)
	if !ok {
		return
	}
	if question.Delivered {
		return
	}
	question.Delivered, a.question.Delivered = true, true
	a.message.Body = question
	s.log.Commit(a.message, protocol.AskDelivered{MessageID: a.message.ID})
}

// release forgets the key of an ask that is settled. The lock must be held.
func (s *Asks) release(a *ask) {
	if s.keys[a.question.InputKey] != a {
		return
	}
	delete(s.keys, a.question.InputKey)
	if a.completing() {
		return // the message is saved when the completion ends
	}
	if q, ok := a.message.Body.(protocol.Ask); ok {
		masked := tasklog.WithoutSecrets(q)
		if !bytes.Equal(contentOf(q), contentOf(masked)) {
			s.log.MarkSecretOverwritten()
		}
		a.message.Body = masked
	}
	a.message.Live = false
	s.log.Save(a.message)
}

// contentOf returns the content of a form's answer, or nil.
func contentOf(ask protocol.Ask) json.RawMessage {
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		return q.ElicitationResponse.Content
	}
	return nil
}

// completing reports whether a model generates the completion for an approved sampling request. The lock must be held.
func (a *ask) completing() bool {
	q, ok := a.message.Body.(protocol.Ask)
	if !ok {
		return false
	}
	sampling, ok := q.Question.(protocol.McpSampling)
	return ok && sampling.Result == nil && a.answer != nil && a.answer.Response == protocol.YesButtonClicked
}
