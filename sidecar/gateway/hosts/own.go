package hosts

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"assent/sidecar/config"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
)

// ownServers are the person's own servers for a host's view. They keep their names there: a server of the workspace with the
// same name never takes the place of an own one.
type ownServers struct{ upstream }

// Describe implements [gateway.Upstream].
func (o ownServers) Describe(ctx context.Context, server string) (gateway.Description, error) {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return gateway.Description{}, hostError(err)
	}
	return o.upstream.Describe(ctx, name)
}

// permit is [gateway.Options.Permit].
func (o ownServers) permit(client mcpserver.Client, server string, tried bool) error {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return hostError(err)
	}
	return o.upstream.permit(client, name, tried)
}

// List implements [gateway.Upstream].
func (o ownServers) List(ctx context.Context, server, list string, waitLimit time.Duration) ([]json.RawMessage, error) {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return nil, hostError(err)
	}
	return o.upstream.List(ctx, name, list, waitLimit)
}

// Told implements [gateway.Upstream].
func (o ownServers) Advertised(server, list string) []json.RawMessage {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return nil
	}
	return o.upstream.Advertised(name, list)
}

// Send implements [gateway.Upstream].
func (o ownServers) Send(ctx context.Context, r gateway.Request) (json.RawMessage, error) {
	var err error
	if r.Server, err = o.opts.Hub.Own(r.Server); err != nil {
		return nil, hostError(err)
	}
	return o.upstream.Send(ctx, r)
}

// Subscribe implements [gateway.Upstream].
func (o ownServers) Subscribe(ctx context.Context, server, uri string) (stop func(), err error) {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return nil, hostError(err)
	}
	return o.upstream.Subscribe(ctx, name, uri)
}

// viewsOf returns the views that may have a server of the hub, with its name there.
func (h *Hosts) viewsOf(server string) map[*gateway.View]string {
	h.mu.Lock()
	views := maps.Clone(h.views)
	h.mu.Unlock()
	of := map[*gateway.View]string{}
	for key, view := range views {
		switch {
		case !key.own && !config.IsOwnName(server):
			of[view] = server
		case key.own:
			if name, err := h.opts.Hub.Own(key.server); err == nil && name == server {
				of[view] = key.server
			}
		}
	}
	return of
}
