package session

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/wire"
	"assent/sidecar/wire/apps"
)

// tasksExtension is the extension that adds MCP tasks to 2026-07-28.
const tasksExtension = "io.modelcontextprotocol/tasks"

// capabilities returns the client capabilities for servers of an era. They are those of the front ends. Roots are declared
// only if they were given, and in [wire.EraModern] only with calls, because tasks with other roots share the connection.
func (d *Dialer) capabilities(era wire.Era, callsTools bool, roots givenRoots) *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{}
	if roots.from != noRoots && era == wire.EraLegacy {
		c.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	}
	if d.opts.Capabilities().Elicitation {
		c.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		if d.opts.Capabilities().OpenURL {
			c.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
	}
	if era == wire.EraModern {
		c.AddExtension(tasksExtension, nil)
	}
	if d.opts.Capabilities().Apps {
		c.AddExtension(apps.Extension, d.appsCapability())
	}
	if d.opts.Capabilities().Sampling {
		c.Sampling = &mcp.SamplingCapabilities{Context: &mcp.SamplingContextCapabilities{}}
		if callsTools {
			c.Sampling.Tools = &mcp.SamplingToolsCapabilities{}
		}
	}
	return c
}

func (d *Dialer) appsCapability() map[string]any {
	c := d.opts.Capabilities()
	return apps.Capability(c.AppForms && c.Elicitation)
}

// introduction returns the same capabilities as JSON, in the forms of both eras.
func (d *Dialer) introduction(callsTools bool, roots givenRoots) wire.Introduction {
	extensions := map[string]any{tasksExtension: struct{}{}}
	modern, legacy := map[string]any{"extensions": extensions}, map[string]any{}
	if roots.from != noRoots {
		legacy["roots"] = roots.capability
	}
	if d.opts.Capabilities().Apps {
		extensions[apps.Extension] = d.appsCapability()
		legacy["extensions"] = map[string]any{apps.Extension: d.appsCapability()}
	}
	requests := map[string]any{}
	if d.opts.Capabilities().Elicitation {
		modes := map[string]any{"form": struct{}{}}
		if d.opts.Capabilities().OpenURL {
			modes["url"] = struct{}{}
		}
		modern["elicitation"], legacy["elicitation"] = modes, modes
		requests["elicitation"] = map[string]any{"create": struct{}{}}
	}
	if d.opts.Capabilities().Sampling {
		parts := map[string]any{"context": struct{}{}}
		if callsTools {
			parts["tools"] = struct{}{}
		}
		modern["sampling"], legacy["sampling"] = parts, parts
		requests["sampling"] = map[string]any{"createMessage": struct{}{}}
	}
	if len(requests) > 0 {
		legacy["tasks"] = map[string]any{"list": struct{}{}, "cancel": struct{}{}, "requests": requests}
	}
	return wire.Introduction{Name: d.opts.Client.Name, Version: d.opts.Client.Version, Modern: mustJSON(modern), Legacy: mustJSON(legacy)}
}

// mustJSON encodes a value that can always be encoded.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
