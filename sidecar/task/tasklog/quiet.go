package tasklog

import (
	"context"
	"fmt"

	"assent/protocol"
)

// GoingOn names for the person the work under way in the task. The lock must be held.
func (l *Log) GoingOn() (what []string) {
	calls, other := 0, false
	for _, m := range l.memory {
		_, isCall := m.Body.(protocol.Call)
		if m.Live && isCall {
			calls++
		}
		other = other || m.Live && !isCall
	}
	switch n := l.Info.OpenAsks; {
	case n == 1:
		what = append(what, "a question is open")
	case n > 1:
		what = append(what, fmt.Sprintf("%d questions are open", n))
	}
	switch {
	case calls == 1:
		what = append(what, "a call runs")
	case calls > 1:
		what = append(what, fmt.Sprintf("%d calls run", calls))
	}
	if l.Info.Running || other && len(what) == 0 {
		what = append(what, "a model is at work")
	}
	return what
}

// AwaitQuiet returns when the task has no running call, no turn and no open question. The lock must not be held.
func (l *Log) AwaitQuiet(ctx context.Context) error {
	l.Lock()
	if len(l.GoingOn()) == 0 {
		l.Unlock()
		return nil
	}
	if l.quiet == nil {
		l.quiet = make(chan struct{})
	}
	quiet := l.quiet
	l.Unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notifyQuiet ends the waits of [Log.AwaitQuiet] if the task is quiet. The lock must be held.
func (l *Log) notifyQuiet() {
	if l.quiet != nil && len(l.GoingOn()) == 0 {
		close(l.quiet)
		l.quiet = nil
	}
}
