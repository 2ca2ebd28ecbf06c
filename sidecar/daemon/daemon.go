// Package daemon owns the process that all front ends of a person share on a machine: its address, its start and election, the
// check of its clients, its end, and its replacement by a newer version. It does not know the purpose of a connection:
// [ServeOptions.Attach] gets each connection after the hello.
//
// # Election
//
// The daemon holds an exclusive lock on a file while it lives. The system releases the lock when the process ends. A process
// that gets the lock removes an earlier socket, and listens. A process that does not get it exits with success once the holder
// answers. A second lock, the start lock, is held until the socket exists; it distinguishes a starting daemon from one that is
// leaving. A third lock, the launch lock, lets starters wait for each other; without it they only start processes that exit at
// once.
//
// # Hello
//
// A connection begins with one line of JSON in each direction: a [Hello] from the client, a [Welcome] from the daemon. Their
// format never changes, because it is all that different versions share. Then the connection belongs to Attach, or carries a
// command ("control").
//
// # Concurrency
//
// All functions may be called from any goroutine, in any number of processes. [Serve] returns when every Attach has returned.
// Two goroutines may outlive a call: one waits for a child process to end, so that it is no zombie, and one waits for a lock
// after a timeout. A connection that ends before the daemon's hello counts as no daemon, and is tried again a bounded number
// of times. So a client that arrives while the daemon leaves is served by the next one.
//
// # Limits
//
// Every program of this person can connect; the checks keep other users out. The package does not replay messages to a daemon
// that died: [Relay] reports that the daemon ended, and its front end starts again.
package daemon

import (
	"cmp"
	"time"
)

// Protocol is the version of the protocol after the hello. It rises with each change that an older peer would
// misunderstand.
const Protocol = 1

// timeouts bound each step of a call. A zero field means the default.
type timeouts struct {
	// hello is for the hello, in both directions.
	hello time.Duration
	// silence is how long the daemon may be silent before it is probed.
	silence time.Duration
	// launch is how long to wait for another starter.
	launch time.Duration
	// start is how long a started daemon may take to listen.
	start time.Duration
	// leave is how long a daemon may take to end after it was asked to leave.
	leave time.Duration
	// again is the pause between two attempts to update.
	again time.Duration
	// moment is how long to wait for a lock that is held briefly: by a process that checks it,
	// leaves or starts.
	moment time.Duration
}

func (t timeouts) orDefault() timeouts {
	return timeouts{
		hello:   cmp.Or(t.hello, 15*time.Second),
		silence: cmp.Or(t.silence, 10*time.Second),
		launch:  cmp.Or(t.launch, 30*time.Second),
		start:   cmp.Or(t.start, time.Minute),
		leave:   cmp.Or(t.leave, 30*time.Second),
		again:   cmp.Or(t.again, 30*time.Second),
		moment:  cmp.Or(t.moment, 2*time.Second),
	}
}
