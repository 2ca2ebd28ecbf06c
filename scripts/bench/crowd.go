package main

import (
	"fmt"
	"maps"
	"time"

	"assent/protocol"
)

// The crowd of open asks: so many in each of so many tasks, of which each has a connection to the server.
const (
	crowdTasks = 100
	crowdEach  = 100
)

// crowd measures what open asks cost, in memory and for the next one. The connections are not in it: they
// are there before the asks come.
func (b *bench) crowd() ([]row, error) {
	// The tasks of the crowd and the others have different ones.
	servers := b.rawServers(1)
	maps.Copy(servers, b.oneServer())
	var memory, next, inbox, list comparison
	for i := range b.rounds {
		err := b.withSidecar(b.roundDir("crowd", i), servers, func(busy *frontEnd) error {
			return b.withSidecar(b.roundDir("alone", i), servers, func(empty *frontEnd) error {
				perAsk, err := fillCrowd(busy)
				if err != nil {
					return err
				}
				memory.figure = append(memory.figure, perAsk)
				return b.besideCrowd(busy, empty, &next, &inbox, &list)
			})
		})
		if err != nil {
			return nil, fmt.Errorf("crowd: %w", err)
		}
		err = b.withHost(servers, func(f *frontEnd) error {
			perAsk, err := fillCrowd(f)
			memory.reference = append(memory.reference, perAsk)
			return err
		}, promiseHost)
		if err != nil {
			return nil, err
		}
	}
	asks := fmt.Sprintf("%d open asks in %d tasks", crowdTasks*crowdEach, crowdTasks)
	const reference = "no open ask"
	return []row{
		{what: "memory for each of " + asks, unit: "kB", figure: memory.figure, reference: memory.reference, referenceIs: promiseName, bar: bar{limit: 1}},
		{what: "one more ask beside " + asks + ", p50", unit: "us", figure: next.figure, reference: next.reference, referenceIs: reference},
		{what: "ask/list with " + asks, unit: "us", figure: inbox.figure, reference: inbox.reference, referenceIs: reference},
		{what: "task/list with " + asks, unit: "us", figure: list.figure, reference: list.reference, referenceIs: reference},
	}, nil
}

// fillCrowd has the server ask, and returns by how many kB of memory the sidecar grew for each ask.
func fillCrowd(f *frontEnd) (float64, error) {
	ids, err := f.newTasks(crowdTasks)
	if err != nil {
		return 0, err
	}
	// An ask that is answered, so that the connections are there.
	for _, id := range ids {
		if _, err := f.thinkAll(id, 1, func() time.Duration { return 0 }); err != nil {
			return 0, err
		}
	}
	before, err := f.memoryAtRest(wholeMemory)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := f.ask(id, crowdEach); err != nil {
			return 0, err
		}
	}
	after, err := f.memoryAtRest(wholeMemory)
	return (after - before) * 1024 / (crowdTasks * crowdEach), err
}

// ask has the server ask n times at once in a task, and waits until all are open.
func (f *frontEnd) ask(taskID string, n int) error {
	if err := f.runTool(taskID, "raw0", askTool, askInput{N: n, AtOnce: n}); err != nil {
		return err
	}
	for range n {
		h, err := f.happens()
		if err != nil {
			return err
		}
		if h.askID == "" {
			return fmt.Errorf("the tool ended with %s", h.result)
		}
	}
	return nil
}

// besideCrowd measures the busy sidecar and the empty one in turn.
func (b *bench) besideCrowd(busy, empty *frontEnd, next, inbox, list *comparison) error {
	const turns = 5
	asks := max(b.asks/10/turns, 10)
	sidecars := []*frontEnd{busy, empty}
	var tasks [2]protocol.Task
	for i, f := range sidecars {
		if err := f.Call("task/create", protocol.CreateTaskParams{}, &tasks[i]); err != nil {
			return err
		}
	}
	var ask, open, all [2]sample
	for range turns {
		for i, f := range sidecars {
			took, err := f.answerAll(tasks[i].ID, "bench", asks)
			if err != nil {
				return err
			}
			ask[i] = append(ask[i], took...)
			us, err := f.timed("ask/list", nil, nil)
			if err != nil {
				return err
			}
			open[i] = append(open[i], us)
			if us, err = f.timed("task/list", nil, nil); err != nil {
				return err
			}
			all[i] = append(all[i], us)
		}
	}
	next.add(ask[0].median(), ask[1].median())
	inbox.add(open[0].median(), open[1].median())
	list.add(all[0].median(), all[1].median())
	return nil
}
