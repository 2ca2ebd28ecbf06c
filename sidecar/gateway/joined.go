package gateway

import (
	"maps"
	"slices"
)

// Joined says that a host made an equal call again, which waits for the result of the first one.
type Joined struct {
	// Has: such a call came. The zero value says that there is none any more.
	Has bool
	// GivenUp: the host of the first call had gone, or had given it up.
	GivenUp bool
	// Waits: a request waits, so that [View.RunSeparately] can run it on its own.
	Waits bool
}

// join notes that an equal call joins this one. The caller holds the lock of calls.
func (k *call) join(w *waiter, spec callSpec, start run) {
	_, isHolder := k.holders[w.requester]
	w.joins = &equalCall{spec: spec, start: start, isHolder: isHolder}
	k.joins++
	k.givenUp = !slices.ContainsFunc(slices.Collect(maps.Keys(k.holders)), k.isWantedBy)
}

// lastJoined returns the newest request that joined the call and waits, or nil. The caller holds the lock of calls.
func (k *call) lastJoined() *waiter {
	for i := len(k.waiting) - 1; i >= 0; i-- {
		if k.waiting[i].joins != nil {
			return k.waiting[i]
		}
	}
	return nil
}

// reportJoined tells the upstream of the calls that joined this one, if that has changed.
func (c *calls) reportJoined(k *call) {
	if c.joined == nil {
		return
	}
	k.reporting.Lock()
	defer k.reporting.Unlock()
	c.mu.Lock()
	var now Joined
	if k.joins > 0 {
		now = Joined{Has: true, GivenUp: k.givenUp, Waits: k.lastJoined() != nil}
	}
	place, isOver := k.place, k.end.hasCome()
	c.mu.Unlock()
	if place != "" && !isOver && now != k.reported {
		k.reported = now
		c.joined(place, now)
	}
}

// runSeparately runs the newest request that joined the call at a place on its own. It reports whether one waits.
func (c *calls) runSeparately(place Place) bool {
	c.mu.Lock()
	k, w := c.joinedAt(place)
	if w == nil {
		c.mu.Unlock()
		return false
	}
	k.leave(w)
	if k.joins--; !w.joins.isHolder {
		k.giveUp(w.requester)
	}
	own := newCall(k.key, w.joins.spec)
	own.waiting = []*waiter{w}
	own.holders[w.requester] = w.isThere
	c.start(own, w.joins.start)
	w.joins, w.moved = nil, own
	k.wake()
	c.mu.Unlock()
	c.reportJoined(k)
	return true
}

// joinedAt returns the open call at a place, and the newest request that joined it. The caller holds mu.
func (c *calls) joinedAt(place Place) (*call, *waiter) {
	for _, k := range c.all {
		if k.place == place && !k.end.hasCome() {
			return k, k.lastJoined()
		}
	}
	return nil, nil
}

// RunSeparately runs the newest equal call that joined the one at a place on its own. It reports whether one waits.
func (v *View) RunSeparately(place Place) bool {
	for _, c := range v.allCalls() {
		if c.runSeparately(place) {
			return true
		}
	}
	return false
}
