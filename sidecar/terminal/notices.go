package terminal

import (
	"context"
	"sync"

	"assent/protocol"
)

// refusals holds the notices about questions that were refused without asking the person. Each notice has the count so
// far, so that two are enough: the first one of a server and setting is written at once, and the newest one when the
// work ends.
type refusals struct {
	mu    sync.Mutex // guards the fields below
	first map[cause]bool
	later []protocol.Notice // the newest one of each cause
}

// cause identifies why questions of a server are refused.
type cause struct{ serverName, setting string }

// isFirst reports whether a notice is the first one of its cause. It keeps any other notice for the end, in place of an
// older one.
func (r *refusals) isFirst(notice protocol.Notice) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := causeOf(notice)
	for i, other := range r.later {
		if causeOf(other) == of {
			r.later[i] = notice
			return false
		}
	}
	if r.first[of] {
		r.later = append(r.later, notice)
		return false
	}
	if r.first == nil {
		r.first = map[cause]bool{}
	}
	r.first[of] = true
	return true
}

// take removes and returns the notices that were kept.
func (r *refusals) take() []protocol.Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	later := r.later
	r.later = nil
	return later
}

func causeOf(notice protocol.Notice) cause {
	return cause{notice.Refused.ServerName, notice.Refused.Setting}
}

// noticed writes a notice from Assent, now or when the work ends.
func (s *session) noticed(ctx context.Context, notice protocol.Notice) {
	if notice.Refused != nil && !s.refusals.isFirst(notice) {
		return
	}
	s.note("%s", notice.Text)
	if len(notice.Unavailable) > 1 { // the text has the reason of one
		for _, u := range notice.Unavailable {
			s.note("  %s: %s", u.ServerName, u.Reason)
		}
	}
	if notice.Level == protocol.NoticeWarning {
		s.reportFailures(ctx)
	}
}

// reportRefusals writes the newest count of refused questions, unless it is written already.
func (s *session) reportRefusals() {
	for _, notice := range s.refusals.take() {
		s.note("%s", notice.Text)
	}
}
