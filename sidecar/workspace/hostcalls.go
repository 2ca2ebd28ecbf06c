package workspace

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
func (h *hosts) Joined(place gateway.Place, joined gateway.Joined) {
	at, err := messageAt(place)
	if err != nil {
		return
	}
	t, err := h.w.tasks.Get(at.TaskID)
	if err != nil { // it was deleted
		return
	}
	var said *protocol.JoinedCall
	if joined.Has {
		said = &protocol.JoinedCall{GivenUp: joined.GivenUp, Separable: joined.Waits}
	}
	t.CallJoined(at.MessageID, said)
}

// runSeparately runs the newest equal call that joined one on its own. It reports whether one waits.
func (h *hosts) runSeparately(place gateway.Place) bool {
	h.mu.Lock()
	faces := slices.Collect(maps.Values(h.faces))
	h.mu.Unlock()
	return slices.ContainsFunc(faces, func(f *gateway.Face) bool { return f.RunSeparately(place) })
}

// Keep implements [gateway.Upstream].
func (h *hosts) Keep(place gateway.Place, kept *gateway.Kept) {
	at, err := messageAt(place)
	var body json.RawMessage
	if err == nil && kept != nil {
		body, err = json.Marshal(kept)
	}
	var s *store.Store
	if err == nil {
		s, err = h.w.tasks.Store()
	}
	if err == nil {
		err = s.SaveHostCall(context.Background(), at, body)
	}
	if err != nil {
		h.w.opts.Log.Warn().Err(err).Msg("a host cannot come back to its call after a restart")
	}
}

// restore restores the calls of an earlier daemon to which their hosts can come back. It returns the places of those that
// continue.
func (h *hosts) restore() (goOn map[gateway.Place]bool) {
	defer close(h.restored)
	kept, err := h.kept()
	var unfinished []task.Unfinished
	if len(kept) > 0 && err == nil {
		unfinished, err = h.w.tasks.Unfinished()
	}
	if err != nil {
		h.w.opts.Log.Error().Err(err).Msg("hosts cannot come back to their calls of before")
		return nil
	}
	goOn = map[gateway.Place]bool{}
	for _, u := range unfinished {
		place := placeOf(u.Task.ID(), u.MessageID)
		if kept[place] != nil && kept[place].Ended.IsZero() {
			goOn[place] = true
			h.mu.Lock()
			h.unfinished[place] = u
			h.mu.Unlock()
		}
	}
	for place, k := range kept {
		h.face(HostOptions{Server: k.Face.Server, Own: k.Face.Own, AnswerIn: k.Face.AnswerIn, AsIs: k.Face.AsIs, Quiet: k.Face.Quiet}).Restore(place, k)
	}
	return goOn
}

// kept returns the calls that an earlier daemon saved, by place.
func (h *hosts) kept() (map[gateway.Place]*gateway.Kept, error) {
	s, err := h.w.tasks.Store()
	if err != nil {
		return nil, err
	}
	rows, err := s.HostCalls(context.Background())
	if err != nil {
		return nil, err
	}
	all := map[gateway.Place]*gateway.Kept{}
	for _, row := range rows {
		k := &gateway.Kept{}
		if err := json.Unmarshal(row.Body, k); err != nil {
			h.w.opts.Log.Warn().Err(err).Msg("the saved state of a host's call cannot be read")
			continue
		}
		all[placeOf(row.TaskID, row.MessageID)] = k
	}
	return all, nil
}

// take returns the call of an earlier daemon at a place, once.
func (h *hosts) take(place gateway.Place) (task.Unfinished, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u, ok := h.unfinished[place]
	delete(h.unfinished, place)
	return u, ok
}

// askedBefore gives a call the question that was open when an earlier daemon ended.
func (h *hosts) askedBefore(c *hostConversation, u task.Unfinished, asking func(question string)) {
	asks, _, err := h.w.tasks.OpenAsks()
	if err != nil {
		h.w.opts.Log.Warn().Err(err).Msg("the open questions of a host's call are not known")
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
