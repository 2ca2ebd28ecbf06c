package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/jsonscan"
)

// FuzzOf compares the members that Of yields with those of encoding/json.
func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"a":1,"b" : {"c":[1,{"d":"}\\"]"}]} , "\u0061":null,"":"x"}`))
	f.Add([]byte(`{ }`))
	f.Add([]byte("{\"\xff\":1}"))
	f.Add([]byte("{\"a\":-1.5e3\t,\r\n\"b\":[],\"c\":{},\"d\":true}"))
	f.Fuzz(func(t *testing.T, object []byte) {
		var want map[string]json.RawMessage
		object = bytes.TrimSpace(object)
		if json.Unmarshal(object, &want) != nil || object[0] != '{' {
			return
		}
		got := maps.Collect(jsonscan.Of(object))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
