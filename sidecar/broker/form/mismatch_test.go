package form

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMismatches(t *testing.T) {
	const rows = `{"type":"object","properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}}},"required":["rows"],
		"additionalProperties":false,"$defs":{"row":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`
	tests := []struct {
		name, schema, value string
		want                []string
	}{
		{"fits", rows, `{"rows":[{"n":1},{"n":2.0}]}`, nil},
		{"through a reference", rows, `{"rows":[{"n":1},{"n":"2"}]}`, []string{"rows[1].n is a text, and must be a whole number."}},
		{"missing", rows, `{"rows":[{}]}`, []string{`rows[0] has no "n".`}},
		{"not declared", rows, `{"rows":[],"a b":1}`, []string{`The result has "a b", which is not declared.`}},
		{"the whole", `{"type":["array","null"]}`, `{}`, []string{"The result is an object, and must be a list or null."}},
		{"only some are named", `{"items":{"type":"null"}}`, `[1,2,3,4]`, []string{
			"[0] is a number, and must be null.", "[1] is a number, and must be null.", "[2] is a number, and must be null.",
		}},
		{"an exact bound", `{"maximum":9007199254740992}`, `9007199254740993`, []string{"The result is greater than 9007199254740992."}},
		{"below", `{"minimum":-1}`, `-1.5`, []string{"The result is less than -1."}},
		{"within", `{"minimum":-2,"exclusiveMaximum":1e3}`, `999.9`, nil},
		{"at an exclusive bound", `{"exclusiveMinimum":5}`, `5.0`, []string{"The result must be greater than 5."}},
		{"cents", `{"multipleOf":0.01}`, `19.99`, nil},
		{"less than cents", `{"multipleOf":0.01}`, `19.999`, []string{"The result is not a multiple of 0.01."}},
		{"lengths", `{"properties":{"s":{"minLength":3},"l":{"maxItems":1}}}`, `{"s":"é","l":[1,2]}`, []string{
			"l has 2 items, and must have at most 1.", "s has 1 characters, and must have at least 3.",
		}},
		{"a pattern", `{"pattern":"^a+$"}`, `"ab"`, []string{"The result does not match the pattern ^a+$."}},
		{"a pattern of another engine", `{"pattern":"^(?=a)"}`, `"b"`, nil},
		{"enum", `{"enum":["a",1]}`, `1.0`, nil},
		{"not in enum", `{"enum":["a",1]}`, `"1"`, []string{"The result is none of the allowed values."}},
		{"const", `{"const":{"a":1}}`, `{"a":2}`, []string{"The result is not the one allowed value."}},
		{"an alternative", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `null`, nil},
		{"no alternative", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{"The result fits none of the alternatives."}},
		{"an alternative that is not known", `{"anyOf":[{"type":"string"},{"contains":{}}]}`, `1`, nil},
		{"two alternatives", `{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, []string{"The result fits more than one of the alternatives."}},
		{"not", `{"not":{"type":"null"}}`, `null`, []string{"The result is what must not be there."}},
		{"not what is not known", `{"not":{"contains":{"type":"null"}}}`, `[1]`, nil},
		{"if", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, []string{`The result has no "b".`}},
		{"else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, []string{`The result has no "c".`}},
		{"a tuple", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, []string{"[1] must not be there."}},
		{"twice", `{"uniqueItems":true}`, `[1,"1",1.0]`, []string{"[2] is there twice."}},
		{"patterns of names", `{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"x-a":1,"x-b":"b"}`, []string{`["x-a"] is a number, and must be a text.`}},
		{"hidden characters", `{"additionalProperties":{"type":"null"}}`, "{\"a\u202e\":1}", []string{`["a\u202e"] is a number, and must be null.`}},
		{"another document", `{"$ref":"https://example.com/s.json"}`, `1`, nil},
		{"a reference to nothing", `{"$ref":"#/$defs/none"}`, `1`, nil},
		{"no schema", `[`, `1`, nil},
		{"true", `true`, `1`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Mismatches(json.RawMessage(test.schema), json.RawMessage(test.value))); diff != "" {
				t.Errorf("Mismatches (-want +got):\n%s", diff)
			}
		})
	}
}

// A hostile server must neither crash the sidecar nor keep it busy.
func TestMismatchesOfHostileSchemasEnd(t *testing.T) {
	names := strings.Repeat(`"x",`, 100_000) + `"x"`
	long := `"` + strings.Repeat("x", 3<<20) + `"`
	tests := []struct{ name, schema, value string }{
		{"a loop", `{"$ref":"#"}`, `1`},
		{"a loop with two ways", `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `1`},
		{"references that double", chain(60), `1`},
		{"many allowed values for many items", `{"items":{"enum":[` + names + `]}}`, `[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]`},
		{"a long allowed value for many items", `{"items":{"const":` + long + `}}`, `[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]`},
		{"patterns for many texts", `{"items":{"pattern":"(a{1,30}){1,30}b"}}`, `[` + strings.TrimSuffix(strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",`, 50_000), ",") + `]`},
		{"deep", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// The race detector makes the real limit ten seconds long. What has no limit takes hours with any.
			began := time.Now()
			mismatches(json.RawMessage(test.schema), json.RawMessage(test.value), maxChecks/20)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// chain returns a schema whose work doubles with each of its definitions.
func chain(length int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a","$defs":{`)
	for i := range length {
		name, next := strings.Repeat("a", i+1), strings.Repeat("a", i+2)
		b.WriteString(`"` + name + `":{"allOf":[{"$ref":"#/$defs/` + next + `"},{"$ref":"#/$defs/` + next + `"}]},`)
	}
	b.WriteString(`"` + strings.Repeat("a", length+1) + `":{}}}`)
	return b.String()
}
