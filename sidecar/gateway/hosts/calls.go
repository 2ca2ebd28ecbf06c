package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

// errLost is the error of a call that was under way when an earlier daemon ended, and cannot continue.
var errLost = &mcpserver.Error{Code: mcpserver.CodeInternal, Message: "Assent was restarted during the call. Whether the tool did its work " +
	"is not known, and it was not called again. Check before you call it again."}

// placeOf names the place of a call: its message in its task.
func placeOf(taskID string, messageID int64) gateway.Place {
	return gateway.Place(fmt.Sprintf("%s/%d", taskID, messageID))
}

// messageAt returns the message of the call at a place.
func messageAt(place gateway.Place) (store.Place, error) {
	taskID, number, _ := strings.Cut(string(place), "/")
	messageID, err := strconv.ParseInt(number, 10, 64)
	return store.Place{TaskID: taskID, MessageID: messageID}, err
}

// Joined implements [gateway.Upstream].
func (h upstream) Joined(place gateway.Place, joined gateway.Joined) {
	at, err := messageAt(place)
	if err != nil {
		return
	}
	t, err := h.opts.Tasks.Get(at.TaskID)
	if err != nil { // it was deleted
		return
	}
	var said *protocol.JoinedCall
	if joined.Has {
		said = &protocol.JoinedCall{GivenUp: joined.GivenUp, Separable: joined.Waits}
	}
	t.CallJoined(at.MessageID, said)
}

// RunSeparately runs the newest equal call that joined a call, on its own. It reports whether one waits.
func (h *Hosts) RunSeparately(taskID string, messageID int64) bool {
	place := placeOf(taskID, messageID)
	h.mu.Lock()
	views := slices.Collect(maps.Values(h.views))
	h.mu.Unlock()
	return slices.ContainsFunc(views, func(f *gateway.View) bool { return f.RunSeparately(place) })
}

// Keep implements [gateway.Upstream].
func (h upstream) Save(place gateway.Place, saved *gateway.SavedCall) {
	at, err := messageAt(place)
	var body json.RawMessage
	if err == nil && saved != nil {
		body, err = json.Marshal(saved)
	}
	var s *store.Store
	if err == nil {
		s, err = h.opts.Tasks.Store()
	}
	if err == nil {
		err = s.SaveHostCall(context.Background(), at, body)
	}
	if err != nil {
		h.opts.Log.Warn().Err(err).Msg("a host cannot come back to its call after a restart")
	}
}

// Restore restores the calls of an earlier daemon to which their hosts can come back, once. It reports which of the unfinished
// calls continue that way.
func (h *Hosts) Restore() (goesOn func(task.Unfinished) bool) {
	defer close(h.restored)
	saved, err := h.saved()
	var unfinished []task.Unfinished
	if len(saved) > 0 && err == nil {
		unfinished, err = h.opts.Tasks.Unfinished()
	}
	if err != nil {
		h.opts.Log.Error().Err(err).Msg("hosts cannot come back to their calls of before")
		return func(task.Unfinished) bool { return false }
	}
	goOn := map[gateway.Place]bool{}
	for _, u := range unfinished {
		place := placeOf(u.Task.ID(), u.MessageID)
		if saved[place] != nil && saved[place].Ended.IsZero() {
			goOn[place] = true
			h.mu.Lock()
			h.unfinished[place] = u
			h.mu.Unlock()
		}
	}
	for place, k := range saved {
		h.view(Use{Server: k.View.Server, Own: k.View.Own, AnswerIn: k.View.AnswerIn, AsIs: k.View.AsIs, Quiet: k.View.Quiet, Program: k.View.Program}).Restore(place, k)
	}
	return func(u task.Unfinished) bool { return goOn[placeOf(u.Task.ID(), u.MessageID)] }
}

// saved returns the calls that an earlier daemon saved, by place.
func (h *Hosts) saved() (map[gateway.Place]*gateway.SavedCall, error) {
	s, err := h.opts.Tasks.Store()
	if err != nil {
		return nil, err
	}
	rows, err := s.HostCalls(context.Background())
	if err != nil {
		return nil, err
	}
	all := map[gateway.Place]*gateway.SavedCall{}
	for _, row := range rows {
		k := &gateway.SavedCall{}
		if err := json.Unmarshal(row.Body, k); err != nil {
			h.opts.Log.Warn().Err(err).Msg("the saved state of a host's call cannot be read")
			continue
		}
		all[placeOf(row.TaskID, row.MessageID)] = k
	}
	return all, nil
}

// take returns the call of an earlier daemon at a place, once.
func (h *Hosts) take(place gateway.Place) (task.Unfinished, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u, ok := h.unfinished[place]
	delete(h.unfinished, place)
	return u, ok
}

// askedBefore gives a call the question that was open when an earlier daemon ended.
func (h *Hosts) askedBefore(c *conversation, u task.Unfinished, asking func(question string)) {
	asks, _, err := h.opts.Tasks.OpenAsks()
	if err != nil {
		h.opts.Log.Warn().Err(err).Msg("the open questions of a host's call are not known")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ask := range asks {
		if ask.TaskID == c.taskID && ask.Origin.MessageID == u.MessageID {
			c.questions[ask.MessageID] = openQuestion{ask.Text, u.MessageID}
		}
	}
	asking(c.questionOf(u.MessageID))
}
