package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Authorization servers write members of their JSON in other types than the standards: a number as a text or with a
// fraction, a list as a text, a text as a list, null for nothing. Libraries refuse the whole answer then. loosen brings
// the members that Assent reads into their types, and leaves out those that it does not need.

// loosened returns a response of which the JSON object, if it has one, was loosened. A refusal keeps its words. A JSON
// object is JSON also if its content type says something else. The body is bounded by the caller.
func loosened(response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // the members before the odd one count
	if err != nil {
		return nil, err
	}
	if loose := loosen(body); loose != nil && response.StatusCode < http.StatusBadRequest {
		body = loose
		response.Header.Set("Content-Type", "application/json")
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

// loosen returns the object with its members in their types, or nil if the JSON is no object.
func loosen(body []byte) []byte {
	var object map[string]json.RawMessage
	if trimmed := bytes.TrimSpace(body); len(trimmed) == 0 || trimmed[0] != '{' || json.Unmarshal(trimmed, &object) != nil {
		return nil
	}
	kept := map[string]any{}
	for name, raw := range object {
		if value := looseMember(object, name, raw); value != nil {
			kept[name] = value
		}
	}
	loose, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return loose
}

// looseMember returns the value of a member in the type that the standards give it, or nil if there is none.
func looseMember(object map[string]json.RawMessage, name string, raw json.RawMessage) any {
	_, isRegistration := object["client_id"]
	_, isToken := object["access_token"]
	isMetadata := !isRegistration && !isToken
	switch {
	case string(raw) == "null":
		return nil
	case name == "expires_in", name == "client_secret_expires_at":
		return wholeNumber(raw)
	case name == "scope":
		return strings.Join(texts(raw), " ")
	case isRegistration && name != "client_id" && name != "client_secret" && name != "token_endpoint_auth_method" && !strings.HasPrefix(name, "error"):
		return nil // what the client has asked for
	case isMetadata && (name == "authorization_servers" || strings.HasSuffix(name, "_supported") && !isFlag(name)):
		return texts(raw)
	case isMetadata && isFlag(name):
		return string(raw) == "true" || string(raw) == `"true"`
	case isToken && strings.HasSuffix(name, "token"), isRegistration, name == "token_type":
		return text(raw)
	case isMetadata && raw[0] != '"' && name != "resource" && name != "issuer" && !strings.HasSuffix(name, "_endpoint") && !strings.HasPrefix(name, "error"):
		return nil // for people
	}
	return raw
}

// isFlag reports whether a member of metadata is true or false.
func isFlag(name string) bool {
	return strings.HasSuffix(name, "_parameter_supported") || strings.HasSuffix(name, "_document_supported") ||
		strings.HasPrefix(name, "require_") || strings.HasSuffix(name, "_required") || strings.HasPrefix(name, "tls_")
}

// wholeNumber reads a number, also one in quotes or with a fraction. It returns nil for anything else.
func wholeNumber(raw json.RawMessage) any {
	n, err := strconv.ParseFloat(string(bytes.Trim(raw, `" `)), 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > math.MaxInt32*1000 {
		return nil
	}
	return int64(n)
}

// text reads a text, or a number as it is written; nil if it is neither.
func text(raw json.RawMessage) any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return nil
}

// texts reads a list of texts, also a single one, which may have several words.
func texts(raw json.RawMessage) []string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.Fields(s)
	}
	var list []any
	_ = json.Unmarshal(raw, &list) // anything else has no texts
	all := []string{}
	for _, item := range list {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// maxWords bounds how much of a refusal is read for the server's words.
const maxWords = 16 << 10

// readWords returns the server's own words in a refusal, in one line, and leaves the body as it was.
func readWords(response *http.Response) string {
	head, err := io.ReadAll(io.LimitReader(response.Body, maxWords))
	rest := response.Body
	response.Body = limited{io.MultiReader(bytes.NewReader(head), rest), rest}
	if err != nil {
		return ""
	}
	return words(head)
}

// words returns what a body says to a person: a text, the first message in JSON, or the text of a page.
func words(body []byte) string {
	said := string(body)
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch trimmed := bytes.TrimSpace(body); {
	case json.Unmarshal(trimmed, &object) == nil:
		said = messageIn(object)
	case json.Unmarshal(trimmed, &list) == nil && len(list) > 0 && list[0][0] != '[':
		return words(list[0])
	case bytes.HasPrefix(trimmed, []byte("<")):
		said = withoutTags(said)
	default:
		var quoted string
		if json.Unmarshal(trimmed, &quoted) == nil {
			said = quoted
		}
	}
	return clip(strings.Join(strings.Fields(strings.ToValidUTF8(said, "")), " "), maxQuote)
}

// messageIn returns the message of an error in JSON, or the whole object if it has none by a usual name.
func messageIn(object map[string]json.RawMessage) string {
	for _, name := range []string{"error_description", "message", "msg", "detail", "title", "reason", "error", "errors"} {
		raw := object[name]
		if s, _ := text(raw).(string); raw != nil && s != "" {
			return s
		}
		var inner map[string]json.RawMessage
		if raw != nil && json.Unmarshal(raw, &inner) == nil && len(inner) > 0 {
			return messageIn(inner)
		}
		var list []json.RawMessage
		if raw != nil && json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return words(list[0])
		}
	}
	if len(object) == 0 {
		return ""
	}
	whole, err := json.Marshal(object)
	if err != nil {
		return ""
	}
	return string(whole)
}

// withoutTags returns the text of a page, without its scripts and styles.
func withoutTags(page string) string {
	var out strings.Builder
	hidden := ""
	for page != "" {
		before, after, found := strings.Cut(page, "<")
		if hidden == "" {
			out.WriteString(before + " ")
		}
		if !found {
			break
		}
		tag, rest, _ := strings.Cut(after, ">")
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), " ")
		switch {
		case hidden == "" && (name == "script" || name == "style" || name == "head"):
			hidden = "/" + name
		case name == hidden:
			hidden = ""
		}
		page = rest
	}
	return out.String()
}

// because adds the server's refusal to the reason why a login did not begin. Its own words may say what to do where there is
// no place to log in.
func (c challenge) because(err error) error {
	switch {
	case err == nil:
		return nil
	case c.words == "":
		return fmt.Errorf("it answered with HTTP %d %s (%w)", c.status, http.StatusText(c.status), err)
	}
	return fmt.Errorf("it answered with HTTP %d %s: %s (%w)", c.status, http.StatusText(c.status), c.words, err)
}
