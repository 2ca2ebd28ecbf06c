package test

import (
	"fmt"
	"os"
)

// worker is an MCP server of 2025-11-25. Each call of its only tool, research, is the MCP task job-1, which outlives
// the server. It works until the file done is in its folder, or until it is cancelled. The server knows the task until
// the file forgotten exists. A call creates the file begun. A time to live of less than a week is written to the file
// ttl. SAYS is the statusMessage of the task.
func worker() {
	there := func(file string) bool { _, err := os.Stat(file); return err == nil }
	note := func(file string) {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	task := func() string {
		ttl := "null"
		if kept, err := os.ReadFile("ttl"); err == nil {
			ttl = string(kept)
		}
		status := "working"
		switch {
		case there("stopped"):
			status = "cancelled"
		case there("done"):
			status = "completed"
		}
		if said := os.Getenv("SAYS"); said != "" {
			ttl += fmt.Sprintf(`,"statusMessage":%q`, said)
		}
		return fmt.Sprintf(`"taskId":"job-1","status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":%s,"pollInterval":20`, status, ttl)
	}
	for m := range hears() {
		switch m.Method {
		case "initialize":
			m.initialized("worker", `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"research","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`, m.ID)
		case "tools/call":
			if m.Params.Task.TTL < 7*24*60*60*1000 {
				if err := os.WriteFile("ttl", fmt.Append(nil, m.Params.Task.TTL), 0o600); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
			say(`"id":%s,"result":{"task":{%s}}`, m.ID, task())
			note("begun")
		case "tasks/get":
			if there("forgotten") || m.Params.TaskID != "job-1" {
				say(`"id":%s,"error":{"code":-32602,"message":"Task not found"}`, m.ID)
			} else {
				say(`"id":%s,"result":{%s}`, m.ID, task())
			}
		case "tasks/list":
			say(`"id":%s,"result":{"tasks":[{%s}]}`, m.ID, task())
		case "tasks/cancel":
			note("stopped")
			say(`"id":%s,"result":{%s}`, m.ID, task())
		case "tasks/result":
			if there("done") {
				say(`"id":%s,"result":{"content":[{"type":"text","text":"42"}]}`, m.ID)
			} else {
				say(`"id":%s,"error":{"code":-32602,"message":"not done"}`, m.ID)
			}
		default:
			m.unknown()
		}
	}
}
