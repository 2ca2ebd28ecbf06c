package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/jsonscan"
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

// FuzzTexts compares the texts that Texts yields with the tokens of encoding/json.
func FuzzTexts(f *testing.F) {
	f.Add([]byte(`{"a":"1","b" : {"c":[1,{"d":"}\\"]"}]} , "\u0061":null,"":"x\n"}`))
	f.Add([]byte(`"x"`))
	f.Add([]byte(`[[], {}, true, "", "\\\\"]`))
	f.Add([]byte("[\"\xff\"]"))
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			return
		}
		var want []string
		tokens := json.NewDecoder(bytes.NewReader(value))
		tokens.UseNumber()
		for {
			token, err := tokens.Token()
			if err != nil {
				break
			}
			if text, ok := token.(string); ok {
				want = append(want, text)
			}
		}
		if diff := cmp.Diff(want, slices.Collect(jsonscan.Texts(value))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
