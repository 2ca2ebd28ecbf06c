package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Reason is why a client asks the daemon to leave.
type Reason string

const (
	// ReasonPerson: a person stops it, even if work is open.
	ReasonPerson Reason = "person"
	// ReasonUpdate: a newer version replaces it, if no work is open.
	ReasonUpdate Reason = "update"
)

// The commands of [Control] clients.
const (
	commandStatus = "status"
	commandStop   = "stop"
)

// command is the params of a [Control] hello.
type command struct {
	Command string `json:"command"`
	Reason  Reason `json:"reason,omitempty"`
}

// outcome is the daemon's line after its welcome to a [Control] client.
type outcome struct {
	Status *Status  `json:"status,omitempty"`
	Error  *Refusal `json:"error,omitempty"`
}

// Attached is a client that the daemon serves.
type Attached struct {
	Client ClientKind `json:"client"`
	// PID and Build are the client's own claims.
	PID   int       `json:"pid"`
	Build string    `json:"build"`
	Since time.Time `json:"since"`
}

// Status is the state of the daemon.
type Status struct {
	PID      int        `json:"pid"`
	Build    string     `json:"build"`
	Protocol int        `json:"protocol"`
	Since    time.Time  `json:"since"`
	Attached []Attached `json:"attached"`
	// Busy names the work that would be lost if the daemon left; empty if there is none.
	Busy string `json:"busy,omitempty"`
	// Log is the path of the log; empty for a process that does not write one, see [ServeAlone].
	Log    string `json:"log"`
	Socket string `json:"socket"`
	// Goroutines is how many the process has: a number that only grows is a leak.
	Goroutines int `json:"goroutines"`
}

// command serves a command. KeepOpen means that the connection stays open until the daemon has
// ended.
func (s *server) command(ctx context.Context, p *peer, hello Hello) (keepOpen bool) {
	var c command
	var o outcome
	stops := false
	if err := json.Unmarshal(hello.Params, &c); err != nil {
		o.Error = &Refusal{CodeHello, fmt.Sprintf("the command cannot be read: %v", err)}
	} else {
		switch c.Command {
		case commandStatus:
			o.Status = s.status()
		case commandStop:
			o.Status = s.status()
			switch {
			case c.Reason != ReasonUpdate:
			case !Newer(hello.Build, s.o.Build):
				o.Error = &Refusal{CodeUpdated, fmt.Sprintf("the daemon, Assent %s, is not older than Assent %s", s.o.Build, hello.Build)}
			case o.Status.Busy != "":
				o.Error = &Refusal{CodeBusy, fmt.Sprintf(
					"Assent %s cannot take the place of the running daemon, Assent %s, yet: %s. Wait until that has ended, or run \"assent daemon stop\" to give it up",
					hello.Build, s.o.Build, o.Status.Busy)}
			}
			stops = o.Error == nil
		default:
			o.Error = &Refusal{CodeHello, fmt.Sprintf("the daemon, Assent %s, has no command %q", s.o.Build, c.Command)}
		}
	}
	if err := p.within(ctx, s.o.timeouts.orDefault().hello, func() error { return p.writeLine(o) }); err != nil {
		s.o.Log.Info().Err(err).Msg("a command was not answered")
	}
	if !stops {
		return false
	}
	s.o.Log.Info().Str("reason", string(c.Reason)).Int("by", hello.PID).Msg("the daemon is asked to leave")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, &waitingClient{peer: p})
	s.leave(errStopped)
	return true
}

func (s *server) status() *Status {
	st := &Status{
		PID: os.Getpid(), Build: s.o.Build, Protocol: Protocol, Since: s.since, Attached: []Attached{},
		Busy: s.busy(), Log: s.o.Address.Log, Socket: s.o.Address.Socket, Goroutines: runtime.NumGoroutine(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.present {
		if c.attached != nil {
			st.Attached = append(st.Attached, *c.attached)
		}
	}
	slices.SortFunc(st.Attached, func(a, b Attached) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.PID, b.PID)) })
	return st
}

// control sends a command. The caller closes the connection.
func (o Options) control(ctx context.Context, c command) (*peer, Status, error) {
	params, err := json.Marshal(c)
	if err != nil {
		return nil, Status{}, err
	}
	p, _, err := o.greet(ctx, Control, params)
	if err != nil {
		return nil, Status{}, err
	}
	var result outcome
	err = p.within(ctx, o.timeouts.orDefault().hello, func() error { return p.readLine(&result) })
	switch {
	case err != nil:
		err = o.explain(ctx, err)
	case result.Error != nil:
		err = result.Error
	case result.Status == nil:
		err = o.explain(ctx, notJSON{errors.New("it is not an answer to a command")})
	}
	if err != nil {
		_ = p.Close()
		return nil, Status{}, err
	}
	return p, *result.Status, nil
}

// StatusOf returns the state of the daemon. The error is [ErrNone] if none runs.
func StatusOf(ctx context.Context, o Options) (Status, error) {
	status, err := o.status(ctx)
	if errors.Is(err, ErrNone) {
		err = o.noneOrHangs(ctx, err)
	}
	return status, err
}

// noneOrHangs returns none, unless a process holds the instance lock for longer than a daemon needs to start
// or leave.
func (o Options) noneOrHangs(ctx context.Context, none error) error {
	held, err := taken(o.Address)
	if err != nil {
		return err
	}
	if !held {
		return none
	}
	lock, err := lockWithin(ctx, o.Address.Lock, o.timeouts.orDefault().moment)
	if err == nil {
		return errors.Join(none, lock.Close())
	}
	if _, err := o.status(ctx); err == nil {
		return none // another daemon was faster
	}
	return o.hangs()
}

// status returns the state of a daemon that answers, or ErrNone.
func (o Options) status(ctx context.Context) (Status, error) {
	p, status, err := o.control(ctx, command{Command: commandStatus})
	if err != nil {
		return Status{}, err
	}
	return status, p.Close()
}

// Stop ends the daemon in order, and returns its last state. It waits for a starter, and then until the daemon has
// ended. While that takes long, it calls say with what the daemon waits for, each time that this changes. The error is
// [ErrNone] if none runs.
func Stop(ctx context.Context, o Options, say func(waitsFor string)) (Status, error) {
	release, err := o.lockLaunch(ctx)
	if err != nil {
		return Status{}, err
	}
	defer release()
	status, err := o.stop(ctx, ReasonPerson, say)
	if errors.Is(err, ErrNone) {
		err = o.noneOrHangs(ctx, err)
	}
	return status, err
}

// stop is Stop for a caller that holds the launch lock.
func (o Options) stop(ctx context.Context, why Reason, say func(waitsFor string)) (Status, error) {
	p, status, err := o.control(ctx, command{Command: commandStop, Reason: why})
	if err != nil {
		return Status{}, err
	}
	defer p.Close()
	err = p.within(ctx, o.timeouts.orDefault().leave, func() error {
		for {
			var line leaving
			if err := p.readLine(&line); err != nil {
				return err
			}
			say(line.WaitsFor)
		}
	})
	if !isAbsent(err) {
		return status, o.explain(ctx, err)
	}
	return status, nil // the instance lock is free, or is about to be when the process ends
}

// Kill ends the daemon's process at once, and returns its id. The error is [ErrNone] if no process holds the instance lock. It
// kills only a process that is proven to hold the instance lock: the one that signed for it, by its id and its start.
func Kill(ctx context.Context, o Options) (pid int, err error) {
	held, err := taken(o.Address)
	if err != nil {
		return 0, err
	}
	if !held {
		return 0, ErrNone
	}
	h, err := provenHolder(o.Address)
	if err != nil {
		// A process that checks the lock, or that stopped waiting for it, holds it for a moment.
		if lock, lockErr := lockWithin(ctx, o.Address.Lock, o.timeouts.orDefault().moment); lockErr == nil {
			return 0, cmp.Or(lock.Close(), ErrNone)
		}
		h, err = provenHolder(o.Address) // a daemon that starts signs soon after it has the lock
	}
	if err != nil {
		return 0, fmt.Errorf("the process that has the lock %s is not known, so none was ended: %w", o.Address.Lock, err)
	}
	process, err := os.FindProcess(h.PID)
	if err != nil {
		return 0, err
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, fmt.Errorf("end process %d: %w", h.PID, err)
	}
	for _, limit := range []time.Duration{o.timeouts.orDefault().moment, o.timeouts.orDefault().leave} {
		var lock *flock.Flock
		if lock, err = lockWithin(ctx, o.Address.Lock, limit); err == nil {
			return h.PID, lock.Close()
		}
		if h.proven() != nil { // it has ended, and another daemon was faster
			return h.PID, nil
		}
	}
	return h.PID, fmt.Errorf("process %d was killed, and has not ended: %w", h.PID, err)
}
