package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"

	"assent/sidecar/base/jsonscan"
)

// checkHeaders compares the headers of a request with its body (2026-07-28, "Standard headers"). Proxies route by the
// headers, so a request with a different body is refused.
func (h *HTTP) checkHeaders(header http.Header, f *frame, s *Session) *Error {
	client, modern, refused := modernClient(f)
	revision := header.Get(headerRevision)
	unsupported := refused != nil && refused.Code == CodeUnsupportedVersion
	switch {
	case !modern && f.Method == "server/discover" && revision == "":
		return nil
	case unsupported && (revision == "" || revision == client.Revision):
		return refused
	case !modern:
		return errorf(CodeInvalidParams, "_meta has no %s", metaRevision)
	case revision == "":
		return errorf(CodeHeaderMismatch, "the header %s is missing", headerRevision)
	case (refused == nil || unsupported) && revision != client.Revision:
		return errorf(CodeHeaderMismatch, "the header %s says %q, and the request says %q", headerRevision, revision, client.Revision)
	case refused != nil:
		return refused
	}
	switch method := header.Get(headerMethod); {
	case method == "":
		return errorf(CodeHeaderMismatch, "the header %s is missing", headerMethod)
	case method != f.Method:
		return errorf(CodeHeaderMismatch, "the header %s says %q, and the request says %q", headerMethod, method, f.Method)
	}
	name, named := nameOf(f)
	if !named {
		return nil
	}
	switch inHeader, ok := decodeHeader(header.Get(headerName)); {
	case header.Get(headerName) == "":
		return errorf(CodeHeaderMismatch, "the header %s is missing", headerName)
	case !ok || inHeader != name:
		return errorf(CodeHeaderMismatch, "the header %s says %q, and the request says %q", headerName, inHeader, name)
	}
	if f.Method == "tools/call" && h.opts.Tool != nil {
		return checkArguments(header, f.Params, h.opts.Tool(s, name))
	}
	return nil
}

// nameOf returns what Mcp-Name repeats of a request, and whether its method has such a name.
func nameOf(f *frame) (string, bool) {
	var params struct {
		Name   string `json:"name"`
		URI    string `json:"uri"`
		TaskID string `json:"taskId"`
	}
	_ = jsonscan.Unmarshal(f.Params, &params) // the server of the method reports bad params
	switch f.Method {
	case "tools/call", "prompts/get":
		return params.Name, true
	case "resources/read":
		return params.URI, true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return params.TaskID, true
	}
	return "", false
}

// decodeHeader reads a header's value, which is in Base64 if it is not plain ASCII.
func decodeHeader(value string) (string, bool) {
	encoded, isPrefixed := strings.CutPrefix(value, "=?base64?")
	encoded, isEncoded := strings.CutSuffix(encoded, "?=")
	if !isPrefixed || !isEncoded {
		return value, true
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return string(decoded), err == nil
}

// property is what a header's check needs of an input schema.
type property struct {
	Header     json.RawMessage     `json:"x-mcp-header"`
	Properties map[string]property `json:"properties"`
}

// checkArguments compares the headers that repeat arguments of a tool with the arguments.
func checkArguments(header http.Header, params, inputSchema json.RawMessage) *Error {
	if inputSchema == nil {
		return nil
	}
	var schema property
	var call struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if jsonscan.Unmarshal(inputSchema, &schema) != nil || jsonscan.Unmarshal(params, &call) != nil {
		return nil // the server of the call reports bad params
	}
	return checkProperties(header, schema.Properties, call.Arguments, "")
}

func checkProperties(header http.Header, properties map[string]property, object json.RawMessage, path string) *Error {
	values := map[string]json.RawMessage{}
	if len(object) > 0 && object[0] == '{' {
		maps.Insert(values, jsonscan.Of(object))
	}
	for name, p := range properties {
		value := values[name]
		var suffix string
		if json.Unmarshal(p.Header, &suffix) == nil && suffix != "" {
			if err := checkArgument(header, "Mcp-Param-"+suffix, path+name, value); err != nil {
				return err
			}
		}
		if err := checkProperties(header, p.Properties, value, path+name+"."); err != nil {
			return err
		}
	}
	return nil
}

func checkArgument(header http.Header, name, path string, value json.RawMessage) *Error {
	inHeader := header.Get(name)
	if value == nil || string(value) == "null" {
		if inHeader != "" {
			return errorf(CodeHeaderMismatch, "the header %s is there, and the argument %s is not", name, path)
		}
		return nil
	}
	if inHeader == "" {
		return errorf(CodeHeaderMismatch, "the header %s is missing for the argument %s", name, path)
	}
	text, ok := decodeHeader(inHeader)
	if !ok || !sameValue(text, value) {
		return errorf(CodeHeaderMismatch, "the header %s and the argument %s differ", name, path)
	}
	return nil
}

// sameValue compares a header with a string, a boolean or an integer.
func sameValue(text string, value json.RawMessage) bool {
	var decoded any
	if json.Unmarshal(value, &decoded) != nil {
		return false
	}
	switch v := decoded.(type) {
	case string:
		return text == v
	case bool:
		return text == strconv.FormatBool(v)
	case float64:
		const maxSafe = 1<<53 - 1 // greater integers are not exact in JavaScript
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && v == math.Trunc(v) && math.Abs(v) <= maxSafe && n == v
	}
	return false
}
