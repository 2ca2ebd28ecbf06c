package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/sidecar/base/secret"
)

// check fails for the members that keep setup from moving the server.
func (t *translation) check(entry map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		t.checkMember(name, entry[name])
	}
}

func (t *translation) checkMember(name string, value json.RawMessage) {
	inner := hasInner(t.id, name)
	known := find(t.id, name)
	var members map[string]json.RawMessage
	switch {
	case inner && isOff(value):
	case inner && json.Unmarshal(value, &members) == nil:
		for _, within := range slices.Sorted(maps.Keys(members)) {
			t.checkMember(name+"."+within, members[within])
		}
	case known == nil:
		t.fail("It has the member %.100q, and setup does not know what that means to %s.", secret.Shown(name), t.dialect.name)
	case known.Treatment == Alone && !known.isHarmless(value):
		t.fail("It %s (%q).", known.Meaning, name)
	}
}

// isHarmless reports whether a value of a member asks for nothing that the host would not do in any case.
func (m *Member) isHarmless(value json.RawMessage) bool {
	switch m.Name {
	case "oauthPublicClient", "requestOptions.verifySsl":
		return string(value) == "true" || string(value) == "null"
	case "oauthGrantType":
		return string(value) == `"authorization_code"` || string(value) == "null"
	}
	return isOff(value)
}

// isOff reports whether a value says that the member is not used.
func isOff(value json.RawMessage) bool {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// oauth is what mcp.json has about logging in.
type oauth struct {
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"`
	Issuer       string   `json:"issuer,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	CallbackPort int      `json:"callbackPort,omitempty"`
}

// takeLogin takes what a host says about logging in out of members, in the words of mcp.json; nil if it is nothing.
func (t *translation) takeLogin(members map[string]json.RawMessage) (*oauth, error) {
	found := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(t.dialect.login)) {
		outer, inner, isInner := strings.Cut(name, ".")
		value := members[outer]
		if isInner {
			var within map[string]json.RawMessage
			_ = json.Unmarshal(value, &within) // opencode has false in its place
			value = within[inner]
		}
		if isOff(value) || value == nil {
			continue
		}
		ours := t.dialect.login[name]
		var text string
		if ours == "scopes" && json.Unmarshal(value, &text) == nil { // as RFC 6749 writes them
			var err error
			if value, err = json.Marshal(strings.Fields(text)); err != nil {
				return nil, err
			}
		}
		found[ours] = value
	}
	for name := range t.dialect.login {
		outer, _, _ := strings.Cut(name, ".")
		delete(members, outer)
	}
	if len(found) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	var login oauth
	if err := json.Unmarshal(raw, &login); err != nil {
		return nil, unreadable("oauth", err)
	}
	for _, text := range []*string{&login.ClientID, &login.ClientSecret, &login.Issuer} {
		*text = t.text("the oauth", *text)
	}
	if login.ClientID != "" && len(members["command"]) == 0 {
		redirect := "http://127.0.0.1/callback, with any port"
		if login.CallbackPort != 0 {
			redirect = fmt.Sprintf("http://127.0.0.1:%d/callback", login.CallbackPort)
		}
		t.warn("Assent logs in as the same client. The client must have the redirect URI %s.", redirect)
	}
	return &login, nil
}

// takeRequestOptions takes the headers out of Continue's requestOptions.
func takeRequestOptions(members map[string]json.RawMessage) {
	var options map[string]json.RawMessage
	if json.Unmarshal(members["requestOptions"], &options) != nil {
		return
	}
	if headers, ok := options["headers"]; ok {
		members["headers"] = headers
	}
	delete(options, "headers")
	if len(options) == 0 {
		delete(members, "requestOptions")
	}
}
