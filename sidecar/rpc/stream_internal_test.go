package rpc

import (
	"encoding/json"
	"testing"
)

// FuzzDecode has a frame be a request, an answer or an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1, "b"]}}`))
	f.Add([]byte(` {"method":"\u006d","id":null,"error":null} `))
	f.Add([]byte(`{"id":"x","result":null}`))
	f.Add([]byte(`{"id":-1.5,"method":"m"}`))
	f.Add([]byte(`[{"id":1,"error":{}}]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		served := 0
		s := &stream{request: func(r *request) {
			served++
			if r.params != nil && !json.Valid(r.params) {
				t.Errorf("the params are %s", r.params)
			}
		}}
		var answer any
		isAnswer, err := s.decode(frame, &answer)
		if isNot := isAnswer || err != nil; isNot == (served == 1) {
			t.Errorf("it was served %d times, and is an answer: %t, and an error: %v", served, isAnswer, err)
		}
	})
}
