package daemon

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Options configure access to the daemon.
type Options struct {
	Address Address
	// Build is this program's version; see [Newer].
	Build string
	// Client is the kind of client; "" means [FrontEnd].
	Client ClientKind
	// Params are for Attach.
	Params json.RawMessage
	// Replace makes an older daemon leave, even if work is open in it.
	Replace bool
	// Alone keeps [Update] from starting a daemon: the front end returns with [ServeAlone].
	Alone bool
	// Program starts the daemon, with its arguments. Nil means this program with "daemon run".
	Program []string

	timeouts timeouts
}

// ErrNone says that no daemon runs.
var ErrNone = errors.New("no daemon runs")

// starts bounds how often a daemon is started for one client. Each may leave before it answers.
const starts = 3

// Dial connects to the daemon as a front end, and starts the daemon if none runs. It replaces an older daemon without
// open work. An older daemon with open work serves the client if it speaks the same protocol; [Welcome.Open] names the
// work, and [Update] waits for its end. If the daemon does not serve this client, the error is a [*Refusal]. The caller
// closes the connection.
func Dial(ctx context.Context, o Options) (net.Conn, Welcome, error) {
	return o.dial(ctx, func(ctx context.Context) (bool, error) { return false, o.start(ctx) })
}

// Join connects to the daemon that runs, and neither starts nor replaces one.
func Join(ctx context.Context, o Options) (net.Conn, error) {
	conn, _, err := o.greet(ctx, o.Client, o.Params)
	return orNil(conn), err
}

// dial is Dial with another way to start a daemon. If start reports that the daemon is in this process, dial returns
// no connection.
func (o Options) dial(ctx context.Context, start func(context.Context) (here bool, err error)) (net.Conn, Welcome, error) {
	conn, welcome, err := o.meet(ctx)
	if !startHelps(err) {
		return orNil(conn), welcome, err
	}
	release, err := o.lockLaunch(ctx)
	if err != nil {
		return nil, Welcome{}, err
	}
	defer release()
	for started := 0; ; started++ {
		conn, welcome, err = o.meet(ctx)
		if !startHelps(err) {
			return orNil(conn), welcome, err
		}
		if started == starts {
			return nil, welcome, fmt.Errorf("the daemon was started %d times, and does not serve (its log is %s): %w", starts, o.Address.Log, err)
		}
		if !errors.Is(err, ErrNone) {
			// This process holds the launch lock, so no other starter starts the older daemon again.
			why := ReasonUpdate
			if o.Replace {
				why = ReasonPerson
			}
			_, err := o.stop(ctx, why, func(string) {})
			refusal, refused := errors.AsType[*Refusal](err)
			switch {
			case refused && (refusal.Code == CodeUpdated || refusal.Code == CodeBusy && welcome.Protocol == Protocol):
				continue // it serves by now
			case err != nil && !errors.Is(err, ErrNone):
				return nil, welcome, err
			}
		}
		if here, err := start(ctx); here || err != nil {
			if err != nil {
				err = fmt.Errorf("start the daemon: %w", err)
			}
			return nil, Welcome{}, err
		}
	}
}

// meet greets the daemon as a front end or a host. If an older daemon is to be replaced, meet rejects its offer.
func (o Options) meet(ctx context.Context) (*peer, Welcome, error) {
	conn, welcome, err := o.greet(ctx, cmp.Or(o.Client, FrontEnd), o.Params)
	if err == nil && o.Replace && Newer(o.Build, welcome.Build) {
		return nil, welcome, errors.Join(&Refusal{CodeOlder, fmt.Sprintf("the daemon is Assent %s, and is not replaced", welcome.Build)}, conn.Close())
	}
	return conn, welcome, err
}

// Update replaces an older daemon by this build as soon as the daemon has no open work. It returns nil once the new
// daemon listens, or if another client was faster. It asks every half minute, until ctx ends, because attached clients
// do not learn when work ends. It keeps asking a daemon that hangs. It finishes an update that has begun.
func Update(ctx context.Context, o Options) error {
	asking := time.NewTicker(o.timeouts.orDefault().again)
	defer asking.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-asking.C:
		}
		err := o.update(context.WithoutCancel(ctx))
		if refusal, ok := errors.AsType[*Refusal](err); !errors.Is(err, ErrHangs) && (!ok || refusal.Code != CodeBusy) {
			return err
		}
	}
}

// update replaces an older daemon, or fails.
func (o Options) update(ctx context.Context) error {
	release, err := o.lockLaunch(ctx) // so that no older client starts the older one again
	if err != nil {
		return err
	}
	defer release()
	_, err = o.stop(ctx, ReasonUpdate, func(string) {})
	refusal, refused := errors.AsType[*Refusal](err)
	switch {
	case refused && refusal.Code == CodeUpdated:
		return nil
	case err != nil && !errors.Is(err, ErrNone):
		return err
	case o.Alone:
		return nil
	}
	return o.start(ctx)
}

// orNil avoids a non-nil interface with a nil connection.
func orNil(p *peer) net.Conn {
	if p == nil {
		return nil
	}
	return p
}

// startHelps reports whether another daemon could serve a client that got this error.
func startHelps(err error) bool {
	var refusal *Refusal
	return errors.Is(err, ErrNone) || errors.As(err, &refusal) && refusal.Code == CodeOlder
}

// lockLaunch waits until no other starter is at work. Safety does not depend on it: after a timeout, or without a lock,
// the starter continues. The two other locks cannot do its work, since daemons hold those: between the end of an older
// daemon and the first step of a newer one both are free, and a client of the older build would start that one again.
func (o Options) lockLaunch(ctx context.Context) (release func(), err error) {
	var lock *flock.Flock
	if err := os.MkdirAll(o.Address.Folder, 0o700); err == nil {
		lock, _ = lockWithin(ctx, o.Address.LaunchLock, o.timeouts.orDefault().launch)
	}
	if err := ctx.Err(); err != nil {
		if lock != nil {
			_ = lock.Close()
		}
		return nil, context.Cause(ctx)
	}
	return func() {
		if lock != nil {
			_ = lock.Close() // closing the file releases the lock
		}
	}, nil
}

// greet connects, and exchanges the hello. The error is ErrNone if there is no daemon, or if it left at that
// moment.
func (o Options) greet(ctx context.Context, client ClientKind, params json.RawMessage) (*peer, Welcome, error) {
	limit := o.timeouts.orDefault().hello
	connecting, cancel := context.WithTimeoutCause(ctx, limit, os.ErrDeadlineExceeded)
	defer cancel()
	conn, err := connect(connecting, o.Address)
	if err != nil {
		return nil, Welcome{}, o.explain(ctx, err)
	}
	p := &peer{conn, bufio.NewReader(conn)}
	var w Welcome
	err = p.within(ctx, limit, func() error {
		// A daemon that refuses may close before it has read everything. Its answer says why.
		sent := p.writeLine(Hello{Build: o.Build, Protocol: Protocol, Client: client, PID: os.Getpid(), Params: params})
		if err := p.readLine(&w); err != nil {
			return errors.Join(err, sent)
		}
		return nil
	})
	if err == nil && w.OK {
		return p, w, nil
	}
	_ = p.Close() // nothing was agreed on
	switch {
	case err != nil:
		return nil, Welcome{}, o.explain(ctx, err)
	case w.Error == nil:
		return nil, Welcome{}, o.explain(ctx, notJSON{errors.New("it is neither a welcome nor a refusal")})
	default:
		return nil, w, w.Error
	}
}

// explain returns the meaning of a connection's error.
func (o Options) explain(ctx context.Context, err error) error {
	var strange notJSON
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &strange):
		return fmt.Errorf("what answers at %s is not Assent's daemon: %w", o.Address.Socket, err)
	case timedOut(err), errors.Is(err, context.DeadlineExceeded), isCrowded(err):
		return o.hangs()
	case isAbsent(err):
		return fmt.Errorf("%w (%w)", ErrNone, err)
	default:
		return fmt.Errorf("connect with the daemon: %w", err)
	}
}

// hangs returns the error for a daemon that holds the instance lock and does not answer.
func (o Options) hangs() error {
	who := "the daemon"
	if h, err := readHolder(o.Address); err == nil {
		who = fmt.Sprintf("the daemon (process %d, Assent %s)", h.PID, h.Build)
	}
	return fmt.Errorf("%s %w at %s: run \"assent daemon stop --force\" to end it", who, ErrHangs, o.Address.Socket)
}
