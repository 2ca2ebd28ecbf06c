package hosts

import (
	"context"
	"fmt"
	"time"

	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
)

// firstReads are the readings of lists that are not stored yet, and those that failed. The lock of [serverLists] guards them.
type firstReads struct {
	running map[listOf]*firstRead
	// failures are the lists that are not read again for a while. That of a server itself, which did not start or has ended,
	// is stored as that of its introduction.
	failures map[listOf]*readFailure
}

// listOf names one of a server's lists, or with "" what the server says about itself.
type listOf struct{ server, list string }

// firstRead is the reading of a list for all requests that wait for it. It outlives them.
type firstRead struct {
	identity string
	began    time.Time
	// awaited is since when hosts wait for the server: another of its lists may have been asked for before.
	awaited time.Time
	// isMissed: a request went without it. Hosts hear of the list when it comes. The lock of serverLists guards it.
	isMissed bool

	// done is closed when what follows is set.
	done         chan struct{}
	introduction *savedIntroduction
	pages        []verbatimJSON
	err          error
}

// readFailure is a reading that failed, and is tried again after a pause.
type readFailure struct {
	identity string
	err      error
	at       time.Time
	// times counts the failures in a row. The pause grows with it.
	times int
	// missed are the lists that hosts went without.
	missed map[string]bool
}

// The pauses after failures: each is twice the one before. An attempt may start a server twice, once for each era of MCP.
// After the last of maxRetries, only a host's request tries again.
const (
	firstPause = 5 * time.Minute
	longPause  = time.Hour
	maxRetries = 5
)

// pause is the time from a failure to the next attempt.
func (f *readFailure) pause() time.Duration {
	return min(firstPause<<min(f.times-1, 10), longPause)
}

// readFirst reads a list that is not stored, and stores it. One reading serves all requests, and goes on if they leave.
// A waitLimit counts from the first reading of the server that still runs; 0 has no end.
func (l *serverLists) readFirst(ctx context.Context, what listOf, identity string, waitLimit time.Duration) (*firstRead, error) {
	read, err := l.beginFirst(what, identity)
	if err != nil {
		return nil, err
	}
	var late <-chan time.Time
	if waitLimit > 0 {
		timer := time.NewTimer(time.Until(read.awaited.Add(waitLimit)))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-read.done:
		return read, read.err
	case <-late:
		err = gateway.ErrReading
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	read.isMissed = true
	return nil, err
}

// beginFirst returns the reading of a list that runs, or begins one. The error is that of a reading before, if that failed
// a short time ago. A session of a host that begins with one server tries again at once.
func (l *serverLists) beginFirst(what listOf, identity string) (*firstRead, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if read := l.running[what]; read != nil && read.identity == identity {
		return read, nil
	}
	for _, of := range []listOf{what, {what.server, ""}} {
		f := l.failures[of]
		if what.list == "" || f == nil || f.identity != identity {
			continue
		}
		if wait := time.Until(f.at.Add(f.pause())); wait > 0 {
			f.missed[what.list] = true
			return nil, &mcpserver.Error{
				Code: mcpserver.CodeInternal, Message: fmt.Sprintf("%v; Assent tries it again in %s", hostError(f.err), wait.Round(time.Second)),
			}
		}
	}
	return l.beginFirstLocked(what, identity), nil
}

func (l *serverLists) beginFirstLocked(what listOf, identity string) *firstRead {
	now := time.Now()
	read := &firstRead{identity: identity, began: now, awaited: now, done: make(chan struct{})}
	for of, other := range l.running {
		if of.server == what.server && other.identity == identity && other.awaited.Before(read.awaited) {
			read.awaited = other.awaited
		}
	}
	if l.closed {
		read.err = context.Canceled
		close(read.done)
		return read
	}
	l.running[what] = read
	l.reading.Go(func() {
		if what.list == "" {
			read.introduction, read.err = l.readIntroduction(l.ctx, what.server)
		} else {
			read.pages, read.err = l.readList(l.ctx, what.server, what.list)
		}
		l.endFirst(what, read)
	})
	return read
}

// endFirst stores the result of a reading, or its error.
func (l *serverLists) endFirst(what listOf, read *firstRead) {
	isUp := l.hub.IsRunning(what.server)
	l.mu.Lock()
	if l.running[what] == read {
		delete(l.running, what)
	}
	if read.err != nil {
		l.failLocked(what, read, isUp)
	} else {
		l.endFailureLocked(what, read)
		l.updateLocked(what.server, read.identity, func(k *savedLists) {
			if what.list == "" {
				k.Introduction = read.introduction
			} else {
				k.Lists[what.list] = read.pages
			}
		})
	}
	isNews := read.err == nil && read.isMissed && what.list != ""
	close(read.done)
	l.mu.Unlock()
	if read.err == nil {
		l.save()
	}
	if isNews {
		l.changed(what.server, what.list)
	}
}

// endFailureLocked forgets the failures before a reading, and reads what hosts went without.
func (l *serverLists) endFailureLocked(what listOf, read *firstRead) {
	for _, of := range []listOf{what, {what.server, ""}} {
		f := l.failures[of]
		if delete(l.failures, of); f == nil || f.identity != read.identity {
			continue
		}
		read.isMissed = read.isMissed || f.missed[what.list]
		l.readMissedLocked(what.server, f, what.list)
	}
}

// failLocked records a failure, and has it tried again after the pause.
func (l *serverLists) failLocked(what listOf, read *firstRead, isUp bool) {
	of := what
	if !isUp {
		of.list = "" // the server itself
	}
	f := l.failures[of]
	if f == nil || f.identity != read.identity {
		f = &readFailure{identity: read.identity, missed: map[string]bool{}}
		l.failures[of] = f
	}
	if what.list != "" {
		f.missed[what.list] = true
	}
	if read.began.Before(f.at) {
		return // one attempt for several lists
	}
	f.err, f.at = read.err, time.Now()
	f.times++
	l.log.Warn().Str("server", what.server).Err(read.err).Dur("pause", f.pause()).Msg("a server is left out of the lists for hosts")
	if f.times <= maxRetries && !l.closed {
		at := f.at
		time.AfterFunc(f.pause(), func() { l.retry(of, f, at) })
	}
}

// retry reads the lists of a failure again, unless that was done since.
func (l *serverLists) retry(of listOf, f *readFailure, at time.Time) {
	identity, _ := l.hub.Identity(of.server)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.failures[of] != f || f.at != at || f.identity != identity {
		return
	}
	l.readMissedLocked(of.server, f, "")
}

// readMissedLocked reads the lists that hosts went without because of a failure, except one.
func (l *serverLists) readMissedLocked(server string, f *readFailure, except string) {
	for list := range f.missed {
		if what := (listOf{server, list}); list != except && l.running[what] == nil && !l.closed {
			l.beginFirstLocked(what, f.identity).isMissed = true
		}
	}
}

// recovered says that a server runs. What hosts went without is read now.
func (l *serverLists) recovered(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, f := range l.failures {
		if at := f.at; of.server == server && !l.closed {
			l.reading.Go(func() { l.retry(of, f, at) })
		}
	}
}
