package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/sidecar/broker/form"
)

func TestFlatMergesWhatTheRootOfASchemaSays(t *testing.T) {
	deep := `{"properties":{"a":{}}}`
	for range 200 {
		deep = `{"allOf":[` + deep + `]}`
	}
	for _, tt := range []struct{ name, schema, want string }{
		{"nothing to merge", `{"type":"object","properties":{"a":{"anyOf":[{}]}}}`, ""},
		{
			"allOf", `{"type":"object","properties":{"b":{}},"required":["b"],"allOf":[{"properties":{"a":{}},"required":["a","b"]}]}`,
			`{"type":"object","properties":{"b":{},"a":{}},"required":["a","b"]}`,
		},
		{
			"anyOf, whose required names are not those of all", `{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}],"description":"d"}`,
			`{"description":"d","type":"object","properties":{"a":{},"b":{}}}`,
		},
		{
			"a property that two describe", `{"type":"object","oneOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}}}]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"const":1},{"const":2}]}}}`,
		},
		{
			"if, then and else", `{"type":"object","if":{"properties":{"a":{}}},"then":{"properties":{"b":{}}},"else":{"properties":{"c":{}}}}`,
			`{"type":"object","properties":{"b":{},"c":{}}}`,
		},
		{
			"a reference", `{"type":"object","$ref":"#/$defs/a~1b","$defs":{"a/b":{"properties":{"a":{}},"required":["a"]}}}`,
			`{"type":"object","$defs":{"a/b":{"properties":{"a":{}},"required":["a"]}},"properties":{"a":{}},"required":["a"]}`,
		},
		{"a remote reference", `{"type":"object","$ref":"https://example.org/s"}`, `{"type":"object"}`},
		{"a loop", `{"type":"object","allOf":[{"$ref":"#/allOf/0"},{"$ref":"#"}]}`, `{"type":"object"}`},
		{"too deep", deep, `{"type":"object"}`},
		{"no lists", `{"type":"object","anyOf":5,"allOf":{},"required":"a","properties":[]}`, `{"type":"object"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, merged := form.Flat(json.RawMessage(tt.schema))
			want := tt.want
			if want == "" {
				want = tt.schema
			}
			if string(got) != want || merged != (tt.want != "") {
				t.Errorf("merged = %v: %s\nwant %s", merged, got, want)
			}
		})
	}
}

// TestFlatIsBounded merges a schema that its references would double at each step.
func TestFlatIsBounded(t *testing.T) {
	var defs strings.Builder
	for i := range 60 {
		fmt.Fprintf(&defs, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	schema := `{"type":"object","$ref":"#/$defs/d0","$defs":{` + defs.String() + `"d60":{"properties":{"a":{}}}}}`
	if got, merged := form.Flat(json.RawMessage(schema)); !merged || !json.Valid(got) {
		t.Errorf("merged = %v: %s", merged, got)
	}
}
