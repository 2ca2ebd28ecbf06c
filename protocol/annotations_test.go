package protocol_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

func TestAnnotationsHideNoBlock(t *testing.T) {
	half := 0.5
	tests := []struct {
		name, annotations string
		want              *protocol.Annotations
	}{
		{"whole", `{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}`, &protocol.Annotations{Audience: []protocol.Role{"user", "assistant"}, Priority: &half}},
		{"an audience of another shape", `{"audience":"user","priority":0.5}`, &protocol.Annotations{Priority: &half}},
		{"a priority of another shape", `{"audience":["user"],"priority":"high"}`, &protocol.Annotations{Audience: []protocol.Role{"user"}}},
		{"no object", `"important"`, &protocol.Annotations{}},
		{"null", `null`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := protocol.UnmarshalContentBlock([]byte(`{"type":"text","text":"x","annotations":` + test.annotations + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(protocol.TextContent{Text: "x", Annotations: test.want}, got); diff != "" {
				t.Errorf("block (-want +got):\n%s", diff)
			}
		})
	}
}
