package task_test

import (
	"context"
	"sync"
	"testing/synctest"

	"pgregory.net/rapid"

	"assent/protocol"
)

// racingWorld is a world with concurrent operations.
type racingWorld struct{ *world }

// AnswerAtOnce answers an ask from several front ends at the same time.
func (w racingWorld) AnswerAtOnce(rt *rapid.T) {
	a := w.anyAsk(rt, (*modelAsk).open)
	tk := w.get(a.in)
	type reply struct {
		params *protocol.AskResponseParams
		result *protocol.AskResponseResult
		err    error
	}
	replies := make([]reply, rapid.IntRange(2, 3).Draw(rt, "front ends"))
	for i := range replies {
		replies[i].params = w.anyAnswer(rt, a)
	}
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			r := &replies[i]
			r.result, r.err = tk.Answer(context.Background(), r.params, "a person")
		})
	}
	wg.Wait()
	for _, r := range replies {
		if r.err == nil {
			w.acknowledged(a, r.params, r.result) // fails if called twice
		}
	}
	if a.open() {
		rt.Fatalf("none of %d answers to %s was taken: %v", len(replies), a.askID, replies[0].err)
	}
	for _, r := range replies {
		if r.err != nil {
			w.wantSettled(a, r.err)
		}
	}
}

// Race ends an ask in two ways at the same time. Either may win, and the other gets the outcome.
func (w racingWorld) Race(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return a.open() && len(a.waiting) > 0 })
	p := w.anyAnswer(rt, a)
	cause := causes[rapid.SampledFrom([]string{"cancels", "dies"}).Draw(rt, "the server")]
	tk := w.get(a.in)
	var result *protocol.AskResponseResult
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { result, err = tk.Answer(context.Background(), p, "a person") })
	wg.Go(func() { a.waiting[0].end(cause.err) })
	wg.Wait()
	synctest.Wait()
	if err == nil {
		w.acknowledged(a, p, result)
		return
	}
	w.settled(a, cause.reason, nil)
	w.wantSettled(a, err)
}
