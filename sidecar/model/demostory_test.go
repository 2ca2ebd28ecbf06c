package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/model"

	"github.com/google/go-cmp/cmp"
)

// smartDatabase returns the tools of scripts/testservers/smart-database.mjs, in an unhelpful order.
func smartDatabase(prefix string) []protocol.SamplingTool {
	days := json.RawMessage(`{"type":"object","properties":{"inactive_for_days":{"type":"integer","default":730}}}`)
	return []protocol.SamplingTool{
		{Name: prefix + "list_audit", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: prefix + "delete_inactive_users", InputSchema: days},
		{Name: prefix + "undo_delete", InputSchema: json.RawMessage(`{"type":"object","properties":{"audit_id":{"type":"integer"}},"required":["audit_id"]}`)},
		{Name: prefix + "find_inactive_users", InputSchema: days},
		{Name: prefix + "count_inactive_users", InputSchema: days},
	}
}

func TestTheDemoCarriesTheSmartDatabaseThrough(t *testing.T) {
	for _, prefix := range []string{"", "smart-database__"} {
		request := ask("Clean up the users table: remove all inactive accounts")
		request.Tools = smartDatabase(prefix)
		var ids []string
		step := func(wantTool, wantInput, result, structured string) {
			t.Helper()
			c := say(t, request)
			if len(c.ToolUses) != 1 || c.StopReason != model.StopToolUse || c.ToolUses[0].Name != prefix+wantTool || string(c.ToolUses[0].Input) != wantInput {
				t.Fatalf("it stops with %s and calls %+v, want %s with %s", c.StopReason, c.ToolUses, wantTool, wantInput)
			}
			if !strings.Contains(c.Text, "demo script") {
				t.Errorf("%q does not say whose it is", c.Text)
			}
			ids = append(ids, c.ToolUses[0].ID)
			tell(request, protocol.RoleAssistant, c.ToolUses[0])
			tell(request, protocol.RoleUser, protocol.ToolResultContent{
				ToolUseID: c.ToolUses[0].ID, StructuredContent: json.RawMessage(structured),
				Content: []protocol.ToolResultBlock{protocol.TextContent{Text: result}},
			})
		}
		step("count_inactive_users", `{}`, "30 of 200 users have not logged in for 730 days.", "")
		step("delete_inactive_users", `{}`, "Deleted 30 users.\n\nAudit entry 7: gone.", `{"deleted":30,"audit_id":7}`)
		c := say(t, request)
		if c.ToolUses != nil || c.StopReason != model.StopEndTurn || !strings.HasPrefix(c.Text, "30 of 200 users have not logged in for 730 days.\n\nDeleted 30 users.") {
			t.Errorf("at the end it says %+v", c)
		}
		tell(request, protocol.RoleAssistant, protocol.TextContent{Text: c.Text})
		tell(request, protocol.RoleUser, protocol.TextContent{Text: "Please undo that."})
		step("undo_delete", `{"audit_id":7}`, "Brought back 30 users.", "")
		if c := say(t, request); c.ToolUses != nil || !strings.HasPrefix(c.Text, "Brought back 30 users.") {
			t.Errorf("after undoing it says %+v", c)
		}
		if diff := cmp.Diff([]string{"demo_1", "demo_2", "demo_3"}, ids); diff != "" {
			t.Errorf("ids of calls (-want +got):\n%s", diff)
		}
	}
}

func TestTheDemoChoosesToolsByWords(t *testing.T) {
	tests := []struct{ name, prompt, want string }{
		{"counting", "How many inactive users are there?", "count_inactive_users"},
		{"finding", "Show me the inactive accounts", "find_inactive_users"},
		{"another list", "List the audit entries", "list_audit"},
		{"counted before deleted", "Delete the inactive users", "count_inactive_users"},
		{"undoing", "Undo the deletion", "undo_delete"},
		{"no tool's nouns", "Remove the stars from the sky", ""},
		{"not to be done", "Don't delete the inactive users", ""},
		{"no verb", "Hello", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			request := ask(tt.prompt)
			request.Tools = smartDatabase("")
			var got []string
			for _, call := range say(t, request).ToolUses {
				got = append(got, call.Name)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("it calls %q, want %q", got, tt.want)
			}
			if tt.want == "" {
				request.ToolChoice = &protocol.ToolChoice{Mode: protocol.ToolChoiceRequired}
				if calls := say(t, request).ToolUses; len(calls) != 2 || calls[0].Name != "list_audit" || calls[1].Name != "find_inactive_users" {
					t.Errorf("where it must call a tool it calls %+v, want the first two that take nothing away", calls)
				}
			}
			request.ToolChoice = &protocol.ToolChoice{Mode: protocol.ToolChoiceNone}
			if c := say(t, request); c.ToolUses != nil {
				t.Errorf("it calls tools that it must not: %+v", c.ToolUses)
			}
		})
	}
}

func TestTheDemoStopsAtAToolsError(t *testing.T) {
	request := ask("Remove inactive users")
	request.Tools = smartDatabase("")
	call := say(t, request).ToolUses[0]
	tell(request, protocol.RoleAssistant, call)
	tell(request, protocol.RoleUser, protocol.ToolResultContent{
		ToolUseID: call.ID, IsError: true, Content: []protocol.ToolResultBlock{protocol.TextContent{Text: "users.db is locked."}},
	})
	if c := say(t, request); c.ToolUses != nil || !strings.HasPrefix(c.Text, "users.db is locked.") {
		t.Errorf("after an error it says %+v", c)
	}
}

func TestTheDemoJudgesADeletion(t *testing.T) {
	tests := []struct{ name, prompt, want string }{
		{"as the smart database asks", "How risky is it to delete these users?\n\nUsers to delete: 30 of 200\nLast login: more than 730 days ago\nWith orders: 8", "MEDIUM: 30 of 200 rows would go, and 8 of them have orders."},
		{"most of them", "How risky? 101 of 200", "HIGH: 101 of 200 rows"},
		{"few of them", "How risky? 1 of 200\nWith orders: 0", "LOW: 1 of 200 rows"},
		{"few, with orders", "How risky? 1 of 200\nWith orders: 1", "MEDIUM: 1 of 200 rows"},
		{"nothing to go by", "How risky is it?", "This is where a language model would answer"},
		{"a note", "Write the audit note for this deletion.\n\nUsers to delete: 30 of 200\nRisk: MEDIUM\nReason: the yearly clean-up\nBackup kept: yes", "30 of 200 users were deleted after a person confirmed it. Reason: the yearly clean-up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := say(t, ask(tt.prompt))
			if !strings.HasPrefix(c.Text, tt.want) {
				t.Errorf("it says %q, want %q", c.Text, tt.want)
			}
		})
	}
}

func say(t *testing.T, request *protocol.McpSamplingRequest) *model.Completion {
	t.Helper()
	c, err := model.Demo{}.Generate(t.Context(), "script", request, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tell(request *protocol.McpSamplingRequest, role protocol.Role, blocks ...protocol.ContentBlock) {
	request.Messages = append(request.Messages, protocol.SamplingMessage{Role: role, Content: blocks})
}
