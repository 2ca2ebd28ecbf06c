package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// FuzzDecode decodes a frame as the connection does, and compares a request with its members.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1, "b"]}}`))
	f.Add([]byte(` {"method":"\u006d","id":null,"error":null} `))
	f.Add([]byte(`{"id":"x","result":null}`))
	f.Add([]byte(`{"id":"x","result":{"b":1.0,"a":2}}`))
	f.Add([]byte(`{"id":-1.5,"method":"m"}`))
	f.Add([]byte(`{"id":1,"method":""}`))
	f.Add([]byte(`[{"id":1,"error":{}}]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var s stream
		var request jsonrpc2.Request
		if s.decode(frame, &request) != nil { // a response is not a request
			return
		}
		s.restore(&request, nil)
		var want struct {
			ID     *jsonrpc2.ID    `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(frame, &want); err != nil {
			t.Fatal(err)
		}
		if request.Method != want.Method || request.Notif != (want.ID == nil) || want.ID != nil && request.ID != *want.ID {
			t.Errorf("%s became %+v", frame, request)
		}
		if want.Method != "" && string(paramsOf(&request)) != string(want.Params) {
			t.Errorf("%s has the params %s", frame, paramsOf(&request))
		}
	})
}

// FuzzWrite writes a request with any method and id.
func FuzzWrite(f *testing.F) {
	f.Add("task/event", "", uint64(7))
	f.Add("\"\\\n\x7fé\xff", "a", uint64(0))
	f.Fuzz(func(t *testing.T, method, id string, number uint64) {
		request := &jsonrpc2.Request{Method: method, ID: jsonrpc2.ID{Num: number}}
		if id != "" {
			request.ID = jsonrpc2.ID{Str: id, IsString: true}
		}
		var out bytes.Buffer
		s := newStream(strings.NewReader(""), &out, Options{})
		s.prepare(request, nil)
		if err := s.WriteObject(nil); err != nil {
			t.Fatal(err)
		}
		s.out.wait()
		_, message, _ := strings.Cut(out.String(), "\r\n\r\n")
		encoded, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal([]byte(message), &got), json.Unmarshal(encoded, &want)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is written, want %s", message, encoded)
		}
	})
}
