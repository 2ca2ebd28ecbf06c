package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"assent/protocol"
)

// MaxName is the maximum length of a tool's name that all providers accept. They accept ^[a-zA-Z0-9_-]{1,64}$.
const MaxName = 64

// ready returns a request as every provider accepts it: images have the type of their bytes, what a tool returned is text
// and images, and tools have names of few characters. The second result finds the own names of those tools.
func ready(request *protocol.McpSamplingRequest) (*protocol.McpSamplingRequest, map[string]string) {
	r := *request
	known := newNames()
	for _, tool := range request.Tools {
		if ShortName(tool.Name, "") == tool.Name {
			known.of(tool.Name) // names that are accepted stay
		}
	}
	r.Tools = slices.Clone(request.Tools)
	for i, tool := range r.Tools {
		r.Tools[i].Name = known.of(tool.Name)
	}
	r.Messages = slices.Clone(request.Messages)
	for i, m := range r.Messages {
		content := slices.Clone(m.Content)
		for j, block := range content {
			switch block := block.(type) {
			case protocol.ImageContent:
				if image, ok := Image(block.Data); ok {
					content[j] = image
				} else {
					content[j] = protocol.TextContent{Text: imageText(block)}
				}
			case protocol.ToolUseContent:
				block.Name = known.of(block.Name)
				content[j] = block
			case protocol.ToolResultContent:
				block.Content, block.StructuredContent = Readable(asContent(block.Content), block.StructuredContent, math.MaxInt, math.MaxInt), nil
				content[j] = block
			}
		}
		r.Messages[i].Content = content
	}
	return &r, known.own
}

// names gives each tool a name that every provider accepts, and no two the same.
type names struct {
	given map[string]string // by the own name
	own   map[string]string // by the given name
}

func newNames() *names { return &names{given: map[string]string{}, own: map[string]string{}} }

// of returns the name of a tool for a provider.
func (n *names) of(own string) string {
	if name, known := n.given[own]; known {
		return name
	}
	name := n.unused(ShortName(own, own))
	n.given[own], n.own[name] = name, own
	return name
}

func (n *names) unused(name string) string {
	unique := name
	for i := 2; ; i++ {
		if _, taken := n.own[unique]; !taken {
			return unique
		}
		unique = WithNumber(name, i)
	}
}

// WithNumber returns a name with a number at its end.
func WithNumber(name string, i int) string {
	suffix := fmt.Sprintf("_%d", i)
	return name[:min(len(name), MaxName-len(suffix))] + suffix
}

// ShortName returns a name that every provider accepts. One that is too long ends with a digest of whole.
func ShortName(name, whole string) string {
	name = Sanitized(name)
	switch {
	case name == "":
		return "tool"
	case len(name) <= MaxName:
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	return name[:MaxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// Sanitized replaces the characters of a name that not all providers accept.
func Sanitized(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
