// Package daemon owns the process that all front ends of a person share on a machine: where it is reached, how it is
// started and elected, who may connect, when it leaves, and how a newer version takes over. It knows nothing of what a
// connection is for: [ServeOptions.Attach] gets each connection after the hello.
//
// # Election
//
// The daemon holds an exclusive lock on a file for its life. The system releases the lock however the process ends. Who gets
// the lock removes what is left of an earlier socket, and listens. Who does not get it leaves with success once the holder
// answers. It tells a daemon that starts from one that leaves by a second lock, the gate, which is held until the socket is
// there. A third lock lets starters wait for each other; without it they only start processes that leave at once.
//
// # Hello
//
// A connection begins with one line of JSON in each direction: a [Hello] from the client, a [Welcome] from the daemon. Their
// shape never changes, because versions that know nothing else of each other read them. Then the connection belongs to
// Attach, or carries a command ("control").
//
// # Concurrency
//
// All functions may be called from any goroutine, in any number of processes. [Serve] returns when every Attach has
// returned. Two goroutines may outlive a call: one waits for a child process to end, so that it is no zombie, and one waits
// for a lock that took too long. A daemon's connection that ends before its hello counts as no daemon, and is tried again a
// bounded number of times; so a client that comes while the daemon leaves is served by the next one.
//
// # Limits
//
// Whoever runs programs as this person can connect; the checks keep other users out. The package does not replay what a dead
// daemon was told: [Relay] says that the daemon ended, and its front end starts again.
package daemon

import (
	"cmp"
	"time"
)

// Protocol is the version of what follows the hello. It rises with each change that an older peer would misunderstand.
const Protocol = 1

// timeouts bound each step of a call. A zero field stands for the default.
type timeouts struct {
	// hello is for the hello, in both directions.
	hello time.Duration
	// silence is for a daemon to say something, before it is probed.
	silence time.Duration
	// turn is for another starter.
	turn time.Duration
	// start is for a daemon that was started to listen.
	start time.Duration
	// leave is for a daemon that was asked to leave to end.
	leave time.Duration
	// again is between two questions for an update.
	again time.Duration
	// moment is for a lock that a process has for a moment, because it looks at it, leaves or starts.
	moment time.Duration
}

func (t timeouts) orDefault() timeouts {
	return timeouts{
		hello:   cmp.Or(t.hello, 15*time.Second),
		silence: cmp.Or(t.silence, 10*time.Second),
		turn:    cmp.Or(t.turn, 30*time.Second),
		start:   cmp.Or(t.start, time.Minute),
		leave:   cmp.Or(t.leave, 30*time.Second),
		again:   cmp.Or(t.again, 30*time.Second),
		moment:  cmp.Or(t.moment, 2*time.Second),
	}
}
