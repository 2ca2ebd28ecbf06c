package jsonscan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/jsonscan"
)

func TestUnmarshalTakesNamesAsTheyAreWritten(t *testing.T) {
	type part struct {
		Name string `json:"name"`
	}
	type whole struct {
		MaxTokens *int64          `json:"maxTokens,omitempty"`
		Part      *part           `json:"part"`
		Parts     []part          `json:"parts"`
		ByName    map[string]part `json:"byName"`
		Raw       json.RawMessage `json:"raw"`
	}
	five := int64(5)
	for _, tt := range []struct {
		name, data string
		want       whole
	}{
		{"another case alone", `{"MaxTokens":5}`, whole{}},
		{"another case before", `{"MAXTOKENS":6,"maxTokens":5}`, whole{MaxTokens: &five}},
		{"another case after, with space", ` { "maxTokens" : 5 , "MaxTokens" : 6 } `, whole{MaxTokens: &five}},
		{"another case, escaped", `{"\u004daxTokens":6,"maxTokens":5}`, whole{MaxTokens: &five}},
		{"another case that only folding shows", `{"maxTo\u212aens":6}`, whole{}},
		{"the name, escaped", `{"\u006daxTokens":5}`, whole{MaxTokens: &five}},
		{"in an object", `{"part":{"Name":"x","name":"y"}}`, whole{Part: &part{"y"}}},
		{"in an array", `{"parts":[{"name":"x"},{"NAME":"y"}]}`, whole{Parts: []part{{"x"}, {}}}},
		{"in a map, whose names are anything", `{"byName":{"name":{"Name":"x"},"Name":{"name":"y"}}}`, whole{ByName: map[string]part{"name": {}, "Name": {"y"}}}},
		{"what is kept as it is", `{"raw":{"Name":1,"name":2},"RAW":3}`, whole{Raw: json.RawMessage(`{"Name":1,"name":2}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got whole
			if err := jsonscan.Unmarshal([]byte(tt.data), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, wrong := range []string{``, `{`, `{"part":5}`, `[]`, `"text"`} {
		var got, std whole
		if err, want := jsonscan.Unmarshal([]byte(wrong), &got), json.Unmarshal([]byte(wrong), &std); err == nil || err.Error() != want.Error() {
			t.Errorf("Unmarshal of %s = %v, want %v", wrong, err, want)
		}
	}
}
