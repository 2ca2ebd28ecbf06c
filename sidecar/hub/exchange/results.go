package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/base64text"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/hub/session"
	"assent/sidecar/hub/shape"
	"assent/sidecar/wire/quirk"
)

// resultMembers are the lists without which a result is none (2025-11-25, "Schema").
var resultMembers = map[string]string{"tools/call": "content", "resources/read": "contents", "prompts/get": "messages"}

// The shapes of what results and their elements need not have (2025-11-25 and 2026-07-28, "Schema"). The members that they
// need are not in them: those say something, also if they are odd.
var (
	resultShapes = map[string]shape.Shape{
		"tools/call":     shape.Object(map[string]shape.Shape{"_meta": shape.AnyObject}),
		"resources/read": shape.Object(map[string]shape.Shape{"_meta": shape.AnyObject}),
		"prompts/get":    shape.Object(map[string]shape.Shape{"description": shape.Text, "_meta": shape.AnyObject}),
	}
	blockShapes = map[string]shape.Shape{
		"text":          shape.Object(map[string]shape.Shape{"annotations": shape.Annotations, "_meta": shape.AnyObject}),
		"image":         mediaShape,
		"audio":         mediaShape,
		"resource_link": shape.Resource,
		"resource":      shape.Object(map[string]shape.Shape{"resource": contents, "annotations": shape.Annotations, "_meta": shape.AnyObject}),
	}
	mediaShape    = shape.Object(map[string]shape.Shape{"data": shape.Base64, "mimeType": shape.Text, "annotations": shape.Annotations, "_meta": shape.AnyObject})
	contentsShape = shape.Object(map[string]shape.Shape{"blob": shape.Base64, "mimeType": shape.Text, "_meta": shape.AnyObject})
)

// contents is contentsShape, with which other values stay.
func contents(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if !isObject(value) {
		return value
	}
	return contentsShape(at, value, say)
}

// unsaid is for the shapes of results: unlike a list, a result has no problems to show.
func unsaid(string, ...any) {}

// readable returns the result of a request as everybody can read it. A result that is right stays as it is, byte for byte.
// An odd one with a clear meaning is repaired: a text or one block in place of a list, a resource with the
// members of its block. The error of a result that says nothing names what came.
func readable(method string, raw json.RawMessage) (json.RawMessage, error) {
	list := resultMembers[method]
	if list == "" {
		return raw, nil
	}
	raw = bytes.TrimSpace(raw)
	if !isObject(raw) {
		reason := "its result is " + shape.Article(shape.KindOf(raw)) + " and must be an object"
		if len(raw) > 0 && string(raw) != "null" && string(raw) != "[]" {
			reason += ": " + clip(raw)
		}
		return nil, session.BadAnswerError{Reason: reason}
	}
	members := maps.Collect(jsonscan.Of(raw))
	if within := members["result"]; members[list] == nil && jsonscan.Member(within, list) != nil { // the answer of JSON-RPC, twice
		raw, members = within, maps.Collect(jsonscan.Of(within))
	}
	was := members[list]
	is, odd := was, false
	switch {
	case isList(was):
		is, odd = eachBlock(method, was)
	case len(was) == 0 || string(was) == "null":
		if method == "tools/call" && (saysSomething(members["structuredContent"]) || string(members["isError"]) == "true") {
			is, odd = json.RawMessage("[]"), true
			break
		}
		return nil, session.BadAnswerError{Reason: withoutList(list, members)}
	case !isText(was) && !isObject(was):
		return nil, session.BadAnswerError{Reason: fmt.Sprintf("%q is %s and must be an array", list, shape.Article(shape.KindOf(was)))}
	default: // one element in place of a list, or a list with gaps
		all := quirk.GappedList(was)
		if all == nil {
			all = slices.Concat([]byte{'['}, was, []byte{']'})
		}
		is, _ = eachBlock(method, all)
		odd = true
	}
	if failed := members["isError"]; method == "tools/call" && failed != nil && string(failed) != "true" && string(failed) != "false" {
		// A text may say that the tool failed. Nothing else is an error.
		delete(members, "isError")
		if text := textOf(failed); strings.EqualFold(text, "true") {
			members["isError"] = json.RawMessage("true")
		}
		odd = true
	}
	if method == "tools/call" && string(members["structuredContent"]) == "null" { // what several SDKs write for none
		delete(members, "structuredContent")
		odd = true
	}
	if odd {
		raw = jsonscan.With(jsonscan.Edit(raw, func(name string, _ json.RawMessage) json.RawMessage { return members[name] }), list, is)
	}
	return resultShapes[method]("", raw, unsaid), nil
}

// withoutList says what a result without its list has in place of it.
func withoutList(list string, members map[string]json.RawMessage) string {
	delete(members, "_meta")
	delete(members, list)
	text := fmt.Sprintf("its result has no %q", list)
	switch {
	case members["task"] != nil:
		return text + ", and the MCP task in it cannot be read: " + clip(members["task"])
	case members["inputRequests"] != nil:
		return text + `, and asks a question in "inputRequests" without "resultType": "input_required"`
	case len(members) == 0:
		return text
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		names = append(names, fmt.Sprintf("%q: %s", clip([]byte(name)), clip(members[name])))
	}
	return text + ", and has " + strings.Join(names[:min(len(names), 5)], ", ")
}

// eachBlock returns the elements of a result's list as everybody can read them, and whether one was odd.
func eachBlock(method string, list json.RawMessage) (json.RawMessage, bool) {
	elements := slices.Collect(jsonscan.Elements(list))
	odd := false
	for i, was := range elements {
		is := was
		switch method {
		case "tools/call":
			is = block(was)
		case "prompts/get":
			is = promptMessage(was)
		case "resources/read":
			if is = contents("", was, unsaid); isText(was) {
				is = jsonscan.With(json.RawMessage("{}"), "text", was)
			}
		}
		odd = odd || string(is) != string(was)
		elements[i] = is
	}
	if !odd {
		return list, false
	}
	return jsonscan.Array(elements), true
}

// forHost returns a readable result for a host with strict types. A block that MCP does not have, or that lacks a member,
// becomes a text with its JSON. The uri is that of the resource that was asked for.
func forHost(method, uri string, raw json.RawMessage) json.RawMessage {
	list := resultMembers[method]
	if list == "" {
		return raw
	}
	var elements []json.RawMessage
	odd := false
	for was := range jsonscan.Elements(jsonscan.Member(raw, list)) {
		is := was
		switch method {
		case "tools/call":
			is = strict(was)
		case "prompts/get":
			is = strictMessage(was)
		case "resources/read":
			is = strictContents(was, uri)
		}
		odd = odd || string(is) != string(was)
		if is != nil {
			elements = append(elements, is)
		}
	}
	if !odd {
		return raw
	}
	return jsonscan.With(raw, list, jsonscan.Array(elements))
}

// strictContents returns the contents of a resource with all members that MCP requires, or nil for none. Contents without a
// text and data get a text with their JSON.
func strictContents(raw json.RawMessage, uri string) json.RawMessage {
	is := raw
	switch said := jsonscan.Member(raw, "text"); {
	case string(raw) == "null":
		return nil
	case !isObject(raw):
		is = jsonscan.With(json.RawMessage("{}"), "text", jsonscan.Quote(string(raw)))
	case hasContents(raw):
	case saysSomething(said):
		is = jsonscan.With(raw, "text", jsonscan.Quote(string(said)))
	default:
		is = jsonscan.With(raw, "text", jsonscan.Quote(string(raw)))
	}
	if jsonscan.Text(is, "uri") == "" {
		is = jsonscan.With(is, "uri", jsonscan.Quote(uri))
	}
	return saidOnce("", is, unsaid)
}

// saidOnce is the shape of contents of a resource with a text or data.
var saidOnce = shape.Object(map[string]shape.Shape{"text": shape.Text, "blob": shape.Text})

// strict returns a content block with all members that MCP requires.
func strict(raw json.RawMessage) json.RawMessage {
	if isPlainText(raw) {
		return raw
	}
	content := parseBlock(raw)
	if _, unknown := content.(protocol.UnknownContent); unknown {
		return asText(raw)
	}
	members := maps.Collect(jsonscan.Of(raw))
	switch c := content.(type) {
	case protocol.ImageContent:
		return strictMedia(members, c.Data, "image/*", raw)
	case protocol.AudioContent:
		return strictMedia(members, c.Data, "audio/*", raw)
	case protocol.ResourceLink:
		return withText(members, "name", c.URI, raw)
	case protocol.EmbeddedResource:
		if c.Resource.URI == "" {
			return asText(raw)
		}
		return jsonscan.With(raw, "resource", saidOnce("", members["resource"], unsaid))
	case protocol.ToolUseContent, protocol.ToolResultContent: // those are of sampling
		return asText(raw)
	}
	return raw
}

// strictMedia returns an image or a sound with all members that MCP requires. Without base64 as its data it becomes a text.
func strictMedia(members map[string]json.RawMessage, data, mimeType string, raw json.RawMessage) json.RawMessage {
	if _, ok := base64text.Normal(data); !ok {
		return asText(raw)
	}
	return withText(members, "mimeType", mimeType, raw)
}

// isPlainText reports whether a content block is a text and nothing else, as most are. Its text, which may be long, is not decoded.
func isPlainText(raw json.RawMessage) bool {
	if !isObject(raw) {
		return false
	}
	members := maps.Collect(jsonscan.Of(raw))
	return len(members) == 2 && string(members["type"]) == `"text"` && isText(members["text"])
}

// strictMessage returns a message of a prompt with all members that MCP requires.
func strictMessage(raw json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if isObject(raw) {
		members = maps.Collect(jsonscan.Of(raw))
	}
	role, content := members["role"], members["content"]
	if content == nil {
		return object(map[string]json.RawMessage{"role": json.RawMessage(`"user"`), "content": asText(raw)}, raw)
	}
	is := strict(content)
	if string(role) == `"user"` || string(role) == `"assistant"` {
		if string(is) == string(content) {
			return raw
		}
	} else {
		members["role"] = json.RawMessage(`"user"`)
	}
	members["content"] = is
	return object(members, raw)
}

// withText returns a block with a text in a member. It adds the text if the member has none.
func withText(members map[string]json.RawMessage, name, text string, raw json.RawMessage) json.RawMessage {
	if isText(members[name]) {
		return raw
	}
	quoted, err := json.Marshal(text)
	if err != nil { // a string can be encoded
		return raw
	}
	members[name] = quoted
	return object(members, raw)
}

// asText returns a text block with the JSON of a value.
func asText(raw json.RawMessage) json.RawMessage {
	return withText(map[string]json.RawMessage{"type": json.RawMessage(`"text"`)}, "text", string(raw), raw)
}

// promptMessage returns a message of a prompt. Its content may be a text, or a list of one block.
func promptMessage(raw json.RawMessage) json.RawMessage {
	if !isObject(raw) {
		return raw
	}
	members := maps.Collect(jsonscan.Of(raw))
	content := members["content"]
	if isList(content) {
		if blocks := slices.Collect(jsonscan.Elements(content)); len(blocks) == 1 {
			content = blocks[0]
		}
	}
	content = block(content)
	if string(content) == string(members["content"]) {
		return raw
	}
	members["content"] = content
	return object(members, raw)
}

// block returns a content block: a text for a text, and a whole resource for one whose members are those of its block.
func block(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '"' {
		return object(map[string]json.RawMessage{"type": json.RawMessage(`"text"`), "text": raw}, raw)
	}
	if !isObject(raw) {
		return raw
	}
	members := maps.Collect(jsonscan.Of(raw))
	switch kind := textOf(members["type"]); {
	case members["type"] == nil && isText(members["text"]) && members["uri"] == nil:
		members["type"] = json.RawMessage(`"text"`)
	case kind == "resource" && members["resource"] == nil && isText(members["uri"]):
		resource := map[string]json.RawMessage{}
		for _, name := range []string{"uri", "mimeType", "text", "blob"} {
			if members[name] != nil {
				resource[name] = members[name]
				delete(members, name)
			}
		}
		members["resource"] = object(resource, nil)
	default:
		return optional(raw)
	}
	return optional(object(members, raw))
}

// optional returns a content block without the odd ones of the members that it need not have.
func optional(raw json.RawMessage) json.RawMessage {
	if is := blockShapes[jsonscan.Text(raw, "type")]; is != nil {
		return is("", raw, unsaid)
	}
	return raw
}

// object encodes members. It returns otherwise if that is impossible.
func object(members map[string]json.RawMessage, otherwise json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(members)
	if err != nil {
		return otherwise
	}
	return raw
}

// parseBlock decodes a content block. One that is not of MCP, or has nothing to show, stays as it is.
func parseBlock(raw json.RawMessage) protocol.ContentBlock {
	content, err := protocol.UnmarshalContentBlock(raw)
	if err != nil || content == nil {
		return protocol.UnknownContent{Raw: bytes.Clone(raw)}
	}
	members := maps.Collect(jsonscan.Of(raw))
	has := func(name string) bool { return isText(members[name]) }
	shown := true
	switch c := content.(type) {
	case protocol.TextContent:
		shown = has("text")
	case protocol.ImageContent, protocol.AudioContent:
		shown = has("data")
	case protocol.ResourceLink:
		shown = has("uri")
	case protocol.EmbeddedResource:
		shown = c.Resource.Text != "" || c.Resource.Blob != "" || hasContents(members["resource"])
	}
	if !shown {
		return protocol.UnknownContent{Raw: bytes.Clone(raw)}
	}
	return content
}

// hasContents reports whether a resource has a text or data, which may be empty.
func hasContents(resource json.RawMessage) bool {
	if !isObject(resource) {
		return false
	}
	members := maps.Collect(jsonscan.Of(resource))
	return isText(members["text"]) || isText(members["blob"])
}

// parseContents decodes the contents of a resource.
func parseContents(raw json.RawMessage) protocol.ContentBlock {
	var contents protocol.ResourceContents
	if !hasContents(raw) || jsonscan.Unmarshal(raw, &contents) != nil {
		return protocol.UnknownContent{Raw: bytes.Clone(raw)}
	}
	return protocol.EmbeddedResource{Resource: contents}
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func isList(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func saysSomething(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// clip returns the beginning of a value on one line, for a sentence.
func clip(raw []byte) string {
	const most = 80
	text := strings.Join(strings.Fields(string(raw)), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	quoted := strconv.Quote(text) // escapes what cannot be seen
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
