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

// SavedCall is the state of a call for a later daemon. The host can then come back to the call, with the request state of
// questions or with the id of an MCP task. Parts of JSON are texts here, so that each byte stays.
type SavedCall struct {
	// View identifies the call's view.
	View SavedView `json:"view"`
	// Host is the host that made the call.
	Host   string `json:"host"`
	Key    string `json:"key"`
	Handle string `json:"handle"`
	savedSpec
	States []string    `json:"states,omitempty"`
	Tasks  []savedTask `json:"tasks,omitempty"`
	// Names are the names of all questions so far, and Open the names of the open ones, by the server's names for them.
	Names []string          `json:"names,omitempty"`
	Open  map[string]string `json:"open,omitempty"`
	savedEnd
}

// SavedView identifies a view.
type SavedView struct {
	Server   string   `json:"server,omitempty"`
	Own      bool     `json:"own,omitempty"`
	AnswerIn AnswerIn `json:"answerIn"`
	AsIs     bool     `json:"asIs,omitempty"`
	Quiet    bool     `json:"quiet,omitempty"`
	Program  string   `json:"program,omitempty"`
}

// savedSpec is the saved state of a [callSpec].
type savedSpec struct {
	Session      string           `json:"session"`
	Client       mcpserver.Client `json:"client"`
	Revision     string           `json:"revision"`
	Capabilities string           `json:"capabilities"`
	Server       string           `json:"server"`
	Method       string           `json:"method"`
	Params       string           `json:"params"`
}

// spec returns the request that was saved. Its log level is not saved.
func (k *savedSpec) spec() callSpec {
	client := k.Client
	client.Revision, client.Capabilities = k.Revision, json.RawMessage(k.Capabilities)
	return callSpec{requester: requester{session: k.Session}, server: k.Server, method: k.Method, client: client, params: json.RawMessage(k.Params)}
}

// savedEnd is the saved end of a call.
type savedEnd struct {
	// Ended is when the call ended; zero if it has not. It ended with Result or Error.
	Ended  time.Time        `json:"ended,omitzero"`
	Result string           `json:"result,omitempty"`
	Error  *mcpserver.Error `json:"error,omitempty"`
}

// savedTask is the saved state of an [mcpTask].
type savedTask struct {
	ID        string        `json:"id"`
	Session   string        `json:"session"`
	Modern    bool          `json:"modern,omitempty"`
	Created   time.Time     `json:"created"`
	Updated   time.Time     `json:"updated"`
	TTL       time.Duration `json:"ttl"`
	Cancelled bool          `json:"cancelled,omitempty"`
}

// callSpec is the request that a call makes.
type callSpec struct {
	requester
	server, method string
	client         mcpserver.Client
	params         json.RawMessage
	logLevel       string
}

// saved returns the state of a request that is saved.
func (w *callSpec) saved() savedSpec {
	return savedSpec{
		Session: w.session, Client: w.client, Revision: w.client.Revision, Capabilities: string(w.client.Capabilities),
		Server: w.server, Method: w.method, Params: string(w.params),
	}
}

// save saves a call for a later daemon, as long as its host can come back to it.
func (c *calls) save(k *call) {
	k.saving.Lock()
	defer k.saving.Unlock()
	c.mu.Lock()
	place, saved, was := k.place, c.saved(k), k.isSaved
	k.isSaved = saved != nil
	c.mu.Unlock()
	if place != "" && c.saver != nil && (saved != nil || was) {
		c.saver(place, saved)
	}
}

// saved returns the state of a call that save saves, or nil. The caller holds mu.
func (c *calls) saved(k *call) *SavedCall {
	saved := &SavedCall{
		Key: k.key, Handle: k.handle, savedSpec: k.spec.saved(),
		States: k.rounds.states, Names: k.toHost.names, Open: map[string]string{},
	}
	for _, t := range c.tasks {
		if t.call == k {
			saved.Tasks = append(saved.Tasks, savedTask{t.id, t.session, t.modern, t.created, t.updated, t.ttl, t.isCancelled})
		}
	}
	hasEnded := k.end.result != nil || k.end.err != nil
	if len(saved.Tasks) == 0 && (len(k.rounds.states) == 0 || hasEnded && k.end.delivered > 0) {
		return nil
	}
	maps.Copy(saved.Open, k.toHost.earlier)
	for _, q := range k.toHost.open {
		if q.own != "" {
			saved.Open[q.own] = q.Name
		}
	}
	if hasEnded {
		saved.Ended, saved.Result = cmp.Or(k.end.time, time.Now()), string(k.end.result)
		if k.end.err != nil {
			saved.Error = wireError(k.end.err)
		}
	}
	return saved
}

// Restore restores a call of an earlier daemon. If the call continues, [Upstream] gets it again, with its place.
func (v *View) Restore(place Place, saved *SavedCall) {
	k := newCall(saved.Key, saved.spec())
	k.handle, k.place, k.isSaved = saved.Handle, place, true
	k.rounds.states, k.toHost.names, k.toHost.earlier = saved.States, saved.Names, saved.Open
	k.asked = true // the host may come back to the call
	takes := func(method string, params json.RawMessage) bool { return takes(k.spec.client, method, params) }
	silent := hostRequest{notify: func(string, json.RawMessage) {}, begin: func() {}, takes: takes}
	if len(k.rounds.states) > 0 {
		k.rounds.away = &waiter{hostRequest: silent}
	}
	if !saved.Ended.IsZero() {
		if k.end.time, k.end.result = saved.Ended, json.RawMessage(saved.Result); saved.Error != nil {
			k.end.result, k.end.err = nil, saved.Error
		}
	}
	c := v.callsFor(saved.Host)
	c.mu.Lock()
	isCancelled := len(saved.Tasks) > 0
	for _, t := range saved.Tasks {
		isCancelled = isCancelled && t.Cancelled
		if time.Since(t.Created) < t.TTL {
			restored := &mcpTask{
				id: t.ID, call: k, session: t.Session, modern: t.Modern, created: t.Created, updated: t.Updated, ttl: t.TTL,
				isCancelled: t.Cancelled,
			}
			c.addTask(restored, silent)
			c.running.Go(func() { c.watch(restored, v.notifyTask) })
		}
	}
	switch {
	case !k.end.hasCome():
		c.start(k, v.run(k.spec, place))
		if isCancelled {
			k.cancel(mcpserver.ErrCancelled)
		}
	case len(saved.Tasks) == 0 && time.Since(k.end.time) < resultTTL:
		c.all = append(c.all, k)
	case len(saved.Tasks) == 0:
		k.end.delivered++ // too late
	}
	c.mu.Unlock()
	c.save(k)
}

// awaitRestored waits until the calls of an earlier daemon are restored.
func (v *View) awaitRestored(ctx context.Context) error {
	if v.opts.Restored == nil {
		return nil
	}
	select {
	case <-v.opts.Restored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
