package main

import (
	"errors"
	"fmt"
	"time"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// manyTasks is how many conversations a person may have had.
const manyTasks = 10_000

// tasks measures operations on all tasks and on one task, with many tasks stored.
func (b *bench) tasks() ([]row, error) {
	dir := b.dataDir("tasks")
	if err := b.fillTasks(dir); err != nil {
		return nil, fmt.Errorf("fill the tasks: %w", err)
	}
	var start, list, life comparison
	for i := range b.rounds {
		many, err := b.oneOfTasks(dir, i*lives+manyTasks)
		if err != nil {
			return nil, fmt.Errorf("tasks: %w", err)
		}
		none, err := b.oneOfTasks(b.dataDir(fmt.Sprint("none", i)), 0)
		if err != nil {
			return nil, fmt.Errorf("tasks: %w", err)
		}
		start.add(many.start, none.start)
		list.add(many.list, none.list)
		life.add(many.life, none.life)
	}
	const reference = "no task"
	return []row{
		{what: fmt.Sprintf("process start to the list of %d tasks", manyTasks), unit: "us", figure: start.figure, reference: start.reference, referenceIs: reference},
		{what: fmt.Sprintf("the list of %d tasks again", manyTasks), unit: "us", figure: list.figure, reference: list.reference, referenceIs: reference},
		{what: fmt.Sprintf("beginning, reading and closing a task beside %d others", manyTasks), unit: "us", figure: life.figure, reference: life.reference, referenceIs: reference},
	}, nil
}

// lives is how many tasks oneOfTasks begins.
const lives = 20

// taskTimes are in microseconds.
type taskTimes struct{ start, list, life float64 }

// oneOfTasks measures a sidecar that has so many tasks.
func (b *bench) oneOfTasks(dir string, want int) (taskTimes, error) {
	var t taskTimes
	began := time.Now()
	err := b.withSidecar(dir, nil, func(f *frontEnd) error {
		var listed protocol.ListTasksResult
		err := f.Call("task/list", nil, &listed)
		t.start = float64(time.Since(began)) / float64(time.Microsecond)
		if err == nil && len(listed.Tasks) != want {
			err = fmt.Errorf("%d tasks are listed, of %d", len(listed.Tasks), want)
		}
		if err != nil {
			return err
		}
		var list, life sample
		for range lives {
			us, err := f.timed("task/list", nil, nil)
			if err != nil {
				return err
			}
			list = append(list, us)
		}
		for range lives {
			began := time.Now()
			var task protocol.Task
			err := f.Call("task/create", protocol.CreateTaskParams{}, &task)
			err = errors.Join(err, f.Call("task/open", protocol.OpenTaskParams{TaskID: task.ID}, nil))
			err = errors.Join(err, f.Call("task/close", protocol.CloseTaskParams{TaskID: task.ID}, nil))
			if err != nil {
				return err
			}
			life = append(life, float64(time.Since(began))/float64(time.Microsecond))
		}
		t.list, t.life = list.median(), life.median()
		return nil
	})
	return t, err
}

// fillTasks writes tasks that say one thing each.
func (b *bench) fillTasks(dir string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	for i := range manyTasks {
		task := protocol.Task{ID: fmt.Sprintf("task-%05d", i), Title: "one of many", CreatedAt: int64(i), LastNumber: 1}
		entry := store.Entry{Number: 1, Message: protocol.Message{ID: 1, Body: protocol.Notice{Level: protocol.NoticeInfo, Text: "said"}}}
		if err := s.Save(b.ctx, task, &entry); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}
