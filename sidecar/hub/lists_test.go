package hub_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/hub"
)

// lister is a server that answers each request for a list as a test says.
type lister struct {
	*conversation
	answer atomic.Pointer[func(method, cursor string) string]
}

// serveLists returns a server of an era, and a hub on it.
func serveLists(t *testing.T, modern bool) *lister {
	return serveDeclared(t, modern, `{"tools":{},"resources":{},"prompts":{}}`)
}

// serveDeclared is serveLists with the capabilities that the server declares.
func serveDeclared(t *testing.T, modern bool, all string) *lister {
	l := &lister{}
	l.conversation = converse(t, serveRaw(t, func(s *rawServer) {
		if modern {
			f := s.await("server/discover")
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":%s}}`, f.ID, all))
		} else {
			s.shake(all)
		}
		for {
			f, ok := s.read()
			if !ok {
				return
			}
			var params struct{ Cursor json.RawMessage }
			if f.Method == "ping" { // on a slow machine
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f.ID))
				continue
			}
			if err := json.Unmarshal(f.Params, &params); err != nil {
				t.Error(err)
			}
			s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, f.ID, (*l.answer.Load())(f.Method, string(params.Cursor))))
		}
	}))
	return l
}

// gives sets the answers.
func (l *lister) gives(answer func(method, cursor string) string) { l.answer.Store(&answer) }

// give sets one answer to all requests.
func (l *lister) give(answer string) { l.gives(func(string, string) string { return answer }) }

// toolNames reads the list of tools, and returns the names and the sentences about odd parts.
func (l *lister) toolNames(t *testing.T) (names []string, problems string) {
	t.Helper()
	tools, err := l.Tools(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names, strings.Join(l.ListProblems("s", protocol.ListTools), "\n")
}

const fine = `{"name":"fine","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`

func TestAnOddToolDoesNotHideItsNeighbours(t *testing.T) {
	tool := func(members string) string { return `{"name":"odd","inputSchema":{"type":"object"},` + members + `}` }
	schema := func(schema string) string { return `{"name":"odd","inputSchema":` + schema + `}` }
	const open = `{"type":"object","additionalProperties":true}`
	l := serveLists(t, false)
	for _, tt := range []struct {
		name, odd string
		// problem is the sentence without its subject, and schema the inputSchema that everybody gets; both are empty for a tool
		// that is right.
		problem, schema string
		// fields are the arguments with a field, and more reports that others can be given.
		fields string
		more   bool
	}{
		{"no schema", `{"name":"odd"}`, "inputSchema is missing.", open, "", true},
		{"a schema that is null", schema(`null`), "inputSchema is null and must be an object.", open, "", true},
		{"a schema that is true", schema(`true`), "inputSchema is a boolean and must be an object.", open, "", true},
		{"a schema that is a list", schema(`[]`), "inputSchema is an array and must be an object.", open, "", true},
		{"a schema that is a text", schema(`"none"`), "inputSchema is a string and must be an object.", open, "", true},
		{"an empty schema", schema(`{}`), `inputSchema has no type, which must be "object".`, `{"type":"object"}`, "", false},
		{"another type", schema(`{"type":"array"}`), `inputSchema.type is "array" and must be "object".`, `{"type":"object"}`, "", false},
		{"an empty type", schema(`{"type":""}`), `inputSchema.type is empty and must be "object".`, `{"type":"object"}`, "", false},
		{"a list of types", schema(`{"type":["object","null"]}`), `inputSchema.type is ["object","null"] and must be "object".`, `{"type":"object"}`, "", false},
		{
			"anyOf at the root", schema(`{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}`),
			`inputSchema has no type, which must be "object".`,
			`{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}],"type":"object"}`, "a? b?", true,
		},
		{
			"a reference at the root", schema(`{"type":"object","$ref":"#/$defs/T","$defs":{"T":{"properties":{"a":{"type":"string"}},"required":["a"]}}}`),
			"", "", "a", true,
		},
		{"a reference to nothing", schema(`{"type":"object","$ref":"#/$defs/T"}`), "", "", "", true},
		{"a loop", schema(`{"type":"object","$ref":"#","allOf":[{"$ref":"#"},{"properties":{"a":{}}}]}`), "", "", "a?", true},
		{"properties that are null", schema(`{"type":"object","properties":null}`), "", `{"type":"object"}`, "", false},
		{
			"properties that are a list", schema(`{"type":"object","properties":[]}`),
			"inputSchema.properties is an array and must be an object.", `{"type":"object"}`, "", false,
		},
		{"a property that is true", schema(`{"type":"object","properties":{"a":true}}`), "", `{"type":"object","properties":{"a":{}}}`, "a?", false},
		{
			"a property that is a text", schema(`{"type":"object","properties":{"a":"string"}}`),
			"inputSchema.properties.a is a string and must be an object.", `{"type":"object","properties":{"a":{}}}`, "a?", false,
		},
		{
			"a type of Python", schema(`{"type":"object","properties":{"a":{"type":"int"},"b":{"type":"array","items":{"type":"STRING"}}}}`),
			"inputSchema.properties.a.type is \"int\" and must be \"integer\".\nThe tool \"odd\": inputSchema.properties.b.items.type is \"STRING\" and must be \"string\".",
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"type":"string"}}}}`, "a? b?", false,
		},
		{
			"types of Python deeper in a schema", schema(`{"type":"object","properties":{"a":{"type":["str", "null"]},"b":{"anyOf":[{"type":"bool"},{"type":"string"}]}},"$defs":{"c":{"type":"dict"}}}`),
			"inputSchema.properties.a.type[0] is \"str\" and must be \"string\".\nThe tool \"odd\": inputSchema.properties.b.anyOf[0].type is \"bool\" and must be \"boolean\".\nThe tool \"odd\": inputSchema.$defs.c.type is \"dict\" and must be \"object\".",
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"boolean"},{"type":"string"}]}},"$defs":{"c":{"type":"object"}}}`, "a? b?", false,
		},
		{"an unknown type", schema(`{"type":"object","properties":{"a":{"type":"money"}}}`), "", "", "a?", false},
		{
			"required that is a text", schema(`{"type":"object","required":"a"}`),
			"inputSchema.required is a string and must be an array.", `{"type":"object"}`, "", false,
		},
		{
			"required that has a number", schema(`{"type":"object","required":["a",5]}`),
			"inputSchema.required[1] is a number and must be a string.", `{"type":"object","required":["a"]}`, "a", false,
		},
		{"required that is not described", schema(`{"type":"object","properties":{"b":{}},"required":["x"]}`), "", "", "b? x", false},
		{"a property that is described twice", schema(`{"type":"object","properties":{"a":{},"a":{"type":"string"}}}`), "", "", "", true},
		{"other arguments", schema(`{"type":"object","additionalProperties":{"type":"string"}}`), "", "", "", true},
		{"a title that is a number", tool(`"title":5`), "title is a number and must be a string.", "", "", false},
		{"a title in other letters", tool(`"Title":5`), "", "", "", false},
		{"a description that is an object", tool(`"description":{}`), "description is an object and must be a string.", "", "", false},
		{"icons that are a text", tool(`"icons":"url"`), "icons is a string and must be an array.", "", "", false},
		{"an icon without a place", tool(`"icons":[{"src":"data:,"},{}]`), "icons[1] has no src.", "", "", false},
		{"a hint that is a text", tool(`"annotations":{"readOnlyHint":"true"}`), "annotations.readOnlyHint is a string and must be a boolean.", "", "", false},
		{"annotations that are a list", tool(`"annotations":[]`), "annotations is an array and must be an object.", "", "", false},
		{"execution that is a text", tool(`"execution":"task"`), "execution is a string and must be an object.", "", "", false},
		{
			"an unknown support of tasks", tool(`"execution":{"taskSupport":"maybe"}`),
			`execution.taskSupport is "maybe" and must be one of forbidden, optional, required.`, "", "", false,
		},
		{"_meta that is a list", tool(`"_meta":[]`), "_meta is an array and must be an object.", "", "", false},
		{"null for what is not there", tool(`"title":null,"annotations":null,"outputSchema":null,"icons":null`), "", "", "", false},
		{"an outputSchema that is true", tool(`"outputSchema":true`), "outputSchema is a boolean and must be an object.", "", "", false},
		{"an outputSchema of a list", tool(`"outputSchema":{"type":"array"}`), `outputSchema.type is "array" and must be "object".`, "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l.give(`"result":{"tools":[` + tt.odd + `,` + fine + `]}`)
			names, problems := l.toolNames(t)
			want := ""
			if tt.problem != "" {
				want = `The tool "odd": ` + tt.problem
			}
			if diff := cmp.Diff([]string{"odd", "fine"}, names); diff != "" || problems != want {
				t.Errorf("names (-want +got):\n%s\nproblems: %s\nwant %s", diff, problems, want)
			}
			odd := l.KnownTool("s", "odd")
			var fields []string
			for _, f := range odd.Fields {
				mark := "?"
				if f.Head().Required {
					mark = ""
				}
				fields = append(fields, f.Head().Name+mark)
			}
			if got := strings.Join(fields, " "); got != tt.fields || odd.MoreArguments != tt.more {
				t.Errorf("fields = %q, more = %v", got, odd.MoreArguments)
			}
			if tt.schema != "" && string(odd.InputSchema) != tt.schema {
				t.Errorf("inputSchema = %s", odd.InputSchema)
			}
			if got := l.RawTool("s", "fine"); string(got) != fine {
				t.Errorf("the other tool = %s", got)
			}
			if tt.schema == "" && tt.problem == "" && !strings.Contains(tt.odd, "null") && string(l.RawTool("s", "odd")) != tt.odd {
				t.Errorf("a tool that is right was changed: %s", l.RawTool("s", "odd"))
			}
		})
	}
}

func TestAnItemWithoutAUsableNameIsLeftOut(t *testing.T) {
	l := serveLists(t, false)
	for _, tt := range []struct{ name, item, want string }{
		{"no name", `{"inputSchema":{"type":"object"}}`, "A tool is left out: its name is missing."},
		{"an empty name", `{"name":""}`, "A tool is left out: its name is empty."},
		{"a number", `{"name":5}`, "A tool is left out: its name is a number."},
		{"null", `null`, "A tool is left out: it is null and must be an object."},
		{"a list", `[` + fine + `]`, "A tool is left out: it is an array and must be an object."},
		{"a text", `"tool"`, "A tool is left out: it is a string and must be an object."},
		{"the name of another", fine, `A second tool "fine" is left out.`},
		{
			"a header that is not valid", `{"name":"h","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}`,
			`The tool "h" is left out: its x-mcp-header is not valid.`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l.give(`"result":{"tools":[` + fine + `,` + tt.item + `]}`)
			names, problems := l.toolNames(t)
			if diff := cmp.Diff([]string{"fine"}, names); diff != "" || problems != tt.want {
				t.Errorf("names (-want +got):\n%s\nproblems: %s", diff, problems)
			}
		})
	}
}

func TestOddResourcesAndPrompts(t *testing.T) {
	l := serveLists(t, false)
	l.gives(func(method, _ string) string {
		switch method {
		case "resources/list":
			return `"result":{"resources":[{"uri":"x://good","name":"good","size":3},{"uri":"x://odd","name":"odd","size":"12","annotations":{"audience":["all"],"priority":-0.5,"lastModified":"yesterday"}},{"uri":"x://none"},{"name":"lost"}]}`
		case "prompts/list":
			return `"result":{"prompts":[{"name":"good","arguments":[{"name":"a","required":true}]},{"name":"odd","arguments":"x"},{"name":"half","arguments":[{"name":"a","required":"yes"},{}]}]}`
		}
		return `"error":{"code":-32601,"message":"Method not found"}`
	})
	resources, err := l.Resources(t.Context(), "s")
	want := []protocol.Resource{{URI: "x://good", Name: "good", Size: 3}, {URI: "x://odd", Name: "odd"}, {URI: "x://none", Name: "x://none"}}
	if diff := cmp.Diff(want, resources); diff != "" || err != nil {
		t.Errorf("resources (-want +got):\n%s\n%v", diff, err)
	}
	prompts, err := l.Prompts(t.Context(), "s")
	wantPrompts := []protocol.Prompt{
		{Name: "good", Arguments: []protocol.PromptArgument{{Name: "a", Required: true}}},
		{Name: "odd"},
		{Name: "half", Arguments: []protocol.PromptArgument{{Name: "a"}}},
	}
	if diff := cmp.Diff(wantPrompts, prompts); diff != "" || err != nil {
		t.Errorf("prompts (-want +got):\n%s\n%v", diff, err)
	}
	templates, err := l.ResourceTemplates(t.Context(), "s")
	if len(templates) != 0 || err != nil {
		t.Errorf("templates = %v, %v", templates, err)
	}
	got := slices.Concat(l.ListProblems("s", protocol.ListResources), l.ListProblems("s", protocol.ListPrompts), l.ListProblems("s", hub.ListTemplates))
	wantProblems := []string{
		`The resource "x://odd": size is a string and must be a number.`,
		`The resource "x://odd": annotations.audience[0] is "all" and must be one of user, assistant.`,
		`The resource "x://odd": annotations.priority is "-0.5" and must be a number from 0 to 1.`,
		`The resource "x://odd": annotations.lastModified is "yesterday" and must be a time such as 2025-01-12T15:00:58Z.`,
		`The resource "x://none": name is missing.`,
		`A resource is left out: its uri is missing.`,
		`The prompt "odd": arguments is a string and must be an array.`,
		`The prompt "half": arguments[0].required is a string and must be a boolean.`,
		`The prompt "half": arguments[1] has no name.`,
	}
	if diff := cmp.Diff(wantProblems, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestADeclaredListThatTheServerDoesNotKnowIsEmpty(t *testing.T) {
	l := serveLists(t, false)
	l.give(`"error":{"code":-32601,"message":"Method not found"}`)
	for _, kind := range []protocol.ListKind{protocol.ListTools, protocol.ListResources, protocol.ListPrompts} {
		pages, err := l.Pages(t.Context(), "s", kind)
		want := []string{fmt.Sprintf("The server declares %s, and does not know the request for their list.", kind)}
		if diff := cmp.Diff(want, l.ListProblems("s", kind)); diff != "" || len(pages) != 0 || err != nil {
			t.Errorf("%s: %s, %v (-want +got):\n%s", kind, pages, err, diff)
		}
	}
}

// Servers that are written by hand often declare nothing.
func TestToolsThatAServerDoesNotDeclare(t *testing.T) {
	const has = `"result":{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`
	for _, tt := range []struct{ declared, answer, names, problems string }{
		{`{}`, has, "greet", "The server does not declare tools, and has some."},
		{`[]`, has, "greet", "The server does not declare tools, and has some."},
		{`null`, has, "greet", "The server does not declare tools, and has some."},
		{`{}`, `"error":{"code":-32601,"message":"Method not found"}`, "", ""},
		{`{}`, `"error":{"code":-32603,"message":"boom"}`, "", ""},
		{`{}`, `"result":"ok"`, "", ""},
		{`{}`, `"result":{"tools":[]}`, "", ""},
		{`{"resources":{}}`, has, "", ""}, // what it has it says
	} {
		t.Run(tt.declared+tt.answer, func(t *testing.T) {
			l := serveDeclared(t, false, tt.declared)
			l.give(tt.answer)
			if names, problems := l.toolNames(t); strings.Join(names, " ") != tt.names || problems != tt.problems {
				t.Errorf("tools %q, problems %q", names, problems)
			}
		})
	}
}

// Resources are there without their templates.
func TestAListOfTemplatesThatFailsIsEmpty(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"an error", `"error":{"code":-32603,"message":"boom"}`, "The list of resource templates is missing: it answered: boom (-32603)."},
		{"an unknown method in other words", `"error":{"code":-32602,"message":"Unknown method"}`, "The list of resource templates is missing: it answered: Unknown method (-32602)."},
		{"null", `"result":null`, "The list of resource templates is missing: its list of resource templates is null and must be an object."},
		{"a text for the list", `"result":{"resourceTemplates":"none"}`, `The list of resource templates is missing: "resourceTemplates" is a string and must be an array.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := serveLists(t, false)
			l.give(tt.answer)
			templates, err := l.ResourceTemplates(t.Context(), "s")
			if diff := cmp.Diff([]string{tt.want}, l.ListProblems("s", hub.ListTemplates)); diff != "" || len(templates) != 0 || err != nil {
				t.Errorf("templates = %v, %v, problems (-want +got):\n%s", templates, err, diff)
			}
		})
	}
}

// named is a tool of a name, and as many more bytes.
func named(name string, more int) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"description":%q}`, name, strings.Repeat("x", more))
}

// A list in another form is read. PHP writes one with gaps as an object.
func TestAListInAnotherForm(t *testing.T) {
	l := serveLists(t, false)
	for _, tt := range []struct{ name, result, problem string }{
		{"the list alone", `[` + fine + `,{"name":"other","inputSchema":{"type":"object"}}]`, "The list is an array and must be an object."},
		{"an object with numbers", `{"tools":{"0":` + fine + `,"2":{"name":"other","inputSchema":{"type":"object"}}}}`, `"tools" is an object and must be an array.`},
		{"an object with names", `{"tools":{"fine":{"inputSchema":{"type":"object"}},"other":{"inputSchema":{"type":"object"}}}}`, `"tools" is an object and must be an array.`},
		{"an object with something else", `{"tools":{"fine":` + fine + `,"x":5,"other":{"inputSchema":{"type":"object"}}}}`, "\"tools\" is an object and must be an array.\nA tool is left out: it is a number and must be an object."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l.give(`"result":` + tt.result)
			names, problems := l.toolNames(t)
			if diff := cmp.Diff([]string{"fine", "other"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if problems != tt.problem {
				t.Errorf("the person is told %q, want %q", problems, tt.problem)
			}
		})
	}
}

func TestWhereAListEnds(t *testing.T) {
	page := func(next, items string) string {
		if next != "" {
			next = `,"nextCursor":` + next
		}
		return `"result":{"resultType":"complete","tools":[` + items + `]` + next + `}`
	}
	many := func(from, n, more int) string {
		var items []string
		for i := range n {
			items = append(items, named(fmt.Sprint("t", from+i), more))
		}
		return strings.Join(items, ",")
	}
	for _, tt := range []struct {
		name   string
		modern bool
		pages  map[string]string // by their cursors
		tools  int
		want   string
	}{
		{"a cursor", false, map[string]string{"": page(`"2"`, named("a", 0)), `"2"`: page("", named("b", 0))}, 2, ""},
		{"null", false, map[string]string{"": page(`null`, named("a", 0))}, 1, ""},
		{"the empty cursor", true, map[string]string{"": page(`""`, named("a", 0)), `""`: page("", named("b", 0))}, 2, ""},
		{"the empty cursor before 2026-07-28", false, map[string]string{"": page(`""`, named("a", 0))}, 1, ""},
		{
			"a cursor that is given again", false,
			map[string]string{"": page(`"2"`, named("a", 0)), `"2"`: page(`"3"`, named("b", 0)), `"3"`: page(`"2"`, named("c", 0))},
			3, `The list ends where the server gives the cursor "2" again.`,
		},
		{
			"the empty cursor, again", true,
			map[string]string{"": page(`""`, named("a", 0)), `""`: page(`""`, named("b", 0))},
			2, `The list ends where the server gives the cursor "" again.`,
		},
		{
			"cursors that are numbers", false,
			map[string]string{"": page(`2`, named("a", 0)), `"2"`: page(`3.50`, named("b", 0)), `"3.50"`: page(`0`, named("c", 0))},
			3, "nextCursor is a number and must be a string.",
		},
		{"a negative number for the end", false, map[string]string{"": page(`-1`, named("a", 0))}, 1, "nextCursor is a number and must be a string."},
		{"a list for _meta", false, map[string]string{"": strings.Replace(page("", named("a", 0)), "{", `{"_meta":[],`, 1)}, 1, "_meta is an array and must be an object."},
		{"an object for a cursor", false, map[string]string{"": page(`{}`, named("a", 0))}, 1, "nextCursor is an object and must be a string."},
		{
			"an error in the middle", false,
			map[string]string{"": page(`"2"`, named("a", 0)), `"2"`: `"error":{"code":-32603,"message":"oops"}`},
			1, "The list breaks off after 1 items: oops.",
		},
		{
			"a page that cannot be read", false,
			map[string]string{"": page(`"2"`, named("a", 0)), `"2"`: `"result":{"tools":"none"}`},
			1, `The list breaks off after 1 items: "tools" is a string and must be an array.`,
		},
		{
			"too many items", false,
			map[string]string{"": page(`"2"`, many(0, 9_000, 0)), `"2"`: page(`"3"`, many(9_000, 9_000, 0))},
			10_000, "The list has more than 10000 items: the others are left out.",
		},
		{
			"too many bytes", false,
			map[string]string{"": page(`"2"`, many(0, 3, 1<<20)), `"2"`: page(`"3"`, many(3, 3, 1<<20))},
			3, "The list has more than 4 MB: the rest is left out.",
		},
		{"as many in one page", false, map[string]string{"": page("", many(0, 5, 1<<20))}, 5, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := serveLists(t, tt.modern)
			l.gives(func(_, cursor string) string {
				answer, ok := tt.pages[cursor]
				if !ok {
					t.Errorf("the page at %s was asked for", cursor)
				}
				return answer
			})
			names, problems := l.toolNames(t)
			if len(names) != tt.tools || problems != tt.want {
				t.Errorf("%d tools, problems: %s", len(names), problems)
			}
			pages, err := l.Pages(t.Context(), "s", protocol.ListTools)
			if err != nil {
				t.Fatal(err)
			}
			for i, page := range pages { // hosts read each of them
				var next string
				raw := jsonscan.Member(page, "nextCursor")
				if raw != nil && (raw[0] != '"' || json.Unmarshal(raw, &next) != nil) || (next == "") != (i == len(pages)-1) {
					t.Errorf("page %d: %.200s", i, page)
				}
			}
		})
	}
}

// TestAnyMutationOfOneItemLeavesItsNeighbours changes one item of a list at random.
func TestAnyMutationOfOneItemLeavesItsNeighbours(t *testing.T) {
	lists := map[protocol.ListKind]string{
		protocol.ListTools: `{"name":"NAME","title":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},` +
			`"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"x"},"execution":{"taskSupport":"optional"},"icons":[{"src":"data:,","sizes":["any"]}],"_meta":{"a":1}}`,
		protocol.ListResources: `{"uri":"NAME","name":"n","title":"t","mimeType":"text/plain","size":5,"annotations":{"audience":["user"],"priority":1},"_meta":{}}`,
		hub.ListTemplates:      `{"uriTemplate":"NAME","name":"n","description":"d","icons":[{"src":"data:,"}]}`,
		protocol.ListPrompts:   `{"name":"NAME","description":"d","arguments":[{"name":"a","required":true,"description":"d"}]}`,
	}
	values := []string{`null`, `true`, `5`, `-1.5e300`, `""`, `"x"`, `"a"`, `[]`, `[null]`, `[[]]`, `{}`, `{"a":[]}`, `{"type":"array"}`, `[{"name":5}]`}
	l := serveLists(t, false)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]protocol.ListKind{protocol.ListTools, protocol.ListResources, hub.ListTemplates, protocol.ListPrompts}).Draw(t, "list")
		const n = 3
		items := make([]string, n)
		for i := range items {
			items[i] = strings.Replace(lists[kind], "NAME", fmt.Sprint("x", i), 1)
		}
		at := rapid.IntRange(0, n-1).Draw(t, "item")
		items[at] = mutate(t, items[at], values)
		l.give(fmt.Sprintf(`"result":{"%s":[%s]}`, kind, strings.Join(items, ",")))
		pages, err := l.Pages(t.Context(), "s", kind)
		if err != nil {
			t.Fatalf("%s: %v", items[at], err)
		}
		all := string(pages[0])
		for i, item := range items {
			if i != at && !strings.Contains(all, item) {
				t.Fatalf("%s\nhas taken away %s", items[at], item)
			}
		}
		if kind == protocol.ListTools {
			if err := strictTools(pages[0]); err != nil {
				t.Fatalf("%s: a strict host refuses %s: %v", items[at], all, err)
			}
			tools, err := l.Tools(t.Context(), "s")
			if err != nil || len(tools) < n-1 {
				t.Fatalf("%d tools, %v", len(tools), err)
			}
		}
	})
}

// mutate replaces a random value in an item, or leaves a member out.
func mutate(t *rapid.T, item string, values []string) string {
	var value any
	if err := json.Unmarshal([]byte(item), &value); err != nil {
		t.Fatal(err)
	}
	value = change(t, value, values)
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func change(t *rapid.T, value any, values []string) any {
	deeper := rapid.IntRange(0, 3).Draw(t, "deeper") > 0
	switch value := value.(type) {
	case map[string]any:
		if !deeper || len(value) == 0 {
			break
		}
		var names []string
		for name := range value {
			names = append(names, name)
		}
		slices.Sort(names)
		name := rapid.SampledFrom(names).Draw(t, "member")
		if rapid.IntRange(0, 4).Draw(t, "leave out") == 0 {
			delete(value, name)
		} else {
			value[name] = change(t, value[name], values)
		}
		return value
	case []any:
		if deeper && len(value) > 0 {
			at := rapid.IntRange(0, len(value)-1).Draw(t, "element")
			value[at] = change(t, value[at], values)
			return value
		}
	}
	return json.RawMessage(rapid.SampledFrom(values).Draw(t, "value"))
}

// strictTools reads a page of tools as an SDK with strict types does.
func strictTools(page json.RawMessage) error {
	type schema struct {
		Type       string                    `json:"type"`
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	var list struct {
		Tools []struct {
			Name         string `json:"name"`
			Title        string `json:"title"`
			Description  string `json:"description"`
			InputSchema  schema `json:"inputSchema"`
			OutputSchema *schema
			Annotations  map[string]any `json:"annotations"`
			Icons        []struct {
				Src   string   `json:"src"`
				Sizes []string `json:"sizes"`
			} `json:"icons"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
			Meta map[string]any `json:"_meta"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(page, &list); err != nil {
		return err
	}
	for _, tool := range list.Tools {
		if tool.Name == "" || tool.InputSchema.Type != "object" || tool.OutputSchema != nil && tool.OutputSchema.Type != "object" {
			return fmt.Errorf("the tool %q", tool.Name)
		}
	}
	return nil
}
