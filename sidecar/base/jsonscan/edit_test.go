package jsonscan_test

import (
	"encoding/json"
	"testing"

	"assent/sidecar/base/jsonscan"
)

func TestMember(t *testing.T) {
	for _, tt := range []struct{ object, want, text string }{
		{`{"a":1,"b":"x"}`, `"x"`, "x"},
		{`{"b":1,"\u0062":"<\u0026>"}`, `"<\u0026>"`, "<&>"}, // the last counts
		{`{"B":"x"}`, ``, ""},
		{`{"b":null}`, `null`, ""},
		{`{ }`, ``, ""},
		{`["b"]`, ``, ""},
		{``, ``, ""},
	} {
		if got := jsonscan.Member([]byte(tt.object), "b"); string(got) != tt.want {
			t.Errorf("Member of %s = %s, want %s", tt.object, got, tt.want)
		}
		if got := jsonscan.Text([]byte(tt.object), "b"); got != tt.text {
			t.Errorf("Text of %s = %q, want %q", tt.object, got, tt.text)
		}
	}
}

func TestEditLeavesOtherBytes(t *testing.T) {
	change := func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "out":
			return nil
		case "two":
			return json.RawMessage("2")
		}
		return value
	}
	for _, tt := range []struct{ object, want string }{
		{`{ "two" : 2 , "x":[ 1 ] }`, `{ "two" : 2 , "x":[ 1 ] }`}, // nothing changes
		{`{ "two" : 1 , "\u0078<":[ 1 ] }`, `{"two":2,"\u0078<":[ 1 ]}`},
		{`{"out":1,"x":1.50,"out":{}}`, `{"x":1.50}`},
		{`{"out":1}`, `{}`},
		{`{ }`, `{ }`},
	} {
		if got := jsonscan.Edit([]byte(tt.object), change); string(got) != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.object, got, tt.want)
		}
	}
}

func TestWith(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{}`, `{"<b>":2}`},
		{"{ \n}", `{"<b>":2}`},
		{`{ "a" : 1 }`, `{ "a" : 1,"<b>":2}`},
		{`{ "<b>" : 1, "a" : 1 }`, `{"<b>":2,"a":1}`},
	} {
		was := []byte(tt.object)
		if got := jsonscan.With(was, "<b>", json.RawMessage("2")); string(got) != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.object, got, tt.want)
		}
		if string(was) != tt.object {
			t.Errorf("With wrote %s into the object", was)
		}
	}
}
