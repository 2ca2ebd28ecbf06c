package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// personAsks is how many asks a person answers in a round, one after the other.
const personAsks = 40

// person measures the time added to a person's answer: from the server's question to its answer, except for
// the person's own 100 to 200 ms. A host that polls adds most of its interval.
func (b *bench) person() ([]row, error) {
	var p50, p95 comparison
	for i := range b.rounds {
		var ours, polled sample
		measure := func(s *sample) func(*frontEnd) error {
			return func(f *frontEnd) (err error) {
				*s, err = f.think(uint64(i))
				return err
			}
		}
		servers := b.rawServers(1)
		if err := b.withSidecar(b.roundDir("person", i), servers, measure(&ours)); err != nil {
			return nil, err
		}
		if err := b.withHost(servers, measure(&polled), pollingHost); err != nil {
			return nil, err
		}
		p50.add(ours.median(), polled.median())
		p95.add(ours.quantile(0.95), polled.quantile(0.95))
	}
	const what = "added to a person's answer, "
	return []row{
		{what: what + "p50", unit: "ms", figure: p50.figure, reference: p50.reference, referenceIs: pollingName, bar: bar{limit: 1. / 25}},
		{what: what + "p95", unit: "ms", figure: p95.figure, reference: p95.reference, referenceIs: pollingName, bar: bar{limit: 1. / 35}},
	}, nil
}

// think answers as a person does, and returns the added time of each answer in milliseconds. The same seed
// gives the same delays.
func (f *frontEnd) think(seed uint64) (sample, error) {
	taskID, err := f.newTask()
	if err != nil {
		return nil, err
	}
	// The measurement is about an ask, not the connection.
	if _, err := f.thinkAll(taskID, 3, func() time.Duration { return 0 }); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	return f.thinkAll(taskID, personAsks, func() time.Duration {
		return 100*time.Millisecond + time.Duration(random.Int64N(int64(100*time.Millisecond)))
	})
}

// thinkAll has the raw server ask n times, one after the other, and answers each after a thought.
func (f *frontEnd) thinkAll(taskID string, n int, thought func() time.Duration) (sample, error) {
	if err := f.runTool(taskID, "raw0", askTool, askInput{N: n, AtOnce: 1}); err != nil {
		return nil, err
	}
	var thoughts []time.Duration
	for {
		h, err := f.happens()
		if err != nil {
			return nil, err
		}
		if h.askID != "" {
			began := time.Now()
			time.Sleep(thought())
			thoughts = append(thoughts, time.Since(began))
			if err := f.answer(h, "x"); err != nil {
				return nil, err
			}
			continue
		}
		text, err := h.text()
		if err != nil {
			return nil, err
		}
		var times askTimes
		if err := json.Unmarshal([]byte(text), &times); err != nil {
			return nil, err
		}
		if len(thoughts) != n || len(times.Each) != n {
			return nil, fmt.Errorf("%d of %d asks were answered", len(thoughts), n)
		}
		added := make(sample, n)
		for i, took := range times.Each {
			added[i] = milliseconds(took - thoughts[i])
		}
		return added, nil
	}
}
