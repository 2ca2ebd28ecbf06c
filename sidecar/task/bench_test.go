package task_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

// lastAsk is a front end that stores only the newest ask.
type lastAsk struct{ asks chan protocol.Ask }

func (l *lastAsk) TaskEvent(_ context.Context, p *protocol.TaskEventParams) error {
	if added, ok := p.Event.(protocol.MessageAdded); ok {
		l.asks <- added.Message.Body.(protocol.Ask)
	}
	return nil
}

func (*lastAsk) McpSamplingProgress(context.Context, *protocol.McpSamplingProgressParams) error {
	return nil
}
func (*lastAsk) CallProgress(context.Context, *protocol.CallProgressParams) error   { return nil }
func (*lastAsk) StorageFailed(context.Context, *protocol.StorageFailedParams) error { return nil }
func (*lastAsk) ChatProgress(context.Context, *protocol.ChatProgressParams) error   { return nil }
func (*lastAsk) StorageRecovered(context.Context, *protocol.StorageRecoveredParams) error {
	return nil
}

// benchTask returns a task of n messages on a file.
func benchTask(b *testing.B, n int) (*task.Registry, *task.Task, *lastAsk) {
	b.Helper()
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	said := protocol.Notice{Level: protocol.NoticeInfo, Text: "said"}
	err = s.Save(b.Context(), protocol.Task{ID: "t", LastNumber: int64(n)}, nil)
	for i := int64(1); i <= int64(n) && err == nil; i++ {
		entry := store.Entry{Message: protocol.Message{ID: i, Body: said}, Number: i}
		err = s.Save(b.Context(), protocol.Task{ID: "t", LastNumber: int64(n)}, &entry)
	}
	if err != nil {
		b.Fatal(err)
	}
	events := &lastAsk{make(chan protocol.Ask, 1)}
	r := task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return s, nil }, Events: events, Log: zerolog.Nop(),
	})
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	tk, err := r.Get("t")
	if err != nil {
		b.Fatal(err)
	}
	return r, tk, events
}

// BenchmarkAnswer measures an ask from its question to the server's result, in tasks of different
// lengths.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			_, tk, events := benchTask(b, n)
			b.ReportAllocs()
			for b.Loop() {
				done := make(chan error, 1)
				go func() {
					_, err := tk.Ask(b.Context(), new(question(form)))
					done <- err
				}()
				ask := <-events.asks
				_, err := tk.Answer(b.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "a test")
				if err := errors.Join(err, <-done); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// silent is a front end that stores nothing.
type silent struct{ lastAsk }

func (*silent) TaskEvent(context.Context, *protocol.TaskEventParams) error { return nil }

// BenchmarkAppend measures an event without a waiting goroutine: saved and announced.
func BenchmarkAppend(b *testing.B) {
	s, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return s, nil }, Events: &silent{}, Log: zerolog.Nop(),
	})
	defer func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	}()
	info, err := r.Create("a task")
	if err != nil {
		b.Fatal(err)
	}
	tk, err := r.Get(info.ID)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		tk.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: "said"})
	}
}

// BenchmarkAnswersAtOnce measures one of a hundred asks that are open at once, each answered as soon as it
// is announced.
func BenchmarkAnswersAtOnce(b *testing.B) {
	_, tk, events := benchTask(b, 0)
	const atOnce = 100
	var asking sync.WaitGroup
	left := atomic.Int64{}
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	for range atOnce {
		asking.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := tk.Ask(context.Background(), new(question(form))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	for range b.N {
		ask := <-events.asks
		asking.Go(func() {
			answer := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}
			if _, err := tk.Answer(context.Background(), answer, "a test"); err != nil {
				b.Error(err)
			}
		})
	}
	asking.Wait()
}

// BenchmarkOpenAsks measures the list of many open asks, and the memory for each of them.
func BenchmarkOpenAsks(b *testing.B) {
	const n = 10_000
	r, tk, events := benchTask(b, 0)
	memory := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc + m.StackInuse)
	}
	before := memory()
	done := make(chan error, n)
	for range n {
		go func() {
			_, err := tk.Ask(b.Context(), new(question(form)))
			done <- err
		}()
		<-events.asks
	}
	perAsk := (memory() - before) / n
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.OpenAsks(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(perAsk, "B/ask")
	began := time.Now()
	tk.Close("a test")
	for range n {
		<-done
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/n, "us/dismissed")
}
