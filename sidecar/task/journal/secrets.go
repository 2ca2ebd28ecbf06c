package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/secret"
)

// masked replaces a secret value.
const masked = "•••"

// maskedRequest returns a call's request, with the arguments masked that have names of secrets.
func maskedRequest(request protocol.CallRequest) protocol.CallRequest {
	switch r := request.(type) {
	case protocol.CallToolRequest:
		r.Arguments, r.ArgumentsText = maskMembers(r.Arguments), "" // the same arguments, unmasked
		return r
	case protocol.GetPromptRequest:
		arguments := map[string]string{}
		for name, value := range r.Arguments {
			if secret.Asks(name) {
				value = masked
			}
			arguments[name] = value
		}
		r.Arguments = arguments
		return r
	default:
		return request
	}
}

// maskedResponse returns the answer to a form with the values masked of fields that ask for a secret or that the person
// marked as secret.
func maskedResponse(q protocol.McpElicitation) *protocol.McpElicitationResponse {
	if q.ElicitationResponse == nil {
		return nil
	}
	response := *q.ElicitationResponse
	response.Content = protocol.MaskSecrets(q.ElicitationRequest.Fields, response.Content, response.SecretFields...)
	return &response
}

// maskMembers masks the texts and numbers of an object, at any depth, if their names ask for a
// secret.
func maskMembers(content json.RawMessage) json.RawMessage {
	tree, err := decode(content)
	if err != nil {
		return content // encode reports that it is not JSON
	}
	found := false
	var mask func(v any)
	mask = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				switch member.(type) {
				case string, json.Number:
					if secret.Asks(name) {
						v[name], found = masked, true
					}
				default:
					mask(member)
				}
			}
		case []any:
			for _, item := range v {
				mask(item)
			}
		}
	}
	mask(tree)
	if !found {
		return content
	}
	out, err := json.Marshal(tree)
	if err != nil {
		return json.RawMessage(`"` + masked + `"`) // a decoded value can always be encoded
	}
	return out
}

// encode returns a body as JSON, without secrets: neither the named ones nor those that the scanner
// finds. A body that cannot be encoded becomes a record that says so.
func (j *Journal) encode(body any, named []protocol.SecretFinding) string {
	encoded, err := json.Marshal(body)
	if err != nil {
		return string(quote(fmt.Sprintf("this record could not be written: %v", err)))
	}
	known := j.opts.Known()
	// Most bodies have no secrets, so one scan is enough: of the JSON text or, if JSON escapes parts of
	// it, of the texts in it.
	record := string(encoded)
	text := record
	if bytes.ContainsRune(encoded, '\\') {
		text = textsOf(encoded)
	}
	found := j.scanner.Scan(text, known)
	if len(named) == 0 && len(found) == 0 {
		return record
	}
	tree, err := decode(encoded)
	if err != nil {
		return string(quote(fmt.Sprintf("this record could not be written: %v", err)))
	}
	texts := slices.Clone(named)
	for _, f := range found {
		texts = append(texts, protocol.SecretFinding{Description: f.Description, Text: text[f.Start:f.End]})
	}
	redacted, err := json.Marshal(j.redact(tree, texts, known))
	if err != nil {
		return string(quote(fmt.Sprintf("this record could not be written: %v", err)))
	}
	return string(redacted)
}

// textsOf returns all texts of JSON as one, for a single scan.
func textsOf(encoded []byte) string {
	var b strings.Builder
	for text := range jsonscan.Texts(encoded) {
		b.WriteString(text)
		b.WriteByte(0)
	}
	return b.String()
}

// redact returns JSON without the secrets in its texts.
func (j *Journal) redact(v any, texts []protocol.SecretFinding, known []secret.Known) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = j.redact(member, texts, known)
		}
	case []any:
		for i, item := range v {
			v[i] = j.redact(item, texts, known)
		}
	case string:
		text := secret.Redact(v, j.scanner.Scan(v, known))
		for _, s := range texts {
			if s.Text != "" {
				text = strings.ReplaceAll(text, s.Text, "[redacted: "+s.Description+"]")
			}
		}
		return text
	}
	return v
}

// decode reads JSON and keeps its numbers as written.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	err := decoder.Decode(&tree)
	return tree, err
}
