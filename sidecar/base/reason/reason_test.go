package reason_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"assent/sidecar/base/reason"
)

func TestErrorsWithoutTheTermsOfGo(t *testing.T) {
	type inner struct {
		N int64 `json:"n"`
	}
	decode := func(text string) error {
		var v struct {
			Name  string           `json:"name"`
			Temp  *float64         `json:"temperature"`
			Flag  bool             `json:"flag"`
			List  []string         `json:"list"`
			Inner inner            `json:"inner"`
			Map   map[string]inner `json:"map"`
		}
		return json.Unmarshal([]byte(text), &v)
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a number for a string", decode(`{"name":5}`), `"name" is a number and must be a string`},
		{"a string for a number", decode(`{"temperature":"hot"}`), `"temperature" is a string and must be a number`},
		{"a string for a boolean", decode(`{"flag":"yes"}`), `"flag" is a string and must be a boolean`},
		{"a boolean for a string", decode(`{"name":true}`), `"name" is a boolean and must be a string`},
		{"an object for an array", decode(`{"list":{}}`), `"list" is an object and must be an array`},
		{"an array for an object", decode(`{"inner":[]}`), `"inner" is an array and must be an object`},
		{"a fraction for an integer", decode(`{"inner":{"n":1.5}}`), `"inner.n" is a number and must be an integer`},
		{"a string for the whole", decode(`"text"`), `it is a string and must be an object`},
		{"wrapped", fmt.Errorf("calling %q: %w", "tools/list", decode(`{"name":5}`)), `calling "tools/list": "name" is a number and must be a string`},
		{"swallowed", fmt.Errorf("calling %q: %v", "tools/list", decode(`{"inner":{"n":1.5}}`)), `calling "tools/list": "inner.n" is a number and must be an integer`},
		{"swallowed, of an array", fmt.Errorf("calling: %v", decode(`{"list":7}`)), `calling: "list" is a number and must be an array`},
		{"swallowed, of a named type", fmt.Errorf("calling: %v", decode(`{"inner":7}`)), `calling: "inner" must not be a number`},
		{"swallowed, of the whole", fmt.Errorf("its result: %v", decode(`[]`)), `its result: it is an array and must be an object`},
		{
			"of go-sdk's decoder", &json.UnmarshalTypeError{Value: `"5,\"inputSchema\":{..."`, Type: reflect.TypeFor[string](), Struct: "mcp.ListToolsResult", Field: "tools.0.name"},
			`"tools.0.name" is a number and must be a string`,
		},
		{"cancelled", fmt.Errorf("asking: %w", context.Canceled), "asking: it was cancelled"},
		{"too late", context.DeadlineExceeded, "it took too long"},
		{"closed", io.EOF, "the connection was closed"},
		{"closed, wrapped", fmt.Errorf("asking: %w", io.EOF), "asking: the connection was closed"},
		{"closed in the middle", fmt.Errorf("asking: %w", io.ErrUnexpectedEOF), "asking: the connection ended in the middle"},
		{"the text of a server", errors.New("GEOFENCE: EOF"), "GEOFENCE: EOF"},
		{"another", errors.New("no train"), "no train"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reason.Of(tt.err); got != tt.want {
				t.Errorf("Of(%v) = %s, want %s", tt.err, got, tt.want)
			}
		})
	}
}
