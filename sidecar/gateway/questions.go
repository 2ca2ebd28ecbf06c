package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
)

// toHost are the questions of a call that its host is to answer. The lock of calls guards them.
type toHost struct {
	open []*question
	last int // counts the names that were made
	// held: while it is not 0, the host is not asked yet.
	held int
	// names are those of all questions. Earlier ones are those of an earlier daemon that are not asked again yet, by the
	// server's own names. The host may come back before with the answers: these are early, by the names for the host.
	names   []string
	earlier map[string]string
	early   map[string]json.RawMessage
}

// question is what a host is asked. No other open question of the call has its name. If the call is an MCP task for the
// host, no other question of the call has had it.
type question struct {
	Question
	own string // the server's name for it, or ""
	// ctx ends when the question is settled otherwise.
	ctx    context.Context
	answer chan hostAnswer // takes one
	isSent bool            // the host has the request
}

// hostAnswer is a host's answer to a question.
type hostAnswer struct {
	result json.RawMessage
	err    error
}

// answer settles the questions that have an answer by their names. It is called with the lock of calls held.
func (t *toHost) answer(responses map[string]json.RawMessage) {
	for _, q := range slices.Clone(t.open) {
		if response := responses[q.Name]; response != nil {
			t.settle(q, hostAnswer{result: response})
		}
	}
	for _, name := range t.earlier {
		if response := responses[name]; response != nil {
			if t.early == nil {
				t.early = map[string]json.RawMessage{}
			}
			t.early[name] = response
		}
	}
}

// name gives a question a name for the host. That of an MCP task was never another's. It is called with the lock of calls held.
func (t *toHost) name(q *question, isTask bool) {
	if earlier := t.earlier[q.own]; earlier != "" && q.own != "" {
		delete(t.earlier, q.own)
		q.Name = earlier
		return
	}
	isTaken := func(other *question) bool { return other.Name == q.Name }
	for q.Name == "" || slices.ContainsFunc(t.open, isTaken) || isTask && slices.Contains(t.names, q.Name) {
		t.last++
		q.Name = "question-" + strconv.Itoa(t.last)
	}
	t.names = append(t.names, q.Name)
}

// settle gives a question its answer. It is called with the lock of calls held.
func (t *toHost) settle(q *question, a hostAnswer) {
	at := slices.Index(t.open, q)
	if at < 0 {
		return
	}
	t.open = slices.Delete(t.open, at, at+1)
	q.answer <- a
}

// forRequest returns the questions that a request has to return with. It is called with the lock of calls held.
func (t *toHost) forRequest(w *waiter) []*question {
	if w.ask != nil || t.held > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.open), func(q *question) bool { return !w.takes(q.Method, q.Params) })
}
