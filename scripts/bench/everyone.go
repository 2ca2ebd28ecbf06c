package main

import (
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// The open asks: so many in each of so many tasks, of which each has a connection to the server.
const (
	crowdTasks = 100
	crowdEach  = 100
)

// everyone measures many asks that are open at once, all before the first is answered, the last one first:
// how many get the answer that is theirs.
// The sidecar's limit for one server is lifted: see [bench.startSidecar].
func (b *bench) everyone() ([]row, error) {
	const polledTasks = 10 // a host that sends all of its conversation for each ask is slow with more
	var answered, polled sample
	servers := b.oneServer(serverCommand)
	for i := range b.rounds {
		err := b.withSidecar(b.roundDir("everyone", i), servers, func(f *frontEnd) error {
			right, err := f.answerEveryone(crowdTasks, everyAsk)
			answered = append(answered, float64(right))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("everyone: %w", err)
		}
		err = b.withHost(servers, func(f *frontEnd) error {
			right, err := f.answerEveryone(polledTasks, lastAsk)
			polled = append(polled, float64(right))
			return err
		}, pollingHost)
		if err != nil {
			return nil, err
		}
	}
	const asks, polledAsks = crowdTasks * crowdEach, polledTasks * crowdEach
	ours := answered.ofAll(fmt.Sprintf("%d asks at once, %d tasks, that got their answer", asks, crowdTasks), asks)
	ours.bar = bar{limit: 1, atLeast: true}
	return []row{
		ours,
		polled.ofAll(fmt.Sprintf("%s: %d asks at once, %d tasks, that got their answer", pollingName, polledAsks, polledTasks), polledAsks),
	}, nil
}

// ofAll compares a number of asks that were answered with that of all.
func (s sample) ofAll(what string, all float64) row {
	r := row{what: what, figure: s, referenceIs: "all"}
	for range s {
		r.reference = append(r.reference, all)
	}
	return r
}

// Which of the asks that were shown the person answers.
const (
	everyAsk = iota
	lastAsk  // with a single slot for an answer
)

// answerEveryone has a server ask crowdEach times at once in each of so many tasks, and returns how many asks got the answer
// that is theirs.
func (f *frontEnd) answerEveryone(tasks, which int) (right int, err error) {
	ids, err := f.newTasks(tasks)
	if err != nil {
		return right, err
	}
	for _, id := range ids {
		if err := f.runTool(id, "bench", crowdTool, crowdInput{N: crowdEach}); err != nil {
			return right, err
		}
	}
	ended := 0
	end := func(h happened) error {
		text, err := h.text()
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("the tool returned %q", text)
		}
		ended++
		right += n
		return nil
	}
	var shown []happened
	for len(shown) < tasks*crowdEach {
		h, err := f.happens()
		if err != nil {
			return right, err
		}
		switch {
		case h.askID != "":
			shown = append(shown, h)
		case which == everyAsk:
			return right, fmt.Errorf("a call ended with %s after %d asks", h.result, len(shown))
		default: // its asks were given up
			if err := end(h); err != nil {
				return right, err
			}
		}
	}
	if which == lastAsk {
		shown = shown[len(shown)-1:]
	}
	var answering errgroup.Group
	answering.Go(func() error {
		for i := range shown {
			h := shown[len(shown)-1-i]
			if err := f.answer(h, h.question); err != nil {
				return err
			}
		}
		return nil
	})
	for ended < tasks {
		h, err := f.happens()
		if err == nil && h.result != nil {
			err = end(h)
		}
		if err != nil {
			return right, err
		}
	}
	return right, answering.Wait()
}
