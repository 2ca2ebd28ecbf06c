package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/wire/quirk"
)

// Mend repairs the result of a handshake, so that go-sdk can read it. Each repair has a sentence in problems. A member of
// another type is changed if its meaning is clear: [] for {}, as PHP writes an empty object; a number for a version; true
// for a capability. Otherwise it is left out. A result that is right stays as it is, byte for byte.
func Mend(result json.RawMessage) (mended json.RawMessage, problems []string) {
	result = bytes.TrimSpace(result)
	if typeOf(result) != "an object" {
		return result, nil // the caller says so
	}
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	members := maps.Collect(jsonscan.Of(result))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		was := members[name]
		is := was
		switch name {
		case "capabilities":
			is = asCapabilities(was, say)
		case "serverInfo":
			is = asImplementation(name, was, say)
		case "instructions":
			is = ofKind("a string", name, was, say)
		case "supportedVersions":
			is = asTexts(was)
		case "_meta":
			is = ofKind("an object", name, was, say)
			if own := jsonscan.Member(is, identityMember); own != nil {
				if info := asImplementation(identityMember, own, say); string(info) != string(own) {
					meta := maps.Collect(jsonscan.Of(is))
					put(meta, identityMember, info)
					is = encoded(meta, is)
				}
			}
		case "ttlMs":
			is = ofKind("a number", name, was, say)
		}
		put(members, name, is)
	}
	if members["supportedVersions"] == nil && members["serverInfo"] == nil { // of initialize
		members["serverInfo"] = json.RawMessage(`{"name":"","version":""}`)
		say("serverInfo is missing")
	}
	if members["capabilities"] == nil {
		members["capabilities"] = json.RawMessage("{}")
	}
	if maps.EqualFunc(members, maps.Collect(jsonscan.Of(result)), func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		return result, nil
	}
	return encoded(members, result), problems
}

// identityMember is where a server of 2026-07-28 says who it is.
const identityMember = "io.modelcontextprotocol/serverInfo"

// VersionProblem returns an error if a result of initialize has no version.
func VersionProblem(result json.RawMessage) error {
	if kind := typeOf(bytes.TrimSpace(result)); kind != "an object" {
		return unreadable(result, "its answer to initialize is %s and must be an object", kind)
	}
	switch version := jsonscan.Member(bytes.TrimSpace(result), "protocolVersion"); {
	case typeOf(version) != "a string":
		return unreadable(result, "protocolVersion in its answer to initialize is %s and must be a string", typeOf(version))
	case string(version) == `""`:
		return unreadable(result, "protocolVersion in its answer to initialize is empty")
	}
	return nil
}

// flags are the members of capabilities that are true or false.
var flags = []string{"listChanged", "subscribe"}

// asCapabilities returns the capabilities of a server.
func asCapabilities(value json.RawMessage, say func(string, ...any)) json.RawMessage {
	return eachMember("capabilities", value, say, func(name string, value json.RawMessage) json.RawMessage {
		at := "capabilities." + name
		if typeOf(value) == "a boolean" {
			say("%s is a boolean and must be an object", at)
			if string(value) == "false" {
				return nil
			}
			return json.RawMessage("{}")
		}
		return eachMember(at, value, say, func(name string, value json.RawMessage) json.RawMessage {
			if slices.Contains(flags, name) {
				return ofKind("a boolean", at+"."+name, value, say)
			}
			if at == "capabilities.tasks" || at == "capabilities.extensions" || at == "capabilities.experimental" {
				if quirk.IsEmptyObject(value) {
					return json.RawMessage("{}")
				}
			}
			return value
		})
	})
}

// asImplementation returns the name and the version of a server. A text is its name.
func asImplementation(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if typeOf(value) == "a string" {
		say("%s is a string and must be an object", at)
		return encoded(map[string]json.RawMessage{"name": value, "version": json.RawMessage(`""`)}, nil)
	}
	return eachMember(at, value, say, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "name", "version", "title", "description", "websiteUrl":
			if typeOf(value) == "a number" {
				say("%s.%s is a number and must be a string", at, name)
				text, _ := json.Marshal(string(value)) // a string can be encoded
				return text
			}
			return ofKind("a string", at+"."+name, value, say)
		case "icons":
			return ofKind("an array", at+"."+name, value, say)
		}
		return value
	})
}

// eachMember returns an object with the values that change returns for its members. An empty list is an empty object, and
// anything else is left out.
func eachMember(at string, value json.RawMessage, say func(string, ...any), change func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	if typeOf(value) == "an array" {
		say("%s is an array and must be an object", at)
		return json.RawMessage("{}")
	}
	if value = ofKind("an object", at, value, say); value == nil {
		return nil
	}
	members, same := maps.Collect(jsonscan.Of(value)), true
	for _, name := range slices.Sorted(maps.Keys(members)) {
		is := change(name, members[name])
		same = same && string(is) == string(members[name])
		put(members, name, is)
	}
	if same {
		return value
	}
	return encoded(members, value)
}

// ofKind returns a value of a type, and nil for another.
func ofKind(want, at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	kind := typeOf(value)
	if kind == want {
		return value
	}
	if kind != "null" {
		say("%s is %s and must be %s", at, kind, want)
	}
	return nil
}

// asTexts returns the texts of a list; one text is such a list.
func asTexts(value json.RawMessage) json.RawMessage {
	if typeOf(value) == "a string" {
		value = slices.Concat([]byte{'['}, value, []byte{']'})
	}
	var all, texts []json.RawMessage
	if typeOf(value) != "an array" || json.Unmarshal(value, &all) != nil {
		return nil
	}
	for _, one := range all {
		if typeOf(one) == "a string" {
			texts = append(texts, one)
		}
	}
	if len(texts) == len(all) {
		return value
	}
	raw, err := json.Marshal(texts)
	if err != nil { // they are valid
		return nil
	}
	return raw
}

// typeOf returns the type of a valid value in the words of JSON, with its article.
func typeOf(value json.RawMessage) string {
	if len(value) == 0 {
		return "missing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// put sets a member, and leaves it out if the value is nil.
func put(members map[string]json.RawMessage, name string, value json.RawMessage) {
	if members[name] = value; value == nil {
		delete(members, name)
	}
}

// encoded encodes members. It returns otherwise if that is impossible.
func encoded(members map[string]json.RawMessage, otherwise json.RawMessage) json.RawMessage {
	raw, err := encodeObject(members)
	if err != nil {
		return otherwise
	}
	return raw
}
