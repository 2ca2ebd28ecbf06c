package hub

import (
	"context"
	"encoding/json"
	"sync"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
)

// server is a configured server: its connections, the exchanges with it, and its lists. It is the handler of its connections
// and the list of tools for its exchanges.
type server struct {
	*session.Server
	*exchange.Exchanges
	lists *listCache
	icons *icons
	// resourceUpdated gets the params of notifications/resources/updated.
	resourceUpdated func(params json.RawMessage)
	// identity returns the [config.Server.Identity].
	identity func() string
}

var (
	_ session.Handler = (*server)(nil)
	_ exchange.Tools  = (*server)(nil)
)

func newServer(h *Hub, c config.Server) *server {
	s := &server{resourceUpdated: func(params json.RawMessage) { h.resourceUpdated(c.Name, params) }}
	s.Server = h.dialer.NewServer(c, s)
	s.Exchanges = exchange.New(h.exchanges, s.Server, s)
	s.icons = newIcons(s.Server)
	s.identity = func() string { return c.Identity(context.Background(), h.environment) }
	if c.EnvFile == "" { // that file may change, and nothing else can
		s.identity = sync.OnceValue(s.identity)
	}
	s.lists = newListCache(func(kind protocol.ListKind) { h.listChanged(c.Name, kind) })
	return s
}

// retire ends every connection; the server starts no more.
func (s *server) retire(why session.Stopped) {
	s.lists.close()
	s.Retire(why)
}

func (s *server) name() string { return s.Config().Name }

// Notifications implements [session.Handler].
func (s *server) Notifications(c *session.Conn) map[string]func(params json.RawMessage) {
	changed := func(kind protocol.ListKind) func(json.RawMessage) {
		return func(json.RawMessage) { s.lists.change(kind) }
	}
	all := s.Exchanges.Notifications(c)
	all["notifications/tools/list_changed"] = changed(protocol.ListTools)
	all["notifications/prompts/list_changed"] = changed(protocol.ListPrompts)
	all["notifications/resources/list_changed"] = changed(protocol.ListResources)
	all["notifications/resources/updated"] = s.resourceUpdated
	return all
}

// Ended implements [session.Handler].
func (s *server) Ended() {
	s.Exchanges.Ended()
	s.lists.clear()
}

// ToolPages implements [exchange.Tools].
func (s *server) ToolPages(ctx context.Context) ([]json.RawMessage, error) {
	return s.list(ctx, protocol.ListTools)
}

// ToolsVersion implements [exchange.Tools].
func (s *server) ToolsVersion() int { return s.lists.generation(protocol.ListTools) }

// ForgetLists implements [exchange.Tools].
func (s *server) ForgetLists() { s.lists.clear() }
