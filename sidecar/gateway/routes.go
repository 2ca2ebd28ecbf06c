package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/nearest"
	"assent/sidecar/gateway/mcpserver"
)

// joined are the joined names of all servers' tools or prompts.
type joined struct {
	// all are the pages that the names are of.
	all []serverPages
	// names are the joined names. named is the way back: the tool or prompt of each name.
	names map[qualified]string
	named map[string]qualified
}

// route returns the server that a request of a client is for, and its params as the server has to get them. The error says so
// if the client may not use the server.
func (v *View) route(ctx context.Context, client mcpserver.Client, method string, params json.RawMessage) (string, json.RawMessage, error) {
	server, params, err := v.find(ctx, client, method, params)
	if err == nil {
		err = v.permit(client, server, true)
	}
	return server, params, err
}

// find returns the server that a request is for, and its params as the server has to get them.
func (v *View) find(ctx context.Context, client mcpserver.Client, method string, params json.RawMessage) (string, json.RawMessage, error) {
	if v.opts.Server != "" {
		return v.opts.Server, params, nil
	}
	switch method {
	case "tools/call":
		return v.routeName(ctx, client, listTools, params)
	case "prompts/get":
		return v.routeName(ctx, client, listPrompts, params)
	case "completion/complete":
		ref := jsonscan.Member(params, "ref")
		if jsonscan.Text(ref, "type") == "ref/prompt" {
			server, changed, err := v.routeName(ctx, client, listPrompts, ref)
			if err != nil {
				return "", nil, err
			}
			return server, jsonscan.With(params, "ref", changed), nil
		}
		server, err := v.serverOf(ctx, client, jsonscan.Text(ref, "uri"))
		return server, params, err
	}
	server, err := v.serverOf(ctx, client, jsonscan.Text(params, "uri"))
	return server, params, err
}

// routeName finds the server of a joined name, and puts the server's own name into the params. It asks no server but those
// that the name can be of, and these only if their list is not known.
func (v *View) routeName(ctx context.Context, client mcpserver.Client, list string, params json.RawMessage) (string, json.RawMessage, error) {
	name := jsonscan.Text(params, "name")
	all := v.advertised(list)
	q, ok := v.join(list, all).named[name]
	if !ok {
		var err error
		if q, err = v.lookUp(ctx, client, list, name, all); err != nil {
			return "", nil, err
		}
	}
	return q.server, jsonscan.With(params, "name", jsonscan.Quote(q.name)), nil
}

// lookUp finds a joined name that no list of before has. A server without a list gets the rest of the name: it is
// what the host means, and the server may answer calls.
func (v *View) lookUp(ctx context.Context, client mcpserver.Client, list, name string, all []serverPages) (qualified, error) {
	var rests []qualified
	for i, of := range all {
		rest, may := restOf(of.server, name)
		if !may || of.pages != nil {
			continue
		}
		err := v.permit(client, of.server, false) // a server that is not permitted is not asked
		if err == nil {
			all[i].pages, err = v.upstream.List(ctx, of.server, list, listWaitLimit)
		}
		if err != nil && rest != "" {
			rests = append(rests, qualified{of.server, rest})
		}
	}
	q, ok := v.join(list, all).named[name]
	switch {
	case ok:
		return q, nil
	case len(rests) == 1:
		return rests[0], nil
	case len(rests) > 1:
		var servers []string
		for _, q := range rests {
			servers = append(servers, q.server)
		}
		return q, ambiguous(name, servers)
	}
	said := fmt.Sprintf("there is no %q", name)
	if near := nearest.Name(name, slices.Sorted(maps.Keys(v.join(list, all).named))); near != "" {
		said += fmt.Sprintf("; did you mean %q?", near)
	}
	return q, &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: said}
}

// ambiguous is the error of what several servers have.
func ambiguous(what string, servers []string) error {
	return &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf(
		"%q can be of the servers %s. Assent does not guess: name one of them in the host's entry, as in \"assent gateway %s\"",
		what, strings.Join(servers, " and "), servers[0])}
}

// serverOf finds the server of a resource: the one that lists it or, failing that, the one with a template that begins like
// it. More than one is an error, because the resources of two servers are not the same.
func (v *View) serverOf(ctx context.Context, client mcpserver.Client, uri string) (string, error) {
	var resources, templates []serverPages
	var asking sync.WaitGroup
	asking.Go(func() { resources = v.gather(ctx, client, listResources) })
	asking.Go(func() { templates = v.gather(ctx, client, listTemplates) })
	asking.Wait()
	best, found := -1, []string(nil)
	match := func(server string, length int) {
		if length > best {
			best, found = length, nil
		}
		if length == best && !slices.Contains(found, server) {
			found = append(found, server)
		}
	}
	for _, of := range resources {
		for _, item := range itemsOf(of.pages, listResources) {
			if jsonscan.Text(item, "uri") == uri {
				match(of.server, len(uri)+1)
			}
		}
	}
	for _, of := range templates {
		for _, item := range itemsOf(of.pages, listTemplates) {
			template := jsonscan.Text(item, "uriTemplate")
			if fixed, _, _ := strings.Cut(template, "{"); template == uri {
				match(of.server, len(uri)+1)
			} else if strings.HasPrefix(uri, fixed) {
				match(of.server, len(fixed))
			}
		}
	}
	switch len(found) {
	case 0:
		return "", &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: fmt.Sprintf("no server has the resource %q", uri)}
	case 1:
		return found[0], nil
	default:
		return "", ambiguous(uri, found)
	}
}

// join returns the joined names of all servers' tools or prompts. They are made again when a list has changed: every call
// needs them, and reading the lists of ten servers takes longer than the rest of a call.
func (v *View) join(list string, all []serverPages) *joined {
	v.mu.Lock()
	last := v.joined[list]
	v.mu.Unlock()
	if last != nil && slices.EqualFunc(last.all, all, serverPages.isSame) {
		return last
	}
	j := &joined{all: slices.Clone(all), named: map[string]qualified{}}
	var each []qualified
	for _, of := range all {
		for _, item := range itemsOf(of.pages, list) {
			each = append(each, qualified{of.server, jsonscan.Text(item, "name")})
		}
	}
	j.names = joinedNames(each)
	for q, name := range j.names {
		j.named[name] = q
	}
	v.mu.Lock()
	v.joined[list] = j
	v.mu.Unlock()
	return j
}

func (p serverPages) isSame(other serverPages) bool {
	return p.server == other.server && slices.EqualFunc(p.pages, other.pages, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}
