package recovery

import (
	"cmp"
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
)

// continues reports whether a call goes on after the restart.
func (r *recovery) continues(messageID int64, call protocol.Call) bool {
	_, inRound := r.rounds[messageID]
	return (call.Task != nil || inRound) && !r.log.Info.Closed
}

// findDoubtful finds the answers of which nothing shows that the server got them: those of a lost call since its last
// question. An earlier answer led to that question.
func (r *recovery) findDoubtful(ctx context.Context) error {
	r.doubtful = map[int64]store.Entry{}
	lost := map[int64]bool{}
	var first int64
	for _, e := range r.live {
		if call, ok := e.Message.Body.(protocol.Call); ok && !e.Damaged && !r.continues(e.Message.ID, call) {
			lost[e.Message.ID] = true
			first = cmp.Or(min(first, e.Message.ID), e.Message.ID)
		}
	}
	last := map[int64]int64{} // the time of each call's last question
	answered := map[int64][]store.Entry{}
	err := r.eachSince(ctx, first, func(e store.Entry) {
		body, ok := e.Message.Body.(protocol.Ask)
		from, hasOrigin := body.Question.(interface{ From() protocol.Origin })
		if !ok || !hasOrigin || !lost[from.From().MessageID] {
			return
		}
		call := from.From().MessageID
		last[call] = max(last[call], e.Message.Time)
		if ask.InDoubt(body) {
			answered[call] = append(answered[call], e)
		}
	})
	if err != nil {
		return err
	}
	for call, entries := range answered {
		for _, e := range entries {
			if e.Message.Body.(protocol.Ask).Outcome.At >= last[call] {
				r.doubtful[e.Message.ID] = e
			}
		}
	}
	return nil
}

// eachSince calls do with each stored message after one, which is 0 if none is wanted; the newest come first.
func (r *recovery) eachSince(ctx context.Context, messageID int64, do func(store.Entry)) error {
	page := store.Range{Limit: callsPage}
	for messageID != 0 {
		entries, err := r.log.Stored(ctx, page)
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			if e.Message.ID > messageID && !e.Damaged {
				do(e)
			}
		}
		if len(entries) == 0 || entries[0].Message.ID <= messageID {
			return nil
		}
		page.Before = entries[0].Message.ID
	}
	return nil
}
