package main

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// everyone measures many asks that are open at once, all before the first is answered, the last one first:
// how many get the answer that is theirs, and how long that takes for all.
// The sidecar's limit for one server is lifted: see [bench.startSidecar].
func (b *bench) everyone() ([]row, error) {
	const polledTasks = 10 // a host that sends all of its conversation for each ask is slow with more
	var answered, polled sample
	var took comparison
	for i := range b.rounds {
		err := b.withSidecar(b.roundDir("everyone", i), b.oneServer(), func(f *frontEnd) error {
			all, err := f.answerEveryone(crowdTasks, everyAsk)
			if err != nil {
				return err
			}
			answered = append(answered, float64(all.right))
			took.figure = append(took.figure, all.took.Seconds())
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("everyone: %w", err)
		}
		err = b.withHost(b.oneServer(), func(f *frontEnd) error {
			all, err := f.answerEveryone(crowdTasks, everyAsk)
			took.reference = append(took.reference, all.took.Seconds())
			if err == nil && all.right != crowdTasks*crowdEach {
				err = fmt.Errorf("the reference answered %d", all.right)
			}
			return err
		}, promiseHost)
		if err != nil {
			return nil, err
		}
		err = b.withHost(b.oneServer(), func(f *frontEnd) error {
			all, err := f.answerEveryone(polledTasks, lastAsk)
			polled = append(polled, float64(all.right))
			return err
		}, pollingHost)
		if err != nil {
			return nil, err
		}
	}
	const asks, polledAsks = crowdTasks * crowdEach, polledTasks * crowdEach
	what := fmt.Sprintf("%d asks at once, %d tasks, ", asks, crowdTasks)
	ours := answered.ofAll(what+"that got their answer", asks)
	ours.bar = bar{limit: 1, atLeast: true}
	return []row{
		ours,
		polled.ofAll(fmt.Sprintf("%s: %d asks at once, %d tasks, that got their answer", pollingName, polledAsks, polledTasks), polledAsks),
		{what: what + "from the first to the last answer", unit: "s", figure: took.figure, reference: took.reference, referenceIs: promiseName},
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

// everyoneAnswered is what became of many asks.
type everyoneAnswered struct {
	right int // got the answer that is theirs
	took  time.Duration
}

// Which of the asks that were shown the person answers.
const (
	everyAsk = iota
	lastAsk  // with a single slot for an answer
)

// answerEveryone has a server ask crowdEach times at once in each of so many tasks.
func (f *frontEnd) answerEveryone(tasks, which int) (e everyoneAnswered, err error) {
	ids, err := f.newTasks(tasks)
	if err != nil {
		return e, err
	}
	for _, id := range ids {
		if err := f.runTool(id, "bench", crowdTool, elicitInput{N: crowdEach}); err != nil {
			return e, err
		}
	}
	ended := 0
	end := func(h happened) error {
		text, err := h.text()
		if err != nil {
			return err
		}
		right, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("the tool returned %q", text)
		}
		ended++
		e.right += right
		return nil
	}
	var shown []happened
	for len(shown) < tasks*crowdEach {
		h, err := f.happens()
		if err != nil {
			return e, err
		}
		switch {
		case h.askID != "":
			shown = append(shown, h)
		case which == everyAsk:
			return e, fmt.Errorf("a call ended with %s after %d asks", h.result, len(shown))
		default: // its asks were given up
			if err := end(h); err != nil {
				return e, err
			}
		}
	}
	if which == lastAsk {
		shown = shown[len(shown)-1:]
	}
	began := time.Now()
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
			return e, err
		}
	}
	e.took = time.Since(began)
	return e, answering.Wait()
}
