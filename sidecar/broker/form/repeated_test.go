package form

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextsThatRepeatAValue(t *testing.T) {
	tests := []struct {
		name, value string
		texts       []string
		want        []int
	}{
		{"as it is", `{"a":1}`, []string{"See:", `{"a":1}`}, []int{1}},
		{"in another order, with another notation", `{"a":1,"b":[true,null]}`, []string{"{\n \"b\": [true, null],\n \"a\": 1.0e0 }"}, []int{0}},
		{"twice", `{"a":1}`, []string{`{"a":1}`, `{"a": 1}`}, []int{0, 1}},
		{"beside a summary", `{"rows":3}`, []string{"There are 3 rows."}, nil},
		{"numbers that are the same as doubles", `{"id":9007199254740993}`, []string{`{"id":9007199254740992}`}, nil},
		{"a number without an end", `{"id":1e999999999}`, []string{`{"id":10e999999998}`}, []int{0}},
		{"zeros", `[0]`, []string{`[-0.0]`}, []int{0}},
		{"a number is no text", `{"a":"1"}`, []string{`{"a":1}`}, nil},
		{"a text in an object", `{"result":"hello"}`, []string{"hello"}, []int{0}},
		{"an item for each text", `{"result":[{"n":1},"two"]}`, []string{`{"n": 1}`, "and", "two"}, []int{0, 2}},
		{"not all items", `{"result":["one","two"]}`, []string{"one"}, nil},
		{"an empty list", `{"result":[]}`, nil, nil},
		{"more than JSON", `{"a":1}`, []string{`{"a":1} is the result`}, nil},
		{"a value that is much longer", `["` + strings.Repeat(`a","`, 100) + `a"]`, []string{"a"}, nil},
		{"a value that escapes make longer", `["` + strings.Repeat(`\u0061`, 100) + `"]`, []string{strings.Repeat("a", 100)}, []int{0}},
		{"no value", ``, []string{"done"}, nil},
		{"with other spaces", `{"a":"x \"\\","b":[1,2]}`, []string{" {\n\t\"a\": \"x \\\"\\\\\", \"b\": [1, 2]}\r\n"}, []int{0}},
		{"spaces in a text", `{"a":"x  y"}`, []string{`{"a":"x y"}`}, nil},
		{"spaces after a quote in a text", `{"a":"\" y"}`, []string{`{"a":"\"y"}`}, nil},
		{"spaces in a number", `[12]`, []string{`[1 2]`}, nil},
		{"less", `[1,2]`, []string{`[1]`}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Repeated(json.RawMessage(test.value), test.texts)); diff != "" {
				t.Errorf("Repeated (-want +got):\n%s", diff)
			}
		})
	}
}

// A large value with its text is not decoded.
func TestATextThatRepeatsALargeValueCostsNothing(t *testing.T) {
	value := json.RawMessage(`{"rows":["` + strings.Repeat(`a row","`, 100_000) + `the last"]}`)
	texts := []string{strings.ReplaceAll(string(value), ",", ", ")}
	allocations := testing.AllocsPerRun(1, func() {
		if diff := cmp.Diff([]int{0}, Repeated(value, texts)); diff != "" {
			t.Errorf("Repeated (-want +got):\n%s", diff)
		}
	})
	if allocations > 1000 {
		t.Errorf("%v allocations", allocations)
	}
}
