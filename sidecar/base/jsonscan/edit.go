package jsonscan

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Member returns the value of a member, or nil. Of several with its name the last counts, as in encoding/json. Anything but
// an object has no members.
func Member(object []byte, name string) json.RawMessage {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	var found json.RawMessage
	for n, value := range Of(object) {
		if n == name {
			found = value
		}
	}
	return found
}

// Text returns a member that is a text, or "".
func Text(object []byte, name string) string {
	var text string
	if value := Member(object, name); value == nil || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// Edit returns an object with the values that change returns for its members; nil leaves a member out. All other bytes
// stay, except white space between members. An object in which nothing changes is returned itself: a page of megabytes is
// not copied.
func Edit(object []byte, change func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	type member struct{ name, value []byte }
	var kept []member
	same := true
	for quoted, was := range members(object) {
		is := change(unquote(quoted), was)
		same = same && string(is) == string(was)
		if is != nil {
			kept = append(kept, member{quoted, is})
		}
	}
	if same {
		return object
	}
	out := []byte{'{'}
	for _, m := range kept {
		out = appendQuoted(out, m.name, m.value)
	}
	return append(out, '}')
}

// With returns an object with a member set, which comes last if it is new.
func With(object []byte, name string, value json.RawMessage) json.RawMessage {
	isSet := false
	object = Edit(object, func(n string, was json.RawMessage) json.RawMessage {
		if n != name {
			return was
		}
		isSet = true
		return value
	})
	if isSet {
		return object
	}
	open := bytes.TrimRight(object[:len(object)-1], " \t\r\n")
	return append(AppendMember(slices.Clip(open), name, value), '}')
}

// AppendMember appends a member to an object that is not closed yet.
func AppendMember(open []byte, name string, value json.RawMessage) []byte {
	return appendQuoted(open, Quote(name), value)
}

func appendQuoted(open, name, value []byte) []byte {
	if open[len(open)-1] != '{' {
		open = append(open, ',')
	}
	return append(append(append(open, name...), ':'), value...)
}

// Quote returns a text as JSON, in which <, > and & stay, unlike in that of encoding/json.
func Quote(text string) json.RawMessage {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can be encoded
	return bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))
}

// Array returns an array of values, byte for byte: encoding/json would escape some signs.
func Array(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, value := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']')
}
