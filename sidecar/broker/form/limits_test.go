package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

func TestAFormHasBounds(t *testing.T) {
	var fields, options []string
	for i := range 1001 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
	}
	for i := range 20_001 {
		options = append(options, fmt.Sprintf(`"v%d"`, i))
	}
	long := strings.Repeat("x", 100_000)
	// Each definition needs the next one twice.
	var doubled []string
	for i := range 40 {
		doubled = append(doubled, fmt.Sprintf(`"d%d":{"oneOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	doubled = append(doubled, `"d40":{"enum":["a","b"]}`)
	nested := strings.Repeat(`{"allOf":[`, 1000) + "true" + strings.Repeat("]}", 1000)
	var chain []string
	for i := range 1000 {
		chain = append(chain, fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1))
	}
	tests := []struct{ name, schema, want string }{
		{"references that double", `{"$defs":{` + strings.Join(doubled, ",") + `},"properties":{"a":{"$ref":"#/$defs/d0"}}}`, "property a is too large"},
		{"schemas in schemas", object(`"a":` + nested), "property a is too large"},
		{"a long chain", `{"$defs":{` + strings.Join(chain, ",") + `},"properties":{"a":{"$ref":"#/$defs/d0"}}}`, "property a is too large"},
		{"too many fields", object(strings.Join(fields, ",")), "the schema has 1001 properties, and a form may have 1000"},
		{"too many choices", object(`"a":{"type":"string","enum":[` + strings.Join(options, ",") + `]}`), "the schema has 20001 choices, and a form may have 20000"},
		{"too long a name", object(`"` + long + `":{"type":"string"}`), "its name has more than 1000 characters"},
		{"too many bytes", object(`"a":{"type":"string","description":"` + strings.Repeat("x", 5<<20) + `"}`), "bytes, and a form may have 4194304"},
		{"a type of 100 kB", object(`"a":{"type":"` + long + `"}`), "has the type"},
		{"a type that is 100 kB of something else", object(`"a":{"type":{"` + long + `":1}}`), "has no type"},
		{"a name of 100 kB twice", object(`"` + long + `":{},"` + long + `":{}`), "occurs twice"},
		{"a required name of 100 kB", object(``, long), "is required and not described"},
		{"a control character in a name", object(`"a\u202e\u0007":{"type":"x"}`), `property "a\u202e\a"`},
		{"deep nesting", object(`"a":{"type":"string","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`), "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := form.ParseElicitation(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("ParseElicitation = %.300v, want an error with %q", err, tt.want)
			}
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\u202e\a") {
				t.Errorf("the error is long, or has what deceives: %.300q", err)
			}
		})
	}
}

func TestAGreatFormIsReadAndChecked(t *testing.T) {
	var fields, options, answer []string
	for i := range 500 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","pattern":"^(a+)+$"}`, i))
		answer = append(answer, fmt.Sprintf(`"f%d":"%s!"`, i, strings.Repeat("a", 100)))
	}
	for i := range 10_000 {
		options = append(options, fmt.Sprintf(`"v%d"`, i))
	}
	all := strings.Join(options, ",")
	fields = append(fields, `"many":{"type":"array","items":{"enum":[`+all+`]}}`)
	answer = append(answer, `"many":[`+all+`]`)
	read, err := form.ParseElicitation(json.RawMessage(object(strings.Join(fields, ","))))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(read[500].(protocol.ChoicesField).Options); n != 10_000 {
		t.Errorf("%d options", n)
	}
	if _, problems := form.Check(read, json.RawMessage(`{`+strings.Join(answer, ",")+`}`)); len(problems) != 500 {
		t.Errorf("%d problems, want one for each text", len(problems))
	}
}
