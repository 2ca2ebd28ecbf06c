package jsonscan_test

import (
	"encoding/json"
	"slices"
	"testing"

	"assent/sidecar/base/jsonscan"
)

func TestElements(t *testing.T) {
	for _, array := range []string{
		`[]`, `[ ]`, `[1]`, `[1,2]`, `[ 1 , "a,]" , [2,[3]] , {"b":[4],"c":"}"} , null,true ]`, `["\"",-1.5e3]`, "[\n\t{}\r\n]",
	} {
		var want, got []string
		var elements []json.RawMessage
		if err := json.Unmarshal([]byte(array), &elements); err != nil {
			t.Fatal(err)
		}
		for _, e := range elements {
			want = append(want, string(e))
		}
		for e := range jsonscan.Elements([]byte(array)) {
			got = append(got, string(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", array, got, want)
		}
	}
}
