package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// legacyAsker is an MCP server that speaks 2026-07-28 and 2025-11-25, without an SDK. Its only tool, ask, sends a request,
// which is refused in 2026-07-28 with go-sdk's error. It returns the answer. Each call adds a line to the file called.
func legacyAsker() {
	modern := false
	for m := range hears() {
		switch m.Method {
		case "server/discover":
			modern = true
			say(`"id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, m.ID)
		case "initialize":
			m.initialized("legacy-asker", `{"tools":{}}`)
		case "tools/list":
			say(`"id":%s,"result":{"resultType":"complete","tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`, m.ID)
		case "tools/call":
			called, err := os.OpenFile("called", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = fmt.Fprintln(called, "modern:", modern)
				err = errors.Join(err, called.Close())
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			if modern {
				say(`"id":%s,"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":%s}]}`, m.ID, strconv.Quote(
					`"elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)`))
			} else {
				say(`"id":%s,"method":"elicitation/create","params":{"message":"Your name","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`, strconv.Quote("asks "+string(m.ID)))
			}
		case "":
			var question string
			if json.Unmarshal(m.ID, &question) == nil {
				say(`"id":%s,"result":{"content":[{"type":"text","text":%s}]}`, strings.TrimPrefix(question, "asks "), strconv.Quote(string(m.Result)))
			}
		default:
			m.unknown()
		}
	}
}
