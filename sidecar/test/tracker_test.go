package test

import (
	"encoding/json"
	"fmt"
	"os"
)

// tracker is an MCP server of 2025-11-25 without an SDK. It writes the params of each call to the file LOG. Its tool asks for a
// completion, with a _meta: the file NAMES in its folder has the traceparent, or else it is a span of the server's own in the trace
// of the call.
func tracker() {
	calls := map[string]json.RawMessage{}
	for m := range hears() {
		var request struct {
			Params json.RawMessage
		}
		if err := json.Unmarshal(m.line, &request); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		switch m.Method {
		case "initialize":
			m.initialized("tracker", `{"tools":{}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"sample","inputSchema":{"type":"object"}}]}`, m.ID)
		case "tools/call":
			log, err := os.OpenFile(os.Getenv("LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = fmt.Fprintf(log, "%s\n", request.Params)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			var call struct {
				Meta struct{ Traceparent string } `json:"_meta"`
			}
			if err := json.Unmarshal(request.Params, &call); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			own := os.Getenv("NAMES")
			if parent := call.Meta.Traceparent; own == "" && len(parent) == 55 {
				own = parent[:36] + trackersSpan + "-01"
			}
			name := "asks " + string(m.ID)
			calls[name] = m.ID
			say(`"id":%q,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"a question that is nobody's business"}}],"maxTokens":20,"_meta":{"traceparent":%q}}`, name, own)
		case "":
			var name string
			if json.Unmarshal(m.ID, &name) == nil && calls[name] != nil {
				say(`"id":%s,"result":{"content":[{"type":"text","text":"done"}]}`, calls[name])
			}
		default:
			m.unknown()
		}
	}
}

// trackersSpan is the span in which a [tracker] asks.
const trackersSpan = "7777777777777777"
