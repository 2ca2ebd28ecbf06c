package config

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"assent/protocol"
)

var updateSchema = flag.Bool("update", false, "write the schema of mcp.json")

const (
	root       = "../.."
	schemaFile = root + "/extension/schemas/mcp.schema.json"
)

// TestSchemaIsMadeFromTheTypes holds the file that the extension gives VS Code against the types that read mcp.json.
func TestSchemaIsMadeFromTheTypes(t *testing.T) {
	t.Parallel()
	made, err := json.MarshalIndent(schema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if *updateSchema {
		if err := os.WriteFile(schemaFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), string(made)); diff != "" {
		t.Errorf("go test ./sidecar/config -run TestSchema -update writes it (-kept +made):\n%s", diff)
	}
	manifest, err := os.ReadFile(root + "/extension/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var extension struct {
		Contributes struct {
			JSONValidation []struct{ URL string }
		}
	}
	if err := json.Unmarshal(manifest, &extension); err != nil {
		t.Fatal(err)
	}
	for _, v := range extension.Contributes.JSONValidation {
		if got := filepath.Join(root, "extension", v.URL); got != filepath.Clean(schemaFile) {
			t.Errorf("the extension has the schema %s", got)
		}
	}
}

// TestSchemaHasATextForEachMember finds a member that was added without one.
func TestSchemaHasATextForEachMember(t *testing.T) {
	t.Parallel()
	var look func(path string, s *jsonschema.Schema)
	look = func(path string, s *jsonschema.Schema) {
		for name, member := range s.Properties {
			if member.Description == "" {
				t.Errorf("%s/%s has no description: write a jsonschema tag", path, name)
			}
			look(path+"/"+name, member)
		}
	}
	for name, s := range schema(t).Defs {
		look(name, s)
	}
}

// TestSchemaTakesTheExamplesOfTheDocuments reads each example of the documents that configures servers.
func TestSchemaTakesTheExamplesOfTheDocuments(t *testing.T) {
	t.Parallel()
	resolved := resolvedSchema(t)
	files, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^ *```jsonc?\n(.*?)^ *```")
	found := 0
	for _, file := range append(files, root+"/README.md") {
		if filepath.Base(file) == "policy.md" {
			continue // Its servers are those of a policy; see package orgpolicy.
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fence.FindAllSubmatch(text, -1) {
			value, err := Parse(match[1])
			if err != nil {
				continue // A part of a file.
			}
			value.Standardize()
			var example map[string]any
			if json.Unmarshal(value.Pack(), &example) != nil || example[ownServers] == nil && example[otherServers] == nil {
				continue
			}
			found++
			if err := resolved.Validate(example); err != nil {
				t.Errorf("%s: %v in\n%s", filepath.Base(file), err, match[1])
			}
		}
	}
	if found == 0 {
		t.Error("the documents have no example of mcp.json")
	}
}

// TestSchemaAgreesWithTheReader shows each entry to the schema and to Load.
func TestSchemaAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	resolved := resolvedSchema(t)
	for name, tc := range map[string]struct {
		entry string
		want  bool
	}{
		"a program":                  {`{"command": "a", "args": ["b", 8080], "env": {"A": "b", "N": 1, "R": null}, "envFile": ".env", "cwd": "x"}`, true},
		"an address":                 {`{"url": "https://example.com/mcp", "headers": {"X-A": "b", "X-N": 1}}`, true},
		"a kind":                     {`{"type": "sse", "url": "https://example.com/sse"}`, true},
		"a kind of other programs":   {`{"type": "streamable-http", "url": "https://example.com/mcp"}`, true},
		"all of Assent's":            {`{"command": "a", "protocolVersion": "2025-11-25", "sharing": "shared", "toolTimeout": 2.5}`, true},
		"no limit of time":           {`{"command": "a", "sharing": "task", "toolTimeout": 0}`, true},
		"a client":                   {`{"url": "https://example.com", "oauth": {"clientId": "a", "scopes": ["b"], "callbackPort": 8080}}`, true},
		"a member of other programs": {`{"command": "a", "alwaysAllow": []}`, true},
		"nothing to start":           {`{"args": ["a"]}`, false},
		"an unknown kind":            {`{"type": "carrier-pigeon", "url": "https://example.com"}`, false},
		"another sharing":            {`{"command": "a", "sharing": "all"}`, false},
		"an older version":           {`{"command": "a", "protocolVersion": "2024-11-05"}`, false},
		"a negative time":            {`{"command": "a", "toolTimeout": -1}`, false},
		"a text for a time":          {`{"command": "a", "toolTimeout": "5s"}`, false},
		"a time without end":         {`{"command": "a", "toolTimeout": 1e12}`, false},
		"an object in env":           {`{"command": "a", "env": {"A": {}}}`, false},
		"null in headers":            {`{"url": "https://example.com", "headers": {"A": null}}`, false},
		"null in args":               {`{"command": "a", "args": [null]}`, false},
		"one text for args":          {`{"command": "a", "args": "b"}`, false},
		"a port out of range":        {`{"url": "https://example.com", "oauth": {"callbackPort": 70000}}`, false},
		"a text for scopes":          {`{"url": "https://example.com", "oauth": {"scopes": "a b"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `{"servers": {"s": ` + tc.entry + `}}`
			var value any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			err := resolved.Validate(value)
			if (err == nil) != tc.want {
				t.Errorf("the schema says %v", err)
			}
			file := filepath.Join(t.TempDir(), "mcp.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			read := Load(protocol.Configuration{}, file)
			if (len(read.Problems) == 0) != tc.want {
				t.Errorf("the reader says %v", read.Problems)
			}
		})
	}
}

func resolvedSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	resolved, err := schema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// schema makes the schema of mcp.json from the types that read it. Members that Assent does not know are those of other
// programs, and a server's page names them.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text := &jsonschema.Schema{Types: []string{"string", "number"}}
	options := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): text}}
	server, err := jsonschema.For[serverObject](options)
	if err != nil {
		t.Fatal(err)
	}
	input, err := jsonschema.For[Input](options)
	if err != nil {
		t.Fatal(err)
	}
	open(server)
	open(input)
	input.Required = []string{"id", "type"}
	input.Properties["type"].Enum = []any{protocol.PromptString, protocol.PickString}
	server.AnyOf = []*jsonschema.Schema{{Required: []string{"command"}}, {Required: []string{"url"}}}
	of := server.Properties
	of["env"].AdditionalProperties = &jsonschema.Schema{Types: []string{"string", "number", "null"}}
	of["type"].Enum = []any{protocol.TransportStdio, protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS, "streamable-http", "streamableHttp"}
	of["protocolVersion"].Enum = []any{LegacyProtocol}
	of["sharing"].Enum = []any{sharingTask, sharingShared}
	of["toolTimeout"].Minimum, of["toolTimeout"].Maximum = new(0.0), new(maxToolTimeout.Seconds())
	if port := of["oauth"].Properties["callbackPort"]; port != nil {
		port.Minimum, port.Maximum = new(0.0), new(float64(math.MaxUint16))
	}
	if grant := of["oauth"].Properties["grantType"]; grant != nil {
		grant.Enum = []any{GrantAuthorizationCode, GrantClientCredentials}
	}
	servers := &jsonschema.Schema{Type: "object", Description: "The servers by name.", AdditionalProperties: &jsonschema.Schema{Ref: "#/$defs/server"}}
	return &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "mcp.json",
		Description: "The MCP servers that Assent reads.",
		Type:        "object",
		Properties: map[string]*jsonschema.Schema{
			"inputs":     {Type: "array", Description: "Values that the person is asked for, once.", Items: &jsonschema.Schema{Ref: "#/$defs/input"}},
			ownServers:   servers,
			otherServers: {Type: "object", Description: "The servers by name, in a .mcp.json.", AdditionalProperties: &jsonschema.Schema{Ref: "#/$defs/server"}},
		},
		Defs:  map[string]*jsonschema.Schema{"server": server, "input": input},
		Extra: map[string]any{"allowComments": true, "allowTrailingCommas": true},
	}
}

// open lets each object of a schema have no member and further ones, and be the one type that people write.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	if i := slices.Index(s.Types, "null"); i >= 0 {
		if s.Types = slices.Delete(s.Types, i, i+1); len(s.Types) == 1 {
			s.Type, s.Types = s.Types[0], nil
		}
	}
	s.Description = strings.TrimSpace(s.Description)
	for _, member := range s.Properties {
		open(member)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
