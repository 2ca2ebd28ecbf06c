package form_test

import (
	"encoding/json"
	"testing"

	"assent/sidecar/broker/form"
)

func TestNumbersThatDoublesHold(t *testing.T) {
	for value, want := range map[string]bool{
		`{}`: true, `{"a":[1,2.5,"9007199254740993"]}`: true, `9007199254740992`: true, `1e2`: true, `not JSON`: true,
		`["\"9007199254740993","\\",-0,-2.50E+3]`: true, `["\\",9007199254740993]`: false, `{"\"":-9007199254740993}`: false,
		`{"a":[{"b":9007199254740993}]}`: false, `0.10000000000000000001`: false, `1e400`: false,
	} {
		if got := form.IsExact(json.RawMessage(value)); got != want {
			t.Errorf("IsExact(%s) = %v", value, got)
		}
	}
}
