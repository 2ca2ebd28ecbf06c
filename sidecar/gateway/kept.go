package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"assent/sidecar/gateway/mcpserver"
)

// Place identifies a call in Assent. Only the upstream knows its meaning.
type Place string

// Kept is the state of a call for a later daemon. The host can then come back to the call, with the request state of
// questions or with the id of an MCP task. Parts of JSON are texts here, so that each byte stays.
type Kept struct {
	// Face identifies the call's face.
	Face KeptFace `json:"face"`
	// Host is the host that made the call.
	Host   string `json:"host"`
	Key    string `json:"key"`
	Handle string `json:"handle"`
	keptCalling
	States []string   `json:"states,omitempty"`
	Tasks  []keptTask `json:"tasks,omitempty"`
	// Names are the names of all questions so far, and Open the names of the open ones, by the server's names for them.
	Names []string          `json:"names,omitempty"`
	Open  map[string]string `json:"open,omitempty"`
	keptEnd
}

// KeptFace identifies a face.
type KeptFace struct {
	Server   string   `json:"server,omitempty"`
	Own      bool     `json:"own,omitempty"`
	AnswerIn AnswerIn `json:"answerIn"`
	AsIs     bool     `json:"asIs,omitempty"`
	Quiet    bool     `json:"quiet,omitempty"`
}

// keptCalling is the saved state of a [calling].
type keptCalling struct {
	Session      string           `json:"session"`
	Client       mcpserver.Client `json:"client"`
	Revision     string           `json:"revision"`
	Capabilities string           `json:"capabilities"`
	Server       string           `json:"server"`
	Method       string           `json:"method"`
	Params       string           `json:"params"`
}

// calling returns the request that was saved. Its log level is not saved.
func (k *keptCalling) calling() calling {
	client := k.Client
	client.Revision, client.Capabilities = k.Revision, json.RawMessage(k.Capabilities)
	return calling{requester: requester{session: k.Session}, server: k.Server, method: k.Method, client: client, params: json.RawMessage(k.Params)}
}

// keptEnd is the saved end of a call.
type keptEnd struct {
	// Ended is when the call ended; zero if it has not. It ended with Result or Error.
	Ended  time.Time        `json:"ended,omitzero"`
	Result string           `json:"result,omitempty"`
	Error  *mcpserver.Error `json:"error,omitempty"`
}

// keptTask is the saved state of an [mcpTask].
type keptTask struct {
	ID        string        `json:"id"`
	Session   string        `json:"session"`
	Modern    bool          `json:"modern,omitempty"`
	Created   time.Time     `json:"created"`
	Updated   time.Time     `json:"updated"`
	TTL       time.Duration `json:"ttl"`
	Cancelled bool          `json:"cancelled,omitempty"`
}

// calling is the request that a call makes.
type calling struct {
	requester
	server, method string
	client         mcpserver.Client
	params         json.RawMessage
	logLevel       string
}

// kept returns the state of a request that is saved.
func (w *calling) kept() keptCalling {
	return keptCalling{
		Session: w.session, Client: w.client, Revision: w.client.Revision, Capabilities: string(w.client.Capabilities),
		Server: w.server, Method: w.method, Params: string(w.params),
	}
}

// keep saves a call for a later daemon, as long as its host can come back to it.
func (c *calls) keep(k *call) {
	k.keeping.Lock()
	defer k.keeping.Unlock()
	c.mu.Lock()
	place, kept, was := k.place, c.kept(k), k.isKept
	k.isKept = kept != nil
	c.mu.Unlock()
	if place != "" && c.keeper != nil && (kept != nil || was) {
		c.keeper(place, kept)
	}
}

// kept returns the state of a call that keep saves, or nil. The caller holds mu.
func (c *calls) kept(k *call) *Kept {
	kept := &Kept{
		Key: k.key, Handle: k.handle, keptCalling: k.what.kept(),
		States: k.rounds.states, Names: k.toHost.names, Open: map[string]string{},
	}
	for _, t := range c.tasks {
		if t.call == k {
			kept.Tasks = append(kept.Tasks, keptTask{t.id, t.session, t.modern, t.created, t.updated, t.ttl, t.isCancelled})
		}
	}
	hasEnded := k.end.result != nil || k.end.err != nil
	if len(kept.Tasks) == 0 && (len(k.rounds.states) == 0 || hasEnded && k.end.delivered > 0) {
		return nil
	}
	maps.Copy(kept.Open, k.toHost.earlier)
	for _, q := range k.toHost.open {
		if q.own != "" {
			kept.Open[q.own] = q.Name
		}
	}
	if hasEnded {
		kept.Ended, kept.Result = cmp.Or(k.end.time, time.Now()), string(k.end.result)
		if k.end.err != nil {
			kept.Error = wireError(k.end.err)
		}
	}
	return kept
}

// Restore restores a call of an earlier daemon. If the call continues, [Upstream] gets it again, with its place.
func (f *Face) Restore(place Place, kept *Kept) {
	k := newCall(kept.Key, kept.calling())
	k.handle, k.place, k.isKept = kept.Handle, place, true
	k.rounds.states, k.toHost.names, k.toHost.earlier = kept.States, kept.Names, kept.Open
	k.asked = true // the host may come back to the call
	takes := func(method string, params json.RawMessage) bool { return takes(k.what.client, method, params) }
	silent := asker{notify: func(string, json.RawMessage) {}, begin: func() {}, takes: takes}
	if len(k.rounds.states) > 0 {
		k.rounds.away = &waiter{asker: silent}
	}
	if !kept.Ended.IsZero() {
		if k.end.time, k.end.result = kept.Ended, json.RawMessage(kept.Result); kept.Error != nil {
			k.end.result, k.end.err = nil, kept.Error
		}
	}
	c := f.callsFor(kept.Host)
	c.mu.Lock()
	isCancelled := len(kept.Tasks) > 0
	for _, t := range kept.Tasks {
		isCancelled = isCancelled && t.Cancelled
		if time.Since(t.Created) < t.TTL {
			restored := &mcpTask{
				id: t.ID, call: k, session: t.Session, modern: t.Modern, created: t.Created, updated: t.Updated, ttl: t.TTL,
				isCancelled: t.Cancelled,
			}
			c.addTask(restored, silent)
			c.running.Go(func() { c.watch(restored, f.tellTask) })
		}
	}
	switch {
	case !k.end.hasCome():
		c.start(k, f.run(k.what, place))
		if isCancelled {
			k.cancel(mcpserver.ErrCancelled)
		}
	case len(kept.Tasks) == 0 && time.Since(k.end.time) < keepFor:
		c.all = append(c.all, k)
	case len(kept.Tasks) == 0:
		k.end.delivered++ // too late
	}
	c.mu.Unlock()
	c.keep(k)
}

// awaitRestored waits until the calls of an earlier daemon are restored.
func (f *Face) awaitRestored(ctx context.Context) error {
	if f.opts.Restored == nil {
		return nil
	}
	select {
	case <-f.opts.Restored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
