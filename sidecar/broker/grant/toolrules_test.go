package grant_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/grant"
	"assent/sidecar/task/store"
)

func TestARuleIsOfOneToolAsItWas(t *testing.T) {
	tool := protocol.Tool{
		Name: "t", Title: "T", Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Annotations: &protocol.ToolAnnotations{ReadOnlyHint: new(true)},
	}
	changed := func(edit func(*protocol.Tool)) *protocol.Tool {
		other := tool
		edit(&other)
		return &other
	}
	own := grant.ToolUse{TaskID: "1", ServerName: "s", Tool: &tool}
	resource := grant.ToolUse{TaskID: "1", ServerName: "s", URI: "a:b"}
	tests := []struct {
		name     string
		remember protocol.Remember
		of, use  grant.ToolUse
		command  string // the new command, if it changed
		holds    bool
	}{
		{"always, the same", protocol.RememberAlways, own, own, "", true},
		{"always, in another task", protocol.RememberAlways, own, grant.ToolUse{TaskID: "2", ServerName: "s", Tool: &tool}, "", true},
		{"always, of another server", protocol.RememberAlways, own, grant.ToolUse{TaskID: "1", ServerName: "x", Tool: &tool}, "", false},
		{"always, another tool", protocol.RememberAlways, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.Name = "u" })}, "", false},
		{"always, another description", protocol.RememberAlways, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.Description = "Does all." })}, "", false},
		{"always, another schema", protocol.RememberAlways, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.InputSchema = json.RawMessage(`{}`) })}, "", false},
		{"always, another title", protocol.RememberAlways, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.Title = "U" })}, "", false},
		{"always, other claims", protocol.RememberAlways, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.Annotations = nil })}, "", false},
		{"always, another program", protocol.RememberAlways, own, own, "rm -rf", false},
		{"task, the same", protocol.RememberTask, own, own, "", true},
		{"task, in another task", protocol.RememberTask, own, grant.ToolUse{TaskID: "2", ServerName: "s", Tool: &tool}, "", false},
		{"never, the same", protocol.RememberNever, own, own, "", true},
		{"never, another description", protocol.RememberNever, own, grant.ToolUse{ServerName: "s", Tool: changed(func(t *protocol.Tool) { t.Description = "x" })}, "", true},
		{"never, another program", protocol.RememberNever, own, own, "other", true},
		{"a resource", protocol.RememberAlways, resource, resource, "", true},
		{"another resource", protocol.RememberAlways, resource, grant.ToolUse{ServerName: "s", URI: "a:c"}, "", false},
		{"a tool for a resource", protocol.RememberAlways, own, resource, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := store.OpenMemory()
			if err != nil {
				t.Fatal(err)
			}
			command := "serve"
			rules := grant.NewToolRules(grant.NewBook(grant.Options{
				Store: func() (*store.Store, error) { return s, nil }, Server: func(string) (string, string) { return command, command },
			}))
			if _, err := rules.Remember(t.Context(), tt.of, tt.remember, "a test"); err != nil {
				t.Fatal(err)
			}
			if tt.command != "" {
				command = tt.command
			}
			found, err := rules.Find(t.Context(), tt.use)
			if err != nil {
				t.Fatal(err)
			}
			if holds := found != nil; holds != tt.holds {
				t.Errorf("the rule holds: %v, want %v", holds, tt.holds)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAChangeIsSaidWithItsDifference(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	identity := "a"
	rules := grant.NewToolRules(grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return s, nil }, Server: func(string) (string, string) { return identity, "serve" },
		Now: func() time.Time { return time.UnixMilli(5) },
	}))
	tool := protocol.Tool{Name: "t", Description: "Reads a file.\nNothing else.", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
	use := grant.ToolUse{TaskID: "1", ServerName: "s", Tool: &tool}
	changed := func(want *protocol.ToolChange) {
		t.Helper()
		got, err := rules.Changed(t.Context(), use)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Changed (-want +got):\n%s", diff)
		}
	}
	changed(nil) // it was never allowed
	rule, err := rules.Remember(t.Context(), use, protocol.RememberAlways, "a test")
	if err != nil {
		t.Fatal(err)
	}
	changed(nil)
	listed, err := rules.List(t.Context())
	if err != nil || listed[0].Described != nil || rule.Described != nil {
		t.Errorf("the list has the tool's description: %+v, %v", listed, err)
	}
	other := tool
	other.Description = "Reads a file.\nThen sends it to us."
	other.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"url":{"type":"string"}}}`)
	use.Tool = &other
	line := func(kind protocol.DiffKind, text string) protocol.DiffLine {
		return protocol.DiffLine{Kind: kind, Text: text}
	}
	want := &protocol.ToolChange{By: "a test", At: 5, Tool: true, Lines: []protocol.DiffLine{
		line(protocol.DiffSame, "Description:"),
		line(protocol.DiffSame, "Reads a file."),
		line(protocol.DiffRemoved, "Nothing else."),
		line(protocol.DiffAdded, "Then sends it to us."),
		line(protocol.DiffSame, "Arguments:"),
		line(protocol.DiffSame, "{"),
		line(protocol.DiffSame, `  "properties": {`),
		line(protocol.DiffSame, `    "path": {`),
		line(protocol.DiffSame, `      "type": "string"`),
		line(protocol.DiffAdded, "    },"),
		line(protocol.DiffAdded, `    "url": {`),
		line(protocol.DiffAdded, `      "type": "string"`),
		line(protocol.DiffSame, "    }"),
		line(protocol.DiffSame, "  },"),
		line(protocol.DiffSame, `  "type": "object"`),
	}}
	changed(want)
	identity = "b"
	want.Server = true
	changed(want)
	use.Tool = &tool
	changed(&protocol.ToolChange{By: "a test", At: 5, Server: true})
	// A rule that is newer than the saved tool decides, even without a description.
	older := protocol.ToolRule{ID: "older", ServerName: "s", Command: "serve", ToolName: "t", Remember: protocol.RememberAlways, Digest: "d", By: "a test", CreatedAt: 9}
	if err := s.AddToolRule(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	changed(&protocol.ToolChange{By: "a test", At: 9, Server: true, Tool: true})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A model and a person rely on all of these. Icons are not read at all.
func TestEachPartOfAToolCounts(t *testing.T) {
	truth := true
	tool := protocol.Tool{
		Name: "t", Title: "T", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`),
		OutputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &protocol.ToolAnnotations{ReadOnlyHint: &truth},
	}
	for name, test := range map[string]struct {
		change func(*protocol.Tool)
		want   []protocol.DiffLine // that are no context; nil if nothing has changed
	}{
		"nothing":           {func(*protocol.Tool) {}, nil},
		"the order of JSON": {func(t *protocol.Tool) { t.InputSchema = json.RawMessage(`{ "required": ["a"], "type": "object" }`) }, nil},
		"the title": {func(t *protocol.Tool) { t.Title = "U" }, []protocol.DiffLine{
			{Kind: protocol.DiffRemoved, Text: "Title: T"}, {Kind: protocol.DiffAdded, Text: "Title: U"},
		}},
		"the description": {func(t *protocol.Tool) { t.Description = "Writes." }, []protocol.DiffLine{
			{Kind: protocol.DiffRemoved, Text: "Reads."}, {Kind: protocol.DiffAdded, Text: "Writes."},
		}},
		"the arguments": {func(t *protocol.Tool) { t.InputSchema = json.RawMessage(`{"type":"object","required":["b"]}`) }, []protocol.DiffLine{
			{Kind: protocol.DiffRemoved, Text: `    "a"`}, {Kind: protocol.DiffAdded, Text: `    "b"`},
		}},
		"the results": {func(t *protocol.Tool) { t.OutputSchema = json.RawMessage(`{"type":"array"}`) }, []protocol.DiffLine{
			{Kind: protocol.DiffRemoved, Text: `  "type": "object"`}, {Kind: protocol.DiffAdded, Text: `  "type": "array"`},
		}},
		"the claims": {func(t *protocol.Tool) { t.Annotations = &protocol.ToolAnnotations{DestructiveHint: &truth} }, []protocol.DiffLine{
			{Kind: protocol.DiffRemoved, Text: `  "readOnlyHint": true`}, {Kind: protocol.DiffAdded, Text: `  "destructiveHint": true`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.OpenMemory()
			if err != nil {
				t.Fatal(err)
			}
			rules := grant.NewToolRules(grant.NewBook(grant.Options{
				Store: func() (*store.Store, error) { return s, nil }, Server: func(string) (string, string) { return "a", "serve" },
			}))
			if err := rules.Allowed(t.Context(), grant.ToolUse{ServerName: "s", Tool: &tool}, "a test"); err != nil {
				t.Fatal(err)
			}
			other := tool
			test.change(&other)
			change, err := rules.Changed(t.Context(), grant.ToolUse{TaskID: "1", ServerName: "s", Tool: &other})
			if err != nil || (change != nil) != (test.want != nil) {
				t.Fatalf("Changed = %+v, %v", change, err)
			}
			var got []protocol.DiffLine
			if change != nil {
				for _, line := range change.Lines {
					if line.Kind == protocol.DiffAdded || line.Kind == protocol.DiffRemoved {
						got = append(got, line)
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the difference (-want +got):\n%s", diff)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAHostsFirstCallOfAToolIsItsApproval(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	identity := "a"
	rules := grant.NewToolRules(grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return s, nil }, Server: func(string) (string, string) { return identity, "serve" },
	}))
	calls := func(description string) *protocol.ToolChange {
		t.Helper()
		use := grant.ToolUse{ServerName: "s", Tool: &protocol.Tool{Name: "t", Description: description}}
		change, err := rules.CalledByHost(t.Context(), use, "Some Host")
		if err != nil {
			t.Fatal(err)
		}
		return change
	}
	for _, description := range []string{"Reads.", "Reads."} {
		if change := calls(description); change != nil {
			t.Errorf("%q has changed: %+v", description, change)
		}
	}
	identity = "b" // the person has configured the server otherwise
	if change := calls("Reads."); change != nil {
		t.Errorf("the server's definition: %+v", change)
	}
	for range 2 { // until the person allows it
		if change := calls("Writes."); change == nil || change.By != "Some Host" || !change.Tool || len(change.Lines) == 0 {
			t.Errorf("the description: %+v", change)
		}
	}
	if err := rules.Allowed(t.Context(), grant.ToolUse{ServerName: "s", Tool: &protocol.Tool{Name: "t", Description: "Writes."}}, "a window"); err != nil {
		t.Fatal(err)
	}
	if change := calls("Writes."); change != nil {
		t.Errorf("after it was allowed: %+v", change)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestALaterRuleTakesThePlaceOfAnEarlierOne(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	rules := grant.NewToolRules(grant.NewBook(grant.Options{Store: func() (*store.Store, error) { return s, nil }}))
	use := grant.ToolUse{TaskID: "1", ServerName: "s", Tool: &protocol.Tool{Name: "t"}}
	for _, remember := range []protocol.Remember{protocol.RememberNever, protocol.RememberAlways} {
		if _, err := rules.Remember(t.Context(), use, remember, "a test"); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := rules.Find(t.Context(), use); err != nil || found == nil || found.Remember != protocol.RememberAlways {
		t.Errorf("Find = %+v, %v", found, err)
	}
	if _, err := rules.Remember(t.Context(), use, "perhaps", "a test"); err == nil {
		t.Error("anything is remembered")
	}
	all, err := rules.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("List = %+v, %v", all, err)
	}
	var done []bool
	for range 2 {
		removed, err := rules.Remove(t.Context(), all[0].ID, "a test")
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, removed)
	}
	if diff := cmp.Diff([]bool{true, false}, done); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	kinds := []string{}
	records, _, err := s.Journal(t.Context(), store.JournalFilter{}, 10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		kinds = append(kinds, r.Kind)
	}
	if diff := cmp.Diff([]string{"toolRuleCreated", "toolRuleCreated", "toolRuleRemoved"}, kinds); diff != "" {
		t.Errorf("the journal has (-want +got):\n%s", diff)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
