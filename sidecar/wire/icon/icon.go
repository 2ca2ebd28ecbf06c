// Package icon reads the icons of MCP servers and of what they offer (2025-11-25, "Icons"; SEP-973), and chooses and checks
// them.
//
// An icon is whatever a server wrote. [Collect] returns only images that a page can show as they are: data: URIs of
// small pictures, checked by their contents. It fetches nothing.
//
// The functions have no state. The package does not read lists from servers.
package icon

import (
	"bytes"
	"encoding/json"

	"assent/sidecar/base/jsonscan"
)

const (
	// maxIcons is how many icons of one thing are looked at, and maxThings how many things of a list.
	maxIcons  = 16
	maxThings = 1000
	// maxSrc is the most bytes of a src: those of the largest picture in base64, and its media type.
	maxSrc = MaxBytes/3*4 + 200
	// maxKept is the most bytes of all srcs of a list that are kept.
	maxKept = 4 << 20
)

// Icon is an icon as a server declares it.
type Icon struct {
	Src      string
	MIMEType string
	// Sizes are as in "48x48", or "any". They are empty if the server gives none.
	Sizes []string
	// Theme is "light", "dark", or empty for both.
	Theme string
}

// Thing is something that has icons: a server, a tool, a resource, a resource template or a prompt.
type Thing struct {
	// Key identifies it in its list; empty for a server.
	Key   string
	Icons []Icon
}

// OfServer returns the icons in the result of a handshake, of either era.
func OfServer(handshake json.RawMessage) []Icon {
	type implementation struct {
		Icons json.RawMessage `json:"icons"`
	}
	var result struct {
		Info implementation `json:"serverInfo"`
		Meta struct {
			Info implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if !mayHaveIcons(handshake) || jsonscan.Unmarshal(handshake, &result) != nil {
		return nil
	}
	if icons := read(result.Info.Icons); icons != nil {
		return icons
	}
	return read(result.Meta.Info.Icons)
}

// OfList returns the things with icons in the pages of a list. The list is the member of a page, and the key is the member
// that identifies a thing in it.
func OfList(pages []json.RawMessage, list, key string) []Thing {
	var things []Thing
	kept := 0
	for _, raw := range pages {
		if !mayHaveIcons(raw) {
			continue
		}
		var page map[string]json.RawMessage
		var items []map[string]json.RawMessage
		if json.Unmarshal(raw, &page) != nil || json.Unmarshal(page[list], &items) != nil {
			continue // who reads the list says so
		}
		for _, item := range items {
			thing := Thing{Icons: read(item["icons"])}
			if thing.Icons == nil || json.Unmarshal(item[key], &thing.Key) != nil {
				continue
			}
			for _, i := range thing.Icons {
				kept += len(i.Src)
			}
			if len(things) == maxThings || kept > maxKept {
				return things
			}
			things = append(things, thing)
		}
	}
	return things
}

// mayHaveIcons saves the decoding of what names no icons.
func mayHaveIcons(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"icons"`)) }

// read returns the icons that can be read. The others are left out, since an icon is no reason to refuse a list.
func read(raw json.RawMessage) []Icon {
	var all []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var icons []Icon
	for _, one := range all[:min(len(all), maxIcons)] {
		var i struct {
			Src      string          `json:"src"`
			MIMEType json.RawMessage `json:"mimeType"`
			Sizes    json.RawMessage `json:"sizes"`
			Theme    json.RawMessage `json:"theme"`
		}
		if jsonscan.Unmarshal(one, &i) != nil || i.Src == "" || len(i.Src) > maxSrc {
			continue
		}
		icon := Icon{Src: i.Src, MIMEType: text(i.MIMEType), Theme: text(i.Theme)}
		if size := text(i.Sizes); size != "" { // early drafts had a text
			icon.Sizes = []string{size}
		} else if json.Unmarshal(i.Sizes, &icon.Sizes) != nil || len(icon.Sizes) > maxIcons {
			icon.Sizes = nil
		}
		icons = append(icons, icon)
	}
	return icons
}

// text returns a JSON string, or "" if raw is none.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
