package task

import (
	"assent/protocol"
	"assent/sidecar/task/store"
)

// Unfinished is a call that a later sidecar can continue: an MCP task, or a call that its server has
// answered with questions.
type Unfinished struct {
	Task      *Task
	MessageID int64
	Call      protocol.Call
	// Round is set for a call with questions.
	Round *store.Round
}

// Unfinished returns the calls of all tasks that continue after a restart.
func (r *Registry) Unfinished() ([]Unfinished, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	var all []Unfinished
	for _, t := range r.all() {
		all = append(all, t.Unfinished()...)
	}
	return all, nil
}

// Unfinished returns the task's unfinished calls.
func (t *Task) Unfinished() (all []Unfinished) {
	t.log.Lock()
	defer t.log.Unlock()
	for m := range t.log.Messages() {
		call, ok := m.Body.(protocol.Call)
		if !ok || !m.Live {
			continue
		}
		if round := callOf(m).round; call.Task != nil || round != nil {
			all = append(all, Unfinished{t, m.ID, call, round})
		}
	}
	return all
}
