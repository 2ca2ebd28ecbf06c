package terminal

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

func TestStructuredContentThatNoTextRepeatsIsPrinted(t *testing.T) {
	tests := []struct {
		name, structured string
		texts            []string
		want             string
	}{
		{"alone", `{"a":1}`, nil, "{\"a\":1}\n"},
		{"repeated as it is", `{"a":1}`, []string{`{"a":1}`}, "{\"a\":1}\n"},
		{"repeated in another order and on several lines", `{"a":1,"b":[true]}`, []string{"{\n  \"b\": [true],\n  \"a\": 1.0\n}"}, "{\n  \"b\": [true],\n  \"a\": 1.0\n}\n"},
		{"beside a summary", `{"rows":3}`, []string{"There are 3 rows."}, "There are 3 rows.\n{\"rows\":3}\n"},
		{"a text in an object", `{"result":"hello"}`, []string{"hello"}, "hello\n"},
		{"a list in an object, a text for each item", `{"result":[{"n":1},"two"]}`, []string{`{"n": 1}`, "two"}, "{\"n\": 1}\ntwo\n"},
		{"a list of which one item is not said", `{"result":["one","two"]}`, []string{"one"}, "one\n{\"result\":[\"one\",\"two\"]}\n"},
		{"a number in an object", `{"result":4}`, []string{"4"}, "4\n"},
		{"more than the text says", `{"result":4,"unit":"m"}`, []string{"4"}, "4\n{\"result\":4,\"unit\":\"m\"}\n"},
		{"a number that a double cannot hold", `{"id":9007199254740993}`, []string{`{"id":9007199254740992}`}, "{\"id\":9007199254740992}\n{\"id\":9007199254740993}\n"},
		{"an empty list", `{"result":[]}`, nil, "{\"result\":[]}\n"},
		{"nothing", "", []string{"done"}, "done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := protocol.ToolResult{StructuredContent: json.RawMessage(tt.structured)}
			for _, text := range tt.texts {
				r.Content = append(r.Content, protocol.TextContent{Text: text})
			}
			if diff := cmp.Diff(tt.want, resultText(r)); diff != "" {
				t.Errorf("resultText (-want +got):\n%s", diff)
			}
		})
	}
}
