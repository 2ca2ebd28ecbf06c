package main

import (
	"fmt"

	"assent/protocol"
)

// The crowd of open asks: so many in each of so many tasks, of which each has a connection to the server.
const (
	crowdTasks = 100
	crowdEach  = 100
)

// crowd measures what open asks cost, in memory and for the next one. The connections are not in it: they
// are there, with an ask each, before the others come.
func (b *bench) crowd() ([]row, error) {
	var memory sample
	var next, inbox, list comparison
	for i := range b.rounds {
		err := b.withSidecar(b.dataDir(fmt.Sprint("crowd", i)), b.oneServer(), func(busy *frontEnd) error {
			return b.withSidecar(b.dataDir(fmt.Sprint("alone", i)), b.oneServer(), func(empty *frontEnd) error {
				perAsk, err := fillCrowd(busy)
				if err != nil {
					return err
				}
				memory = append(memory, perAsk)
				return b.besideCrowd(busy, empty, &next, &inbox, &list)
			})
		})
		if err != nil {
			return nil, fmt.Errorf("crowd: %w", err)
		}
	}
	asks := fmt.Sprintf("%d open asks in %d tasks", crowdTasks*crowdEach, crowdTasks)
	const reference = "no open ask"
	return []row{
		{what: "memory for each of " + asks, unit: "kB", figure: memory},
		{what: "one more ask beside " + asks + ", p50", unit: "us", figure: next.figure, reference: next.reference, referenceIs: reference},
		{what: "ask/list with " + asks, unit: "us", figure: inbox.figure, reference: inbox.reference, referenceIs: reference},
		{what: "task/list with " + asks, unit: "us", figure: list.figure, reference: list.reference, referenceIs: reference},
	}, nil
}

// fillCrowd has the server ask, and returns by how many kB of memory the sidecar grew for each ask.
func fillCrowd(f *frontEnd) (float64, error) {
	var ids []string
	for range crowdTasks {
		var task protocol.Task
		if err := f.call("task/create", protocol.CreateTaskParams{}, &task); err != nil {
			return 0, err
		}
		ids = append(ids, task.ID)
	}
	resident := func(each int) (float64, error) {
		for _, id := range ids {
			if err := f.ask(id, each); err != nil {
				return 0, err
			}
		}
		return residentMB(f.cmd.Process.Pid)
	}
	before, err := resident(1)
	if err != nil {
		return 0, err
	}
	after, err := resident(crowdEach - 1)
	return (after - before) * 1024 / (crowdTasks * (crowdEach - 1)), err
}

// ask has the server ask n times at once in a task, and waits until all are open.
func (f *frontEnd) ask(taskID string, n int) error {
	if err := f.startTool(taskID, "bench", crowdTool, n); err != nil {
		return err
	}
	for open := 0; open < n; {
		p, err := f.nextEvent()
		if err != nil {
			return err
		}
		switch event := p.Event.(type) {
		case protocol.MessageAdded:
			if _, ok := event.Message.Body.(protocol.Ask); ok {
				open++
			}
		case protocol.CallEnded:
			return fmt.Errorf("the tool ended with %+v", event.Result)
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
		if err := f.call("task/create", protocol.CreateTaskParams{}, &tasks[i]); err != nil {
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
