package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/hub"
)

const (
	// readLimit bounds one reading of a server's lists. The hub bounds the start, which is shorter.
	readLimit = hub.DefaultHandshake + time.Minute
	// waitUpdate is how often a turn says which servers it waits for. A shorter wait is not worth a word.
	waitUpdate = time.Second
)

// notYet is the reason for a server that may still answer.
const notYet = "It has not answered yet. The model answers without its tools."

// reading reads a server's lists once, for all turns.
type reading struct {
	began  time.Time
	cancel context.CancelFunc
	// done is closed when found is set.
	done  chan struct{}
	found offered
}

// read joins the running reading of a server's lists, or begins one. The lock must be held.
func (c *Chat) read(serverName string) *reading {
	if r := c.readings[serverName]; r != nil {
		return r
	}
	r := &reading{began: time.Now(), done: make(chan struct{})}
	if c.closed {
		r.found = offered{serverName: serverName, err: errClosing}
		close(r.done)
		return r
	}
	var ctx context.Context
	ctx, r.cancel = context.WithTimeout(context.Background(), readLimit)
	c.readings[serverName] = r
	c.wg.Go(func() {
		defer r.cancel()
		found := c.list(ctx, serverName)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.readings, serverName)
		c.unawaited[serverName] = found.err != nil && ctx.Err() != nil
		if c.unawaited[serverName] {
			found.err = knownFailure(notYet)
		}
		r.found = found
		close(r.done)
	})
	return r
}

// list reads a server's tools, resources and resource templates.
func (c *Chat) list(ctx context.Context, serverName string) offered {
	found := offered{serverName: serverName}
	if found.tools, found.err = c.servers.Tools(ctx, serverName); found.err != nil {
		return found
	}
	found.tools = slices.DeleteFunc(slices.Clone(found.tools), func(tool protocol.Tool) bool { return tool.NotForModels })
	// Tools, resources and templates are listed independently: a failure of one does not affect the
	// others.
	var err error
	if found.resources, err = c.servers.Resources(ctx, serverName); err == nil {
		found.templates, err = c.servers.ResourceTemplates(ctx, serverName)
	}
	if err != nil && ctx.Err() == nil {
		c.opts.Log.Info().Err(err).Str("server", serverName).Msg("the resources of a server cannot be listed")
	}
	return found
}

// offers holds the lists of a task's servers. Lists are added during a turn, as the servers answer.
type offers struct {
	enabled []protocol.TaskServer
	// readings and found are of the enabled servers, in their order. A reading is nil once its result is in found.
	readings []*reading
	found    []offered
	awaited  []bool // the servers that the turn waits for
	made     *offer // nil if lists were added since
}

// readServers reads the lists of the task's servers, and waits until they have answered, or the person skips those that
// have not. Skipped servers join the offer of the model's next round once they answer. The turn does not start a failed
// server again after the person was notified: the server would fail as before, or ask again for an input that the person
// refused.
//
// The turn waits without a limit while the person decides whether a server may run.
func (u *turn) readServers(ctx context.Context) *offers {
	all := u.servers.Servers()
	enabled := enabledServers(all, u.task.Info().Settings)
	o := &offers{enabled: enabled, readings: make([]*reading, len(enabled)), found: make([]offered, len(enabled)), awaited: make([]bool, len(enabled))}
	var confirming sync.WaitGroup
	u.mu.Lock()
	for i, s := range enabled {
		o.found[i].serverName = s.ServerName
		at := slices.IndexFunc(all, func(known protocol.Server) bool { return known.Name == s.ServerName })
		if all[at].State == protocol.ServerFailed && u.told[u.taskID][s.ServerName] {
			o.found[i].err = knownFailure(all[at].Reason)
			continue
		}
		confirming.Go(func() { o.found[i].err = u.servers.Confirm(ctx, s.ServerName) })
	}
	u.mu.Unlock()
	confirming.Wait()
	u.mu.Lock()
	for i, s := range enabled {
		if o.found[i].err != nil {
			continue
		}
		o.readings[i] = u.read(s.ServerName)
		o.awaited[i] = u.again || !u.unawaited[s.ServerName]
	}
	u.mu.Unlock()
	u.awaitServers(ctx, o)
	if ctx.Err() == nil {
		u.tellUnavailable(o)
	}
	return o
}

// awaitServers waits for the readings, until the person skips those that have not ended, or ctx ends.
func (u *turn) awaitServers(ctx context.Context, o *offers) {
	waiting, skip := context.WithCancel(ctx)
	defer skip()
	u.mu.Lock()
	u.skip = skip
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		u.skip = nil
		u.mu.Unlock()
		u.task.AwaitServers(nil, time.Time{})
	}()
	tick := time.NewTicker(waitUpdate)
	defer tick.Stop()
	for {
		o.take()
		names, first := o.pending()
		if first == nil {
			return
		}
		select {
		case <-first.done:
		case <-tick.C:
			o.take()
			names, _ = o.pending()
			u.task.AwaitServers(names, first.began)
		case <-waiting.Done():
			if ctx.Err() == nil {
				u.mu.Lock()
				for _, name := range names {
					u.unawaited[name] = u.readings[name] != nil
				}
				u.mu.Unlock()
			}
			return
		}
	}
}

// pending returns the names of the servers that the turn waits for, and the reading that began first; nil if there is none.
func (o *offers) pending() (names []string, first *reading) {
	for i, r := range o.readings {
		if r == nil || !o.awaited[i] {
			continue
		}
		names = append(names, o.enabled[i].ServerName)
		if first == nil || r.began.Before(first.began) {
			first = r
		}
	}
	return names, first
}

// knownFailure is the reason of a failed server.
type knownFailure string

func (f knownFailure) Error() string { return string(f) }

// take adds the lists of servers that have answered since the last call. It does not wait.
func (o *offers) take() {
	for i, r := range o.readings {
		if r == nil {
			continue
		}
		select {
		case <-r.done:
		default:
			continue
		}
		o.readings[i], o.made = nil, nil
		o.found[i] = r.found.withTools(o.enabled[i].ToolNames)
	}
}

// withTools keeps only the tools with these names; nil keeps all.
func (f offered) withTools(toolNames []string) offered {
	if toolNames != nil {
		f.tools = slices.DeleteFunc(slices.Clone(f.tools), func(tool protocol.Tool) bool { return !slices.Contains(toolNames, tool.Name) })
	}
	return f
}

// now returns the offer for the model's next round.
func (o *offers) now() *offer {
	o.take()
	if o.made == nil {
		o.made = newOffer(o.found)
	}
	return o.made
}

// unavailable returns the servers without tools in the offer.
func (o *offers) unavailable() (servers []protocol.UnavailableServer) {
	for i, f := range o.found {
		why := ""
		var unusable *hub.UnusableError
		switch {
		case o.readings[i] != nil:
			why = notYet
		case errors.As(f.err, &unusable):
			why = unusable.Why
		case f.err != nil:
			why = reason.Of(f.err)
		default:
			continue
		}
		servers = append(servers, protocol.UnavailableServer{ServerName: f.serverName, Reason: why})
	}
	return servers
}

// tellUnavailable adds one notice that lists the servers with tools that are missing. It adds none if the last notice named
// all of them.
func (u *turn) tellUnavailable(o *offers) {
	servers := o.unavailable()
	names := map[string]bool{}
	u.mu.Lock()
	news := false
	for _, s := range servers {
		names[s.ServerName] = true
		news = news || !u.told[u.taskID][s.ServerName]
	}
	u.told[u.taskID] = names
	u.mu.Unlock()
	if !news {
		return
	}
	text := fmt.Sprintf("%d of %d servers are not available.", len(servers), len(o.enabled))
	if len(servers) == 1 {
		text = alone(servers[0])
	}
	u.task.Tell(protocol.Notice{Level: protocol.NoticeWarning, Text: text, Unavailable: servers})
}

// alone returns the notice's text for one unavailable server.
func alone(s protocol.UnavailableServer) string {
	if s.Reason == notYet {
		return fmt.Sprintf("The server %q%s", s.ServerName, strings.TrimPrefix(notYet, "It"))
	}
	return fmt.Sprintf("The server %q is not available: %s", s.ServerName, s.Reason)
}
