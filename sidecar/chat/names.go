package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/broker/form"
	"assent/sidecar/model"
)

const (
	// maxTools is the maximum number of tools that all providers accept. OpenAI's limit is the
	// lowest.
	maxTools = 128
	// maxDescription and maxSchema bound a tool's description and its schema for a model, in
	// bytes.
	maxDescription = 16 << 10
	maxSchema      = 256 << 10
	// maxListed bounds the list of resources for a model, in bytes.
	maxListed = 16 << 10
)

// readResourceName is the name of Assent's own tool that reads the servers' resources.
const readResourceName = "read_mcp_resource"

// target is the tool or server that a name in an offer stands for.
type target struct {
	serverName string
	// tool is nil for readResourceName.
	tool *protocol.Tool
}

// offer holds the tools and resources for a model in a turn.
type offer struct {
	tools []protocol.SamplingTool
	names map[string]target
	// resources are the listed resources, by server and URI.
	resources map[string]map[string]protocol.Resource
	// servers are the servers with resources.
	servers map[string]bool
	// omitted counts the tools that were left out.
	omitted int
}

// offered holds the lists of a server, or the reason why they are unknown.
type offered struct {
	serverName string
	tools      []protocol.Tool
	resources  []protocol.Resource
	templates  []protocol.ResourceTemplate
	err        error
}

// newOffer names the servers' tools, in their order. If there are too many, the last ones are left out.
func newOffer(servers []offered) *offer {
	o := &offer{names: map[string]target{}, resources: map[string]map[string]protocol.Resource{}, servers: map[string]bool{}}
	var listed strings.Builder
	for _, s := range servers {
		o.listResources(&listed, s)
	}
	most := maxTools
	if len(o.servers) > 0 {
		most--
	}
	for _, s := range servers {
		for _, tool := range s.tools {
			if len(o.tools) == most || len(tool.InputSchema) > maxSchema {
				o.omitted++
				continue
			}
			name := o.unused(nameOf(s.serverName, tool.Name))
			o.names[name] = target{s.serverName, &tool}
			schema, _ := form.Flat(tool.InputSchema) // OpenAI refuses a request with anyOf and its like at the root
			o.tools = append(o.tools, protocol.SamplingTool{
				Name: name, Title: tool.Title, Description: model.Cut(cmp.Or(tool.Description, tool.Title), maxDescription), InputSchema: schema,
			})
		}
	}
	if len(o.servers) > 0 {
		o.names[readResourceName] = target{}
		o.tools = append(o.tools, protocol.SamplingTool{
			Name:        readResourceName,
			Description: "Reads a resource of an MCP server, by its URI. The servers list:\n" + listed.String(),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string"},"uri":{"type":"string"}},"required":["server","uri"]}`),
		})
	}
	return o
}

// listResources adds the resources of a server, and writes as many to the list as fit.
func (o *offer) listResources(list *strings.Builder, s offered) {
	if len(s.resources) == 0 && len(s.templates) == 0 {
		return
	}
	o.servers[s.serverName] = true
	o.resources[s.serverName] = map[string]protocol.Resource{}
	line := func(uri, name, description string) {
		text := fmt.Sprintf("- server %q: %s (%s)\n", s.serverName, uri, model.Cut(strings.Join(strings.Fields(name+" "+description), " "), 200))
		if list.Len()+len(text) <= maxListed {
			list.WriteString(text)
		}
	}
	for _, r := range s.resources {
		o.resources[s.serverName][r.URI] = r
		line(r.URI, cmp.Or(r.Title, r.Name), r.Description)
	}
	for _, t := range s.templates {
		line(t.URITemplate, cmp.Or(t.Title, t.Name), t.Description)
	}
}

// nameOf returns a name for a server's tool that every provider accepts.
func nameOf(serverName, toolName string) string {
	return model.ShortName(serverName+"__"+toolName, serverName+"\x00"+toolName)
}

// unused returns the name, or a similar one if another tool has it.
func (o *offer) unused(name string) string {
	unique := name
	for i := 2; ; i++ {
		if _, taken := o.names[unique]; !taken && unique != readResourceName {
			return unique
		}
		unique = model.WithNumber(name, i)
	}
}
