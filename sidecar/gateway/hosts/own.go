package hosts

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"assent/sidecar/config"
	"assent/sidecar/gateway"
)

// ownServers are the person's own servers for a host's face. They keep their names there: a server of the workspace with the
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

// List implements [gateway.Upstream].
func (o ownServers) List(ctx context.Context, server, list string, patience time.Duration) ([]json.RawMessage, error) {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return nil, hostError(err)
	}
	return o.upstream.List(ctx, name, list, patience)
}

// Told implements [gateway.Upstream].
func (o ownServers) Told(server, list string) []json.RawMessage {
	name, err := o.opts.Hub.Own(server)
	if err != nil {
		return nil
	}
	return o.upstream.Told(name, list)
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

// facesOf returns the faces that may have a server of the hub, with its name there.
func (h *Hosts) facesOf(server string) map[*gateway.Face]string {
	h.mu.Lock()
	faces := maps.Clone(h.faces)
	h.mu.Unlock()
	of := map[*gateway.Face]string{}
	for key, face := range faces {
		switch {
		case !key.own && !config.IsOwnName(server):
			of[face] = server
		case key.own:
			if name, err := h.opts.Hub.Own(key.server); err == nil && name == server {
				of[face] = key.server
			}
		}
	}
	return of
}
