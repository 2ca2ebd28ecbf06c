package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// scripted is an MCP server of 2025-11-25 with a tool find_users, which finds three, and a tool exam, which sends the
// requests in rounds.json in its folder: a list of lists of {"method", "params"}. The requests of a list are sent at
// once, and the next list when all are answered. The result has the answers, in the order of the requests. The method
// "leave" ends the server.
func scripted() {
	if _, err := os.Stat("rounds.json"); err != nil {
		if err := os.WriteFile("rounds.json", []byte("[]"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	var rounds [][]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	data, err := os.ReadFile("rounds.json")
	if err == nil {
		err = json.Unmarshal(data, &rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var call json.RawMessage
	var got []string
	waits := 0
	ask := func() {
		for waits == 0 && len(rounds) > 0 {
			for _, a := range rounds[0] {
				if a.Method == "leave" {
					fmt.Fprintln(os.Stderr, "out of memory")
					os.Exit(1)
				}
				params, err := json.Marshal(a.Params)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
				say(`"id":"q%d","method":%q,"params":%s`, len(got), a.Method, params)
				got, waits = append(got, ""), waits+1
			}
			rounds = rounds[1:]
		}
		if waits == 0 {
			text, err := json.Marshal(strings.Join(got, "\n"))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			say(`"id":%s,"result":{"content":[{"type":"text","text":%s}]}`, call, text)
		}
	}
	for m := range hears() {
		switch m.Method {
		case "initialize":
			m.initialized("scripted", `{"tools":{}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"find_users","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"exam","inputSchema":{"type":"object"}}]}`, m.ID)
		case "tools/call":
			if m.Params.Name == "find_users" {
				say(`"id":%s,"result":{"content":[{"type":"text","text":"There are 3 users."}]}`, m.ID)
				continue
			}
			call = m.ID
			ask()
		case "":
			n := 0
			if _, err := fmt.Sscanf(string(m.ID), `"q%d"`, &n); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			got[n] = string(m.Result) + string(m.Error)
			waits--
			ask()
		default:
			m.unknown()
		}
	}
}
