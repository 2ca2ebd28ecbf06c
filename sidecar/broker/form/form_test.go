package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// object wraps properties into a schema.
func object(properties string, required ...string) string {
	r, err := json.Marshal(required)
	if err != nil {
		panic(err)
	}
	return `{"type":"object","properties":{` + properties + `},"required":` + string(r) + `}`
}

func TestParseElicitationReadsEveryKind(t *testing.T) {
	schema := object(`
		"zeta":  {"type":"string","title":"Z","description":"d","minLength":1,"maxLength":9,"pattern":"^a","default":"a"},
		"mail":  {"type":"string","format":"email"},
		"n":     {"type":"number","minimum":-1.5,"maximum":2,"default":0},
		"i":     {"type":"integer"},
		"b":     {"type":"boolean","default":false},
		"enum":  {"type":"string","enum":["x","y"],"default":"y"},
		"names": {"type":"string","enum":["x","y"],"enumNames":["X","Y"]},
		"oneOf": {"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]},
		"many":  {"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2,"default":["x"]},
		"anyOf": {"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}},
		"alpha": {"type":"string","format":"something-else"}`, "n", "zeta")
	got, err := form.ParseElicitation(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	head := func(name string) protocol.FieldHead { return protocol.FieldHead{Name: name} }
	plain := []protocol.Option{{Value: "x"}, {Value: "y"}}
	titled := []protocol.Option{{Value: "x", Title: "X"}, {Value: "y", Title: "Y"}}
	want := []protocol.Field{
		protocol.StringField{
			FieldHead: protocol.FieldHead{Name: "zeta", Title: "Z", Description: "d", Required: true},
			Default:   new("a"), MinLength: new(1), MaxLength: new(9), Pattern: "^a",
		},
		protocol.StringField{FieldHead: head("mail"), Format: protocol.FormatEmail},
		protocol.NumberField{
			FieldHead: protocol.FieldHead{Name: "n", Required: true},
			Default:   new(0.0), Minimum: new(-1.5), Maximum: new(2.0),
		},
		protocol.NumberField{FieldHead: head("i"), Integer: true},
		protocol.BooleanField{FieldHead: head("b"), Default: new(false)},
		protocol.ChoiceField{FieldHead: head("enum"), Options: plain, Default: new("y")},
		protocol.ChoiceField{FieldHead: head("names"), Options: titled},
		protocol.ChoiceField{FieldHead: head("oneOf"), Options: titled},
		protocol.ChoicesField{FieldHead: head("many"), Options: plain, MinItems: new(1), MaxItems: new(2), Default: []string{"x"}},
		protocol.ChoicesField{FieldHead: head("anyOf"), Options: titled[:1]},
		protocol.StringField{FieldHead: head("alpha")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestParseElicitationRefusesWhatMCPDoesNotAllow(t *testing.T) {
	tests := []struct {
		name, schema, want string
	}{
		{"no object", `{"type":"string"}`, `must be "object"`},
		{"no JSON", `{"type":`, "cannot be read"},
		{"properties of another type", `{"type":"object","properties":[{}]}`, "cannot be read"},
		{"a name twice", object(`"a":{"type":"string"},"a":{"type":"number"}`), `"a" occurs twice`},
		{"nesting", object(`"a":{"type":"object","properties":{}}`), `property a is an object, which a form cannot show`},
		{"a type that is none", object(`"a":{"type":{}}`), `property a has no type that a form can show: {}`},
		{"no type of a list", object(`"a":{"type":[]}`), `property a has no type that a form can show: []`},
		{"unknown type", object(`"a":{"type":"money"}`), `has the type "money"`},
		{"a list of objects", object(`"a":{"type":"array","items":{"type":"object"}}`), "is an array, and each item is an object"},
		{"a list of lists", object(`"a":{"type":"array","items":{"type":"array"}}`), "is an array of arrays"},
		{"places of a list", object(`"a":{"type":"array","prefixItems":[{"type":"string"}]}`), "is an array with another schema for each item"},
		{"a choice of another type", object(`"a":{"type":"string","enum":[true,2]}`), "has no choices of its type string: true is none"},
		{"a choice of objects", object(`"a":{"enum":[{"b":1}]}`), `has a choice that is neither a text nor a number: {"b":1}`},
		{"no choices", object(`"a":{"type":"string","enum":[]}`), "has no choices"},
		{"choices that exclude each other", object(`"a":{"type":"string","enum":["x"],"oneOf":[{"const":"y"}]}`), "has no choices"},
		{"lengths that nothing has", object(`"a":{"type":"string","minLength":3,"maxLength":2}`), "a minLength of 3 above its maxLength of 2"},
		{"a length that is none", object(`"a":{"type":"string","minLength":1.5}`), "minLength: 1.5 is not a count"},
		{"a length that nothing has", object(`"a":{"type":"string","maxLength":-1}`), "a maxLength of -1, which no answer can meet"},
		{"numbers that nothing is", object(`"a":{"type":"number","minimum":3,"maximum":2}`), "a minimum of 3 above its maximum of 2"},
		{"more choices than there are", object(`"a":{"type":"array","items":{"enum":["x"]},"minItems":2}`), "a minItems of 2 and 1 choices"},
		{"a type twice", object(`"a":{"type":"string","type":"object"}`), `"type" occurs twice`},
		{"required and forbidden", `{"type":"object","properties":{},"required":["b"],"additionalProperties":false}`, `property b is required and not described`},
		{"the schema false", object(`"a":false`), `property a allows no value`},
		{"no schema", object(`"a":5`), `property a cannot be read`},
		{"a loop", `{"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/A"}]}},"properties":{"a":{"$ref":"#/$defs/A"}}}`, `property a refers to itself by "#/$defs/A"`},
		{"a reference to the whole", object(`"a":{"$ref":"#"}`), `property a is an object`},
		{"a reference to nothing", object(`"a":{"$ref":"#/$defs/A"}`), `property a refers to "#/$defs/A", which is not in its schema`},
		{"a reference to another document", object(`"a":{"$ref":"https://example.com/a.json"}`), `property a refers to "https://example.com/a.json", which is not in its schema`},
		{"a part that contradicts another", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"integer"}}}]}`, "has two different values for properties"},
		{"a reference to an anchor", object(`"a":{"$ref":"#a"}`), `property a refers to "#a"`},
		{"a reference that moves", object(`"a":{"$dynamicRef":"#a"}`), `property a has the keyword $dynamicRef`},
		{"types that exclude each other", object(`"a":{"type":"string","allOf":[{"type":"integer"}]}`), `property a has the types string and integer`},
		{"two patterns", object(`"a":{"type":"string","pattern":"a","allOf":[{"pattern":"b"}]}`), `property a has two different values for pattern`},
		{"one of two objects", `{"oneOf":[{"type":"object","properties":{"a":{}}},{"type":"object"}]}`, "the schema is one of several objects"},
		{"a nested object that is optional", object(`"a":{"anyOf":[{"type":"object"},{"type":"null"}]}`), "property a is an object"},
		{"no alternative", object(`"a":{"anyOf":[]}`), "has no choices: anyOf is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields, err := form.ParseElicitation(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseElicitation = %v, %v, want an error with %q", fields, err, tt.want)
			}
		})
	}
}

func TestParseInputTakesAnything(t *testing.T) {
	schema := object(`
		"name": {"type":"string"},
		"deep": {"type":"object","title":"Deep","description":"d","default":{"x":1}},
		"any":  true`, "deep")
	got, err := form.ParseInput(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	want := []protocol.Field{
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "name"}},
		protocol.JSONField{
			FieldHead: protocol.FieldHead{Name: "deep", Title: "Deep", Description: "d", Required: true},
			Schema:    json.RawMessage(`{"type":"object","title":"Deep","description":"d","default":{"x":1}}`),
			Default:   json.RawMessage(`{"x":1}`),
		},
		protocol.JSONField{FieldHead: protocol.FieldHead{Name: "any"}, Schema: json.RawMessage(`true`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name, properties string
		required         []string
		answer           string
		want             string            // the server's content
		problems         map[string]string // parts of the messages, by field
	}{
		{name: "the order is the form's", properties: `"z":{"type":"string"},"a":{"type":"string"}`, answer: `{"a":"1","z":"2"}`, want: `{"z":"2","a":"1"}`},
		{name: "nothing", properties: `"a":{"type":"string"}`, answer: ``, want: `{}`},
		{name: "empty values are values", properties: `"s":{"type":"string"},"n":{"type":"number"},"b":{"type":"boolean"}`, answer: `{"s":"","n":0,"b":false}`, want: `{"s":"","n":0,"b":false}`},
		{name: "a number is not touched", properties: `"n":{"type":"number"}`, answer: `{"n":1.50e3}`, want: `{"n":1.50e3}`},
		{name: "a great integer is not touched", properties: `"n":{"type":"integer"}`, answer: `{"n":9007199254740993}`, want: `{"n":9007199254740993}`},
		{name: "a default is a proposal only", properties: `"a":{"type":"string","default":"x"}`, answer: `{}`, want: `{}`},
		{name: "required", properties: `"a":{"type":"string","default":"x"}`, required: []string{"a"}, answer: `{}`, problems: map[string]string{"a": "required"}},
		{name: "unknown", properties: `"a":{"type":"string"}`, answer: `{"b":1}`, problems: map[string]string{"b": "no such field"}},
		{name: "twice", properties: `"a":{"type":"string"}`, answer: `{"a":"1","a":"2"}`, problems: map[string]string{"": `"a" occurs twice`}},
		{name: "no object", properties: `"a":{"type":"string"}`, answer: `[]`, problems: map[string]string{"": "cannot be read"}},
		{name: "null is no text", properties: `"a":{"type":"string"}`, answer: `{"a":null}`, problems: map[string]string{"a": "a text"}},
		{name: "null is no number", properties: `"a":{"type":"number"}`, answer: `{"a":null}`, problems: map[string]string{"a": "a number"}},
		{name: "null is no boolean", properties: `"a":{"type":"boolean"}`, answer: `{"a":null}`, problems: map[string]string{"a": "yes or no"}},
		{name: "null is no list", properties: `"a":{"type":"array","items":{"enum":["x"]}}`, answer: `{"a":null}`, problems: map[string]string{"a": "a list"}},
		{name: "every problem at once", properties: `"a":{"type":"string"},"b":{"type":"boolean"}`, answer: `{"a":1,"b":"yes"}`, problems: map[string]string{"a": "a text", "b": "yes or no"}},

		{name: "lengths count code points", properties: `"a":{"type":"string","minLength":2,"maxLength":2}`, answer: `{"a":"😀é"}`, want: `{"a":"😀é"}`},
		{name: "too short", properties: `"a":{"type":"string","minLength":2}`, answer: `{"a":"😀"}`, problems: map[string]string{"a": "at least 2 characters."}},
		{name: "too long", properties: `"a":{"type":"string","maxLength":1}`, answer: `{"a":"ab"}`, problems: map[string]string{"a": "at most 1 character."}},
		{name: "a pattern need not match all", properties: `"a":{"type":"string","pattern":"[0-9]+"}`, answer: `{"a":"x1y"}`, want: `{"a":"x1y"}`},
		{name: "no match, and a description", properties: `"a":{"type":"string","description":"Digits only.","pattern":"^[0-9]+$"}`, answer: `{"a":"x1y"}`, problems: map[string]string{"a": "match: Digits only."}},
		{name: "no match", properties: `"a":{"type":"string","pattern":"^[0-9]+$"}`, answer: `{"a":"x1y"}`, problems: map[string]string{"a": "the pattern"}},
		{name: "e-mail", properties: `"a":{"type":"string","format":"email"}`, answer: `{"a":"a.b+c@example.org"}`, want: `{"a":"a.b+c@example.org"}`},
		{name: "no e-mail", properties: `"a":{"type":"string","format":"email"}`, answer: `{"a":"notanemail"}`, problems: map[string]string{"a": "e-mail"}},
		{name: "an e-mail with a name", properties: `"a":{"type":"string","format":"email"}`, answer: `{"a":"A <a@example.org>"}`, problems: map[string]string{"a": "e-mail"}},
		{name: "URI", properties: `"a":{"type":"string","format":"uri"}`, answer: `{"a":"urn:isbn:1"}`, want: `{"a":"urn:isbn:1"}`},
		{name: "no URI", properties: `"a":{"type":"string","format":"uri"}`, answer: `{"a":"example.org/x"}`, problems: map[string]string{"a": "full address"}},
		{name: "date", properties: `"a":{"type":"string","format":"date"}`, answer: `{"a":"2024-02-29"}`, want: `{"a":"2024-02-29"}`},
		{name: "no such date", properties: `"a":{"type":"string","format":"date"}`, answer: `{"a":"2026-02-29"}`, problems: map[string]string{"a": "a date"}},
		{name: "date-time", properties: `"a":{"type":"string","format":"date-time"}`, answer: `{"a":"2026-07-28T12:00:00.5+02:00"}`, want: `{"a":"2026-07-28T12:00:00.5+02:00"}`},
		{name: "date-time without a zone", properties: `"a":{"type":"string","format":"date-time"}`, answer: `{"a":"2026-07-28T12:00:00"}`, problems: map[string]string{"a": "date and time"}},

		{name: "whole", properties: `"a":{"type":"integer"}`, answer: `{"a":2.0}`, want: `{"a":2.0}`},
		{name: "not whole", properties: `"a":{"type":"integer"}`, answer: `{"a":2.5}`, problems: map[string]string{"a": "whole"}},
		{name: "bounds are inclusive", properties: `"a":{"type":"number","minimum":1,"maximum":1}`, answer: `{"a":1}`, want: `{"a":1}`},
		{name: "too little", properties: `"a":{"type":"number","minimum":0.5}`, answer: `{"a":0.4}`, problems: map[string]string{"a": "at least 0.5"}},
		{name: "too much", properties: `"a":{"type":"number","maximum":1}`, answer: `{"a":1e9}`, problems: map[string]string{"a": "at most 1"}},
		{name: "a great bound has no exponent", properties: `"a":{"type":"integer","maximum":1000000}`, answer: `{"a":1000001}`, problems: map[string]string{"a": "at most 1000000."}},
		{name: "a text is no number", properties: `"a":{"type":"number"}`, answer: `{"a":"one"}`, problems: map[string]string{"a": "a number"}},

		{name: "the text of a number is one", properties: `"a":{"type":"integer"}`, answer: `{"a":"9007199254740993"}`, want: `{"a":9007199254740993}`},

		{name: "choice", properties: `"a":{"type":"string","enum":["x",""]}`, answer: `{"a":""}`, want: `{"a":""}`},
		{name: "no choice", properties: `"a":{"type":"string","enum":["x"]}`, answer: `{"a":"X"}`, problems: map[string]string{"a": "one of the choices"}},
		{name: "choices", properties: `"a":{"type":"array","items":{"enum":["x","y"]}}`, answer: `{"a":[]}`, want: `{"a":[]}`},
		{name: "too few choices", properties: `"a":{"type":"array","items":{"enum":["x","y"]},"minItems":1}`, answer: `{"a":[]}`, problems: map[string]string{"a": "at least 1"}},
		{name: "too many choices", properties: `"a":{"type":"array","items":{"enum":["x","y"]},"maxItems":1}`, answer: `{"a":["x","y"]}`, problems: map[string]string{"a": "at most 1"}},
		{name: "a choice twice", properties: `"a":{"type":"array","items":{"enum":["x","y"]}}`, answer: `{"a":["x","x"]}`, problems: map[string]string{"a": "once"}},
		{name: "an unknown choice", properties: `"a":{"type":"array","items":{"enum":["x","y"]}}`, answer: `{"a":["z"]}`, problems: map[string]string{"a": "of the choices"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields, err := form.ParseElicitation(json.RawMessage(object(tt.properties, tt.required...)))
			if err != nil {
				t.Fatal(err)
			}
			got, problems := form.Check(fields, json.RawMessage(tt.answer))
			if string(got) != tt.want {
				t.Errorf("Check = %s, want %s", got, tt.want)
			}
			if len(problems) != len(tt.problems) {
				t.Fatalf("problems = %+v, want %v", problems, tt.problems)
			}
			for _, p := range problems {
				if want, ok := tt.problems[p.Name]; !ok || !strings.Contains(p.Message, want) {
					t.Errorf("problem %+v, want %v", p, tt.problems)
				}
			}
		})
	}
}

// FuzzForm looks for schemas and answers that crash, for answers that change, and for forms that exceed
// the limits.
func FuzzForm(f *testing.F) {
	f.Add(object(`"a":{"type":"string","pattern":"a+"},"b":{"type":"array","items":{"anyOf":[{"const":"x"}]}}`, "a"), `{"b":["x"],"a":"a"}`)
	f.Add(object(`"n":{"type":"integer","minimum":1e400}`), `{"n":1e400}`)
	f.Add(`{"type":"object","properties":{"a":null}}`, `{"a":null}`)
	for _, c := range readTable(f) {
		f.Add(string(c.RequestedSchema), `{}`)
		for _, a := range c.Answers {
			f.Add(string(c.RequestedSchema), string(a.Answer))
		}
	}
	f.Fuzz(func(t *testing.T, schema, answer string) {
		if _, err := form.ParseInput(json.RawMessage(schema)); err == nil && !json.Valid([]byte(schema)) {
			t.Fatalf("a schema that is no JSON was taken: %q", schema)
		}
		fields, err := form.ParseElicitation(json.RawMessage(schema))
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Fatalf("the error has %d bytes: %.200s", len(err.Error()), err)
			}
			return
		}
		if len(fields) > 1000 {
			t.Fatalf("the form has %d fields", len(fields))
		}
		checked, problems := form.Check(fields, json.RawMessage(answer))
		if problems != nil {
			return
		}
		again, problems := form.Check(fields, checked)
		if problems != nil || string(again) != string(checked) {
			t.Fatalf("%s became %s on its second way: %v", checked, again, problems)
		}
		if masked := protocol.MaskSecrets(fields, checked); !json.Valid(masked) {
			t.Fatalf("%s is masked as %s", checked, masked)
		}
	})
}
