package ask

import (
	"bytes"
	"context"
	"encoding/json"

	"assent/protocol"
)

// mostDraft bounds a draft, in bytes.
const mostDraft = 256 << 10

// SaveDraft saves what a person has typed into an open ask; see [protocol.Sidecar.SaveDraft].
func (s *Asks) SaveDraft(ctx context.Context, askID string, draft json.RawMessage) error {
	if bytes.Equal(draft, []byte("null")) {
		draft = nil
	}
	var object map[string]json.RawMessage
	if draft != nil && json.Unmarshal(draft, &object) != nil {
		return protocol.Errorf(protocol.CodeInvalidParams, "a draft is an object")
	}
	if len(draft) > mostDraft {
		return protocol.Errorf(protocol.CodeInvalidParams, "the draft has %d bytes, and the limit is %d", len(draft), mostDraft)
	}
	s.log.Lock()
	defer s.log.Unlock()
	a := s.open.get(askID)
	if a == nil {
		return nil // it was sent while the ask was being settled
	}
	draft, err := withoutTypedSecrets(a.question.Question, draft, object)
	if err != nil {
		return err
	}
	a.drafted = true
	s.log.SaveDraft(askID, draft)
	return nil
}

// withoutTypedSecrets removes from a draft the values of fields that ask for a secret. The front end should
// not have sent them.
func withoutTypedSecrets(question protocol.UseMcpServer, draft json.RawMessage, object map[string]json.RawMessage) (json.RawMessage, error) {
	form, ok := question.(protocol.McpElicitation)
	if !ok || draft == nil {
		return draft, nil
	}
	left := len(object)
	for _, f := range form.ElicitationRequest.Fields {
		if head := f.Head(); head.Secret {
			delete(object, head.Name)
		}
	}
	if len(object) == left {
		return draft, nil
	}
	return json.Marshal(object)
}

// AddDrafts adds the drafts to the asks among messages that no person answered. It leaves out drafts that cannot be read: they
// must not hide the conversation. The log's lock must be held.
func AddDrafts(ctx context.Context, s *Asks, messages []protocol.Message) {
	var drafts map[string]json.RawMessage
	for i, m := range messages {
		ask, ok := m.Body.(protocol.Ask)
		if !ok || ask.Outcome != nil && !keepsDraft(ask.Outcome.Reason) {
			continue
		}
		if drafts == nil {
			var err error
			if drafts, err = s.log.Drafts(ctx); err != nil {
				s.opts.Log.Warn().Err(err).Msg("drafts are left out")
				return
			}
		}
		ask.Draft = drafts[ask.AskID]
		messages[i].Body = ask
	}
}

// keepsDraft reports whether a draft stays useful after its ask ended for this reason: the person did not
// end it.
func keepsDraft(reason protocol.OutcomeReason) bool {
	switch reason {
	case protocol.OutcomeTimedOut, protocol.OutcomeServerStoppedWaiting, protocol.OutcomeServerLost, protocol.OutcomeRestarted,
		protocol.OutcomeCallEnded:
		return true
	default:
		return false
	}
}

// forgetDraft deletes the draft of a settled ask, unless it stays useful. The lock must be held.
func (s *Asks) forgetDraft(a *ask) {
	if !a.drafted || keepsDraft(a.outcome.Reason) {
		return
	}
	// It was typed before the person marked a field as secret.
	if a.answer != nil && len(a.answer.SecretFields) > 0 {
		s.log.MarkSecretOverwritten()
	}
	s.log.SaveDraft(a.question.AskID, nil)
}
