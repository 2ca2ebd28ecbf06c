package hosts

import (
	"encoding/json"
	"testing"
)

func TestWhatIsNoRootIsLeftOut(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{`{"roots":[{"uri":"file:///a","name":"A","x":1.0},{"uri":"file:///b"}],"_meta":{}}`, `{"roots":[{"uri":"file:///a","name":"A","x":1.0},{"uri":"file:///b"}]}`},
		{`{"roots":[{"uri":5},null,"file:///c",{"uri":"https://example.org"},{"uri":"/d"},{"uri":"file:///a"}]}`, `{"roots":[{"uri":"file:///a"}]}`},
		{`{"roots":null}`, `{"roots":[]}`},
		{`{"roots":{}}`, `{"roots":[]}`},
		{`{}`, `{"roots":[]}`},
		{`null`, `{"roots":[]}`},
	} {
		c := &conversation{}
		if got := (&Hosts{}).recordRoots(c, json.RawMessage(tt.answer)); string(got) != tt.want || string(c.roots.last) != tt.want {
			t.Errorf("of %s the server gets %s, want %s", tt.answer, got, tt.want)
		}
	}
}
