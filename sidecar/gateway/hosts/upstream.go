package hosts

import (
	"context"
	"encoding/json"
	"time"

	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub"
)

// upstream is the servers of the hub for the views of hosts. It implements [gateway.Upstream].
type upstream struct {
	*Hosts
	// program is as in [Use].
	program string
}

// programs are the names of a session's host: that of its entry, and that of the client. Both count.
func (h upstream) programs(client mcpserver.Client) (names []string) {
	for _, name := range []string{h.program, gateway.Program(client)} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// permit is [gateway.Options.Permit].
func (h upstream) permit(client mcpserver.Client, server string, tried bool) error {
	return hostError(h.opts.Workspace.Permits(server, tried, h.programs(client)...))
}

// Subscribe implements [gateway.Upstream].
func (h upstream) Subscribe(ctx context.Context, server, uri string) (stop func(), err error) {
	stop, err = h.watches.subscribe(ctx, server, uri)
	return stop, hostError(err)
}

// Servers implements [gateway.Upstream].
func (h upstream) Servers() []string {
	var names []string
	for _, s := range h.opts.Hub.Servers() {
		names = append(names, s.Name)
	}
	return names
}

// Describe implements [gateway.Upstream].
func (h upstream) Describe(ctx context.Context, server string) (gateway.Description, error) {
	if _, err := h.opts.Hub.Definition(server); err != nil { // nothing is read of it
		return gateway.Description{}, hostError(err)
	}
	d, err := h.lists.introduction(ctx, server)
	return d, hostError(err)
}

// List implements [gateway.Upstream].
func (h upstream) List(ctx context.Context, server, list string, waitLimit time.Duration) ([]json.RawMessage, error) {
	pages, err := h.lists.list(ctx, server, list, waitLimit)
	return pages, hostError(err)
}

// Advertised implements [gateway.Upstream].
func (h upstream) Advertised(server, list string) []json.RawMessage {
	return rawPages(h.lists.advertised(server, list))
}

// Send implements [gateway.Upstream]. A call is one of the conversation's task.
func (h upstream) Send(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	request := callRequest(r.Method, r.Params)
	if request == nil {
		ctx, end, err := h.opts.Workspace.Using(ctx, r.Server, h.programs(r.Client)...)
		if err != nil {
			return nil, hostError(err)
		}
		defer end()
		raw, result := h.opts.Hub.Request(ctx, "", r.Server, r.Method, r.Params, hub.Hooks{})
		return raw, endOf(result)
	}
	unfinished, goesOn := h.take(r.Place)
	if r.Place != "" && !goesOn {
		return nil, errLost
	}
	conversation, err := h.begin(r, unfinished)
	if err != nil {
		return nil, hostError(err)
	}
	defer h.endCall(conversation)
	defer h.recordUse(conversation, r.Server)
	c := &call{hosts: h.Hosts, programs: h.programs(r.Client), request: r, of: request, conversation: conversation}
	if goesOn {
		c.unfinished = &unfinished
	}
	return c.run(ctx)
}
