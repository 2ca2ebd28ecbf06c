package form_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/broker/form"
)

// formCase is a schema, and answers to it.
type formCase struct {
	Name            string          `json:"name"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
	// Error is a part of the schema's error; empty if the schema is valid.
	Error   string `json:"error"`
	Answers []struct {
		Answer json.RawMessage `json:"answer"`
		// Sent is the server's content, if it differs from the answer.
		Sent string `json:"sent"`
		// Problems are the names of the invalid fields, in order; empty if there are none.
		Problems []string `json:"problems"`
	} `json:"answers"`
}

func readTable(t testing.TB) []formCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/forms.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []formCase
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// odd are the cases with words in their schemas that JSON Schema does not have.
var odd = map[string]bool{
	"optional: required, so null is sent for nothing": true, "choices in another type than the schema's": true,
	"choices as an object, in PHP for a list with gaps": true,
}

func TestTable(t *testing.T) {
	for _, c := range readTable(t) {
		t.Run(c.Name, func(t *testing.T) {
			fields, err := form.ParseElicitation(c.RequestedSchema)
			if c.Error != "" {
				if err == nil || !strings.Contains(err.Error(), c.Error) {
					t.Fatalf("ParseElicitation = %v, %v, want an error with %q", fields, err, c.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range c.Answers {
				content, problems := form.Check(fields, a.Answer)
				var names []string
				for _, p := range problems {
					names = append(names, p.Name)
				}
				if diff := cmp.Diff(a.Problems, names); diff != "" {
					t.Errorf("Check(%s): %v (-want +got):\n%s", a.Answer, problems, diff)
					continue
				}
				want := string(a.Answer)
				if a.Sent != "" {
					want = a.Sent
				}
				if unlike := form.Mismatches(c.RequestedSchema, content); problems == nil && unlike != nil && !odd[c.Name] {
					t.Errorf("Check(%s) = %s, which is not as the schema: %q", a.Answer, content, unlike)
				}
				if problems == nil && !slices.Equal(compact(t, want), compact(t, string(content))) {
					t.Errorf("Check(%s) = %s, want %s", a.Answer, content, want)
				}
			}
		})
	}
}

func compact(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := json.Marshal(json.RawMessage(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}
