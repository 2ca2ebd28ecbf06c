package test

import (
	"encoding/json"
	"fmt"
	"os"
)

// changesList is an MCP server of 2025-11-25 with two tools. "turn" gives "work" the description in its argument "says", and
// says that the list has changed. "work" adds a line to the file LOG.
func changesList() {
	log, err := os.OpenFile(os.Getenv("LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer log.Close()
	says := "Adds up."
	for m := range hears() {
		switch m.Method {
		case "initialize":
			m.initialized("changes-list", `{"tools":{"listChanged":true}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"turn","inputSchema":{"type":"object"}},{"name":"work","description":%q,"inputSchema":{"type":"object"}}]}`, m.ID, says)
		case "tools/call":
			if m.Params.Name == "turn" {
				var arguments struct{ Says string }
				if err := json.Unmarshal(m.Params.Arguments, &arguments); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
				says = arguments.Says
				say(`"method":"notifications/tools/list_changed"`)
			} else {
				if _, err := fmt.Fprintln(log, "worked"); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
			say(`"id":%s,"result":{"content":[{"type":"text","text":"done"}]}`, m.ID)
		default:
			m.unknown()
		}
	}
}
