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
	"assent/sidecar/hub"
	"assent/sidecar/reason"
)

const (
	// readPatience is for how long a turn waits at its beginning for the servers that it may have started.
	readPatience = 3 * time.Second
	// readLimit bounds the reading of a server's lists. The start is bounded by the hub, and shorter.
	readLimit = hub.DefaultHandshake + time.Minute
)

// notYet is what the person is told of a server that may still answer.
const notYet = "It has not answered yet. The model gets its tools when it has."

// reading is a server's lists being read, for all turns that want them.
type reading struct {
	began time.Time
	// done is closed when found is there.
	done  chan struct{}
	found offered // all that the server has
}

// read returns the reading of a server's lists that is under way, or begins one. The lock must be held.
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
	c.readings[serverName] = r
	c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(c.readCtx, readLimit)
		defer cancel()
		found := c.list(ctx, serverName)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.readings, serverName)
		c.late[serverName] = time.Since(r.began) > readPatience
		r.found = found
		close(r.done)
	})
	return r
}

// list asks a server what it has.
func (c *Chat) list(ctx context.Context, serverName string) offered {
	found := offered{serverName: serverName}
	if found.tools, found.err = c.servers.Tools(ctx, serverName); found.err != nil {
		return found
	}
	// A server without tools may have resources; one whose resources cannot be listed has its tools.
	var err error
	if found.resources, err = c.servers.Resources(ctx, serverName); err == nil {
		found.templates, err = c.servers.ResourceTemplates(ctx, serverName)
	}
	if err != nil && ctx.Err() == nil {
		c.opts.Log.Info().Err(err).Str("server", serverName).Msg("the resources of a server cannot be listed")
	}
	return found
}

// offers are what the servers of a task have, as far as they have answered in the course of a turn.
type offers struct {
	enabled []protocol.TaskServer
	// readings and found are of the enabled servers, in their order. A reading is nil once its result is in found.
	readings []*reading
	found    []offered
	made     *offer // nil where something was found since
}

// readServers asks the servers that are enabled for the task what they have, and waits for them, but not for long: those
// that answer later are in the offer of the model's next round. One that answered late the last time is not waited for.
// A server that failed, of which the person was told, is not started again by the next turn: it would fail as before, or
// ask once more for what the person did not want to give.
//
// A server that the person has to confirm is waited for until they have: that time is theirs.
func (u *turn) readServers(ctx context.Context) *offers {
	all := u.servers.Servers()
	enabled := enabledServers(all, u.task.Info().Settings)
	o := &offers{enabled: enabled, readings: make([]*reading, len(enabled)), found: make([]offered, len(enabled))}
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
	var awaited []*reading
	u.mu.Lock()
	for i, s := range enabled {
		if o.found[i].err != nil {
			continue
		}
		o.readings[i] = u.read(s.ServerName)
		if !u.late[s.ServerName] {
			awaited = append(awaited, o.readings[i])
		}
	}
	u.mu.Unlock()
	for _, r := range awaited {
		timer := time.NewTimer(time.Until(r.began.Add(readPatience)))
		select {
		case <-r.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	o.take()
	if ctx.Err() == nil {
		u.tellUnavailable(o)
	}
	return o
}

// knownFailure is why a server failed, as its state says.
type knownFailure string

func (f knownFailure) Error() string { return string(f) }

// take puts in what servers have answered since, without waiting.
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
		o.found[i] = r.found.only(o.enabled[i].ToolNames)
	}
}

// only leaves of what a server has the tools of these names; nil means all.
func (f offered) only(toolNames []string) offered {
	if toolNames != nil {
		f.tools = slices.DeleteFunc(slices.Clone(f.tools), func(tool protocol.Tool) bool { return !slices.Contains(toolNames, tool.Name) })
	}
	return f
}

// now returns what the model may call in its next round.
func (o *offers) now() *offer {
	o.take()
	if o.made == nil {
		o.made = newOffer(o.found)
	}
	return o.made
}

// unavailable are the servers whose tools the model does not have.
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

// tellUnavailable tells the person of the servers whose tools the model does not have: of all in one notice, and only
// where one is among them that was not there the last time.
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

// alone is what is said of a server that is the only one not available.
func alone(s protocol.UnavailableServer) string {
	if s.Reason == notYet {
		return fmt.Sprintf("The server %q%s", s.ServerName, strings.TrimPrefix(notYet, "It"))
	}
	return fmt.Sprintf("The server %q is not available: %s", s.ServerName, s.Reason)
}
