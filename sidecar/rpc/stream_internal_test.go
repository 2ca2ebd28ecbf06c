package rpc

import (
	"encoding/json"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// FuzzDecode has a frame be a request, an answer or an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1, "b"]}}`))
	f.Add([]byte(` {"method":"\u006d","id":null,"error":null} `))
	f.Add([]byte(`{"id":"x","result":null}`))
	f.Add([]byte(`{"id":-1.5,"method":"m"}`))
	f.Add([]byte(`[{"id":1,"error":{}}]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var message any
		var s stream
		if err := s.decode(frame, &message); err != nil {
			return
		}
		var request jsonrpc2.Request
		s.restoreParams(&request, nil)
		if request.Params == nil {
			return
		}
		if !json.Valid(*request.Params) {
			t.Errorf("the params are %s", *request.Params)
		}
		if members, ok := message.(map[string]any); !ok || members["method"] == nil || members["params"] != nil {
			t.Errorf("params came with %v", message)
		}
	})
}
