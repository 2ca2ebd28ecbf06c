package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/gateway/mcpserver"
)

// listWaitLimit is for how long a list of all servers waits for a server that starts. Some hosts give up a list after five
// seconds, and then have no tool of any server.
const listWaitLimit = 2 * time.Second

// The lists of a server, named after the member of a result that has the items.
const (
	listTools     = "tools"
	listPrompts   = "prompts"
	listResources = "resources"
	listTemplates = "resourceTemplates"
)

// lists are the methods that read a list.
var lists = map[string]string{
	"tools/list":               listTools,
	"prompts/list":             listPrompts,
	"resources/list":           listResources,
	"resources/templates/list": listTemplates,
}

// changes are the notifications of lists that changed, and what a host listens for since 2026-07-28.
var changes = map[string]struct {
	method  string
	matches func(mcpserver.Filter) bool
}{
	listTools:     {"notifications/tools/list_changed", func(v mcpserver.Filter) bool { return v.ToolsListChanged }},
	listPrompts:   {"notifications/prompts/list_changed", func(v mcpserver.Filter) bool { return v.PromptsListChanged }},
	listResources: {"notifications/resources/list_changed", func(v mcpserver.Filter) bool { return v.ResourcesListChanged }},
	listTemplates: {"notifications/resources/list_changed", func(v mcpserver.Filter) bool { return v.ResourcesListChanged }},
}

// ListChanged tells the hosts that a list of a server has changed. It does not wait for them.
func (v *View) ListChanged(server, list string) {
	change, ok := changes[list]
	if !ok || v.opts.Server != "" && v.opts.Server != server {
		return
	}
	v.mu.Lock()
	sessions := slices.Collect(maps.Keys(v.sessions))
	v.mu.Unlock()
	v.publish(sessions, change.method, nil, change.matches)
}

// errCursor is the error of a cursor that no page had.
var errCursor = &mcpserver.Error{Code: mcpserver.CodeInvalidParams, Message: "the cursor is not known; read the list from its beginning"}

// cursorOf returns the cursor of a request for a list, or "" for the first page.
func cursorOf(params json.RawMessage) (cursor string, err error) {
	if value := jsonscan.Member(params, "cursor"); value != nil && json.Unmarshal(value, &cursor) != nil {
		return "", errCursor
	}
	return cursor, nil
}

// list answers one of the lists.
func (v *View) list(ctx context.Context, r *mcpserver.Request) (json.RawMessage, error) {
	list := lists[r.Method]
	extra := list == listTools && known(r.Client).clock.limit > 0
	if v.opts.Server != "" {
		return v.listOne(ctx, r, extra)
	}
	if cursor, err := cursorOf(r.Params); err != nil || cursor != "" { // all servers are on one page
		return nil, errCursor
	}
	items := []json.RawMessage{}
	all := v.gather(ctx, r.Client, list)
	var names map[qualified]string
	if list == listTools || list == listPrompts {
		names = v.join(list, all).names
	}
	for _, of := range all {
		if of.isBlocked {
			continue
		}
		for _, item := range itemsOf(of.pages, list) {
			if list == listTools {
				if !isFor(r.Client, item) {
					continue
				}
				item = toolFor(r.Client, item)
			}
			if names != nil {
				q := qualified{of.server, jsonscan.Text(item, "name")}
				item = renamed(item, q, names[q])
			}
			items = append(items, item)
		}
	}
	if extra {
		items = append(items, continueDefinition)
	}
	return complete(r, append(jsonscan.AppendMember([]byte{'{'}, list, jsonscan.Array(items)), '}')), nil
}

// listOne returns the page of a server's list that a host asks for, as it is. With extra, the last page has the tool
// that continues a call, too.
func (v *View) listOne(ctx context.Context, r *mcpserver.Request, extra bool) (json.RawMessage, error) {
	list := lists[r.Method]
	if err := v.permit(r.Client, v.opts.Server, true); err != nil {
		return nil, err
	}
	pages, err := v.pagesForHosts(ctx, r.Client, v.opts.Server, list)
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		pages = []json.RawMessage{append(jsonscan.AppendMember([]byte{'{'}, list, json.RawMessage("[]")), '}')}
	}
	cursor, err := cursorOf(r.Params)
	if err != nil {
		return nil, err
	}
	at := 0
	for ; cursor != "" && at < len(pages); at++ {
		if jsonscan.Text(pages[at], "nextCursor") == cursor {
			at++
			break
		}
	}
	if at >= len(pages) {
		return nil, errCursor
	}
	page := pages[at]
	if extra && at == len(pages)-1 {
		page = jsonscan.Edit(page, func(name string, value json.RawMessage) json.RawMessage {
			if name != list || len(value) < len("[]") {
				return value
			}
			open := value[: len(value)-1 : len(value)-1]
			if open[len(open)-1] != '[' {
				open = append(open, ',')
			}
			return append(append(open, continueDefinition...), ']')
		})
	}
	return complete(r, page), nil
}

// pagesForHosts returns a list of a server as hosts get it.
func (v *View) pagesForHosts(ctx context.Context, client mcpserver.Client, server, list string) ([]json.RawMessage, error) {
	pages, err := v.upstream.List(ctx, server, list, 0)
	if err != nil || list != listTools {
		return pages, err
	}
	edited := make([]json.RawMessage, len(pages))
	for i, page := range pages {
		edited[i] = jsonscan.Edit(page, func(name string, value json.RawMessage) json.RawMessage {
			var tools []json.RawMessage
			if name != list || json.Unmarshal(value, &tools) != nil {
				return value
			}
			tools = slices.DeleteFunc(tools, func(tool json.RawMessage) bool { return !isFor(client, tool) })
			for i, tool := range tools {
				tools[i] = toolFor(client, tool)
			}
			return jsonscan.Array(tools)
		})
	}
	return edited, nil
}

// serverPages are the pages of a list of one server.
type serverPages struct {
	server string
	pages  []json.RawMessage
	// isBlocked: the client may not use the server.
	isBlocked bool
}

// gather returns a list of all servers, as far as they answer in time. All are asked at once: one that hangs, or cannot be
// asked, takes nothing from the others. Servers that the client may not use are not asked. Their known lists are there, so that
// the names of all tools stay the same, and a request for one is refused with the reason.
func (v *View) gather(ctx context.Context, client mcpserver.Client, list string) []serverPages {
	var all []serverPages
	for _, server := range v.upstream.Servers() {
		all = append(all, serverPages{server: server})
	}
	var asking sync.WaitGroup
	for i := range all {
		if all[i].isBlocked = v.permit(client, all[i].server, false) != nil; all[i].isBlocked {
			all[i].pages = v.upstream.Advertised(all[i].server, list)
			continue
		}
		asking.Go(func() { all[i].pages, _ = v.upstream.List(ctx, all[i].server, list, listWaitLimit) })
	}
	asking.Wait()
	return all
}

// advertised returns a list of all servers as hosts got it last.
func (v *View) advertised(list string) (all []serverPages) {
	for _, server := range v.upstream.Servers() {
		all = append(all, serverPages{server: server, pages: v.upstream.Advertised(server, list)})
	}
	return all
}

// itemsOf returns the items on the pages of a list.
func itemsOf(pages []json.RawMessage, list string) []json.RawMessage {
	var all []json.RawMessage
	for _, page := range pages {
		var items []json.RawMessage
		if json.Unmarshal(jsonscan.Member(page, list), &items) == nil {
			all = append(all, items...)
		}
	}
	return all
}

// cacheable are the methods with results that say since 2026-07-28 for how long they can be kept ("Caching"), and those of the
// extension for skills.
var cacheable = []string{
	"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "resources/directory/read",
	"skills/list", "skills/get",
}

// complete returns a result as the host's revision has it, also from a server of another one: since 2026-07-28 each has a
// type, and some say for how long they can be kept. A member that the server wrote well stays.
func complete(r *mcpserver.Request, result json.RawMessage) json.RawMessage {
	if len(result) == 0 || result[0] != '{' || !r.Client.Modern() {
		return result
	}
	set := func(name, value string, isGood bool) {
		if !isGood {
			result = jsonscan.With(result, name, json.RawMessage(value))
		}
	}
	kind := jsonscan.Text(result, "resultType")
	set("resultType", `"complete"`, kind != "")
	if kind != "" && kind != "complete" || !slices.Contains(cacheable, r.Method) {
		return result
	}
	var ttl float64
	err := json.Unmarshal(jsonscan.Member(result, "ttlMs"), &ttl)
	scope := jsonscan.Text(result, "cacheScope")
	set("ttlMs", "0", err == nil && ttl >= 0)
	set("cacheScope", `"private"`, scope == "private" || scope == "public")
	return result
}
