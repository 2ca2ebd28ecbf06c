package hub

import (
	"encoding/json"
	"reflect"
	"sync"

	"assent/protocol"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire/icon"
)

// icons are the icons of a server and of what it offers. They stay when the server ends, since the calls that it served are
// still shown. They may be used from any goroutine.
type icons struct {
	server *session.Server

	mu sync.Mutex // guards listings
	// listings are the things with icons of each list, as it was last read.
	listings map[protocol.ListKind][]icon.Thing
}

func newIcons(s *session.Server) *icons {
	return &icons{server: s, listings: map[protocol.ListKind][]icon.Thing{}}
}

// iconKeys are the members that identify the things of each list.
var iconKeys = map[protocol.ListKind]string{
	protocol.ListTools: "name", protocol.ListResources: "uri", ListTemplates: "uriTemplate", protocol.ListPrompts: "name",
}

// listed notes a list that was just read.
func (i *icons) listed(kind protocol.ListKind, pages []json.RawMessage) {
	things := icon.OfList(pages, string(kind), iconKeys[kind])
	i.mu.Lock()
	changed := !reflect.DeepEqual(i.listings[kind], things)
	i.listings[kind] = things
	i.mu.Unlock()
	if changed {
		i.server.IconsChanged()
	}
}

// Icons returns the icons of a server, and of those of its offers that were listed. It does not start the server.
func (h *Hub) Icons(serverName string) (*protocol.ListIconsResult, error) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, err
	}
	own := s.Icons()
	i := s.icons
	i.mu.Lock()
	offered := icon.Offered{
		Server: own, Tools: i.listings[protocol.ListTools], Resources: i.listings[protocol.ListResources],
		Templates: i.listings[ListTemplates], Prompts: i.listings[protocol.ListPrompts],
	}
	i.mu.Unlock()
	return icon.Collect(offered), nil
}
