package chat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

var allowed = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestNamesAreUniqueAndLeadBack(t *testing.T) {
	long := strings.Repeat("very_long_", 10)
	servers := []offered{
		{serverName: "a b", tools: []protocol.Tool{{Name: "x"}, {Name: "x y"}, {Name: "x.y"}, {Name: "x"}, {Name: ""}}},
		{serverName: "a_b", tools: []protocol.Tool{{Name: "x"}, {Name: "日本語"}, {Name: "日本誤"}}},
		{serverName: long, tools: []protocol.Tool{{Name: long + "1"}, {Name: long + "2"}}},
		{serverName: "read_mcp", tools: []protocol.Tool{{Name: "resource"}}, resources: []protocol.Resource{{URI: "a:b"}}},
	}
	o := newOffer(servers)
	if len(o.tools) != 12 || len(o.names) != 12 || o.omitted != 0 {
		t.Fatalf("%d tools have %d names, %d are left out", len(o.tools), len(o.names), o.omitted)
	}
	i := 0
	for _, s := range servers {
		for _, tool := range s.tools {
			name := o.tools[i].Name
			i++
			if !allowed.MatchString(name) {
				t.Errorf("the name %q is not allowed", name)
			}
			if got := o.names[name]; got.serverName != s.serverName || got.tool.Name != tool.Name {
				t.Errorf("%q leads to %+v, want %s of %s", name, got, tool.Name, s.serverName)
			}
		}
	}
	if got := o.names[readResourceName]; got.tool != nil {
		t.Errorf("%q leads to %+v", readResourceName, got)
	}
}

func TestExcessToolsAreNotOffered(t *testing.T) {
	var many []protocol.Tool
	for i := range 200 {
		many = append(many, protocol.Tool{Name: fmt.Sprint(i), Description: strings.Repeat("x", 1<<20)})
	}
	var listed []protocol.Resource
	for i := range 10_000 {
		listed = append(listed, protocol.Resource{URI: fmt.Sprintf("a:%d", i), Name: strings.Repeat("n", 1000)})
	}
	o := newOffer([]offered{
		{serverName: "huge", tools: []protocol.Tool{{Name: "schema", InputSchema: json.RawMessage(`"` + strings.Repeat("x", 300<<10) + `"`)}}},
		{serverName: "many", tools: many, resources: listed},
	})
	if len(o.tools) != 128 || o.omitted != 74 {
		t.Errorf("%d tools are offered, %d left out", len(o.tools), o.omitted)
	}
	for _, tool := range o.tools {
		if len(tool.Description) > 20<<10 {
			t.Errorf("the description of %s has %d bytes", tool.Name, len(tool.Description))
		}
	}
}

func TestToolUses(t *testing.T) {
	o := newOffer([]offered{{serverName: "s", tools: []protocol.Tool{{Name: "t"}}}})
	use := func(id, name, input string) protocol.ToolUseContent {
		return protocol.ToolUseContent{ID: id, Name: name, Input: json.RawMessage(input)}
	}
	got := toolUses([]protocol.ToolUseContent{use("a", "s__t", `{"x":1}`), use("a", "s__t", `{}`), use("", "s__t", `{}`), use("b", "u", `nil`)}, o)
	want := []protocol.ModelToolUse{
		{ID: "a", Name: "s__t", ServerName: "s", ToolName: "t", Arguments: json.RawMessage(`{"x":1}`)},
		{ID: "call_2", Name: "s__t", ServerName: "s", ToolName: "t", Arguments: json.RawMessage(`{}`)},
		{ID: "call_3", Name: "s__t", ServerName: "s", ToolName: "t", Arguments: json.RawMessage(`{}`)},
		{ID: "b", Name: "u", Error: `There is no tool "u". Use only the tools in this request.`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
}
