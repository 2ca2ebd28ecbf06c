package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker"
	"assent/sidecar/hub"
)

// changedTools stops calls of hosts whose tool has changed since it was last let run, until the person has seen the change.
// A tool is what the host was told of it, which is what its model and its person rely on.
type changedTools struct {
	// pages returns the list of a server's tools as hosts got it; nil if none did.
	pages func(server string) []verbatimJSON
	// ask asks about a call if its tool has changed; see [broker.Broker.UseChangedTool].
	ask func(ctx context.Context, taskID string, q protocol.UseMcpTool) error

	mu      sync.Mutex // guards what follows
	servers map[string]*advertisedTools
	// asking are the tools that are being compared, or about which the person is asked. The channel is closed after that.
	asking map[toolKey]chan struct{}
}

// toolKey identifies a tool.
type toolKey struct{ server, name string }

// advertisedTools are the tools of one list. The list is read once, because it can be long, and every call needs it.
type advertisedTools struct {
	pages []verbatimJSON
	tools map[string]json.RawMessage
	// passed are those that need no further look.
	passed map[string]bool
}

// check returns nil if a call may run. Otherwise it returns the result that the host gets. Calls of one tool wait for each
// other here, so that the person is asked once.
func (c *changedTools) check(ctx context.Context, taskID string, q protocol.UseMcpTool) json.RawMessage {
	at := toolKey{q.ServerName, q.Tool.Name}
	pages := c.pages(at.server)
	for {
		c.mu.Lock()
		advertised := c.advertised(at.server, pages)
		raw, listed := advertised.tools[at.name]
		if !listed || advertised.passed[at.name] {
			c.mu.Unlock()
			return nil
		}
		other := c.asking[at]
		if other == nil {
			c.asking[at] = make(chan struct{})
			c.mu.Unlock()
			return c.compare(ctx, taskID, q, at, advertised, raw)
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return refusedCall("The call was not made: it was cancelled.")
		}
	}
}

// compare compares a tool, and asks the person if it has changed.
func (c *changedTools) compare(ctx context.Context, taskID string, q protocol.UseMcpTool, at toolKey, advertised *advertisedTools, raw json.RawMessage) json.RawMessage {
	name := q.Tool.Name
	err := errors.New("the tool was not compared") // if ask panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			advertised.passed[name] = true
		}
		close(c.asking[at])
		delete(c.asking, at)
	}()
	tool, unread := hub.ParseTool(raw)
	if unread != nil {
		tool = protocol.Tool{Description: string(raw)} // as the host may read it
	}
	q.Tool = tool
	q.Tool.Name = name
	err = c.ask(ctx, taskID, q)
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*broker.NotApproved](err); ok {
		return refusedCall(refused.Error())
	}
	return refusedCall("The call was not made: " + hostError(err).Error())
}

// advertised returns the tools of a list. The lock must be held.
func (c *changedTools) advertised(server string, pages []verbatimJSON) *advertisedTools {
	if t := c.servers[server]; t != nil && isSame(t.pages, pages) {
		return t
	}
	t := &advertisedTools{pages: pages, tools: map[string]json.RawMessage{}, passed: map[string]bool{}}
	for _, page := range pages {
		var list struct {
			Tools []json.RawMessage `json:"tools"`
		}
		if jsonscan.Unmarshal(page, &list) != nil {
			continue
		}
		for _, raw := range list.Tools {
			var named struct {
				Name string `json:"name"`
			}
			if jsonscan.Unmarshal(raw, &named) == nil {
				t.tools[named.Name] = append(slices.Clip(t.tools[named.Name]), raw...) // a name that occurs twice has both texts
			}
		}
	}
	c.servers[server] = t
	return t
}

// refusedCall is the result of a call that was not made, with a text for the host's model.
func refusedCall(text string) json.RawMessage {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	raw, err := json.Marshal(struct {
		Content []block `json:"content"`
		IsError bool    `json:"isError"`
	}{[]block{{"text", text}}, true})
	if err != nil {
		return json.RawMessage(`{"content":[],"isError":true}`) // texts can always be encoded
	}
	return raw
}
