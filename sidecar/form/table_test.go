package form_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/form"
)

var update = flag.Bool("update", false, "write the fields of the table's schemas anew")

const (
	tableFile  = "../../protocol/testdata/forms.json"
	fieldsFile = "../../protocol/testdata/forms.fields.json"
)

// formCase is a schema, and answers to it. The front end's table.test.ts and tableDrawn.test.tsx read the same
// table.
type formCase struct {
	Name            string          `json:"name"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
	// Error is a part of why the schema is refused; empty where it is not.
	Error   string `json:"error"`
	Answers []struct {
		// Inputs is what the controls hold, where the answer does not say that. The front end alone reads it.
		Inputs json.RawMessage `json:"inputs"`
		Answer json.RawMessage `json:"answer"`
		// Sent is what goes to the server, where that is not the answer.
		Sent string `json:"sent"`
		// Problems are the names of the fields that are wrong, in their order; empty where nothing is.
		Problems []string `json:"problems"`
	} `json:"answers"`
}

func readTable(t testing.TB) []formCase {
	t.Helper()
	raw, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var table []formCase
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTable(t *testing.T) {
	allFields := map[string][]protocol.Field{}
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
			allFields[c.Name] = fields
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
				if problems == nil && !slices.Equal(compact(t, want), compact(t, string(content))) {
					t.Errorf("Check(%s) = %s, want %s", a.Answer, content, want)
				}
			}
		})
	}
	got := onePerLine(t, allFields)
	if *update {
		if err := os.WriteFile(fieldsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(fieldsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the fields that the front end's tests read are stale; run go test ./sidecar/form -run TestTable -update (-want +got):\n%s", diff)
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

// onePerLine writes an object so that a change to a member is a change to a line.
func onePerLine(t *testing.T, fields map[string][]protocol.Field) string {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		line, err := json.Marshal(map[string]any{name: fields[name]})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSuffix(strings.TrimPrefix(string(line), "{"), "}"))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}
