package policy

import (
	"fmt"
	"sync"

	"assent/protocol"
)

// defaultMaxOpen is the default of [protocol.ElicitationSettings].
const defaultMaxOpen = 32

// limitOpen counts an elicitation as open, unless it is counted already. It refuses the elicitation if too many of its
// server are open.
func (p *Policy) limitOpen(r *Request) Decision {
	if r.done != nil {
		return Decision{}
	}
	l := maxOpenOf(p.opts.Settings().Elicitation.MaxOpen)
	done, exceeded := p.open.admit(r.Origin.ServerName, l)
	r.done = done
	if exceeded == nil {
		return Decision{}
	}
	p.opts.Log.Warn().Str("server", r.Origin.ServerName).Str("limit", exceeded.Error()).Msg("elicitation refused")
	if r.Task != nil {
		p.open.refused(r.Task, r.Origin.ServerName, l)
	}
	return exceeded.refuse()
}

// openLimiter counts the open elicitations of each server, over all conversations, because no person can read a
// thousand questions a second. It may be used from any goroutine.
type openLimiter struct {
	mu   sync.Mutex       // guards the field below
	open map[string]int64 // by the server's name; without those that have none

	refusing sync.Mutex // guards the field below; held while a task gets a notice, so that the counts are in order
	// refusals counts the refused elicitations, by the server's name.
	refusals map[string]int64
}

// refused counts a refused elicitation of a server. It adds a notice to the task for the first, the tenth, the
// hundredth and so on, so that notices are few.
func (o *openLimiter) refused(t Task, serverName string, l limit) {
	o.refusing.Lock()
	defer o.refusing.Unlock()
	if o.refusals == nil {
		o.refusals = map[string]int64{}
	}
	o.refusals[serverName]++
	n := o.refusals[serverName]
	power := int64(1)
	for power < n {
		power *= 10
	}
	if power != n {
		return
	}
	what := "A question of %[2]s was"
	if n > 1 {
		what = "%[1]d questions of %[2]s were"
	}
	t.Tell(protocol.Notice{
		Level: protocol.NoticeWarning,
		Text: fmt.Sprintf(what+" refused without asking you: your setting %[3]s lets %[4]d of a server wait at once. "+
			"More may have been since.", n, serverName, l.setting(), l.max),
		Refused: &protocol.RefusedQuestions{ServerName: serverName, Count: n, Setting: l.setting(), Max: l.max},
	})
}

// admit counts an elicitation of a server, or returns the limit that it exceeds. The caller calls done
// when it is settled.
func (o *openLimiter) admit(serverName string, l limit) (done func(), exceeded *LimitError) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[serverName] >= l.max {
		return nil, l.exceeded(0, "questions of this server that wait for the user: %d", o.open[serverName])
	}
	if o.open == nil {
		o.open = map[string]int64{}
	}
	o.open[serverName]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open[serverName]--; o.open[serverName] == 0 {
			delete(o.open, serverName)
		}
	}, nil
}
