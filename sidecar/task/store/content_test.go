package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// Before version 3 a completion had one block of content and no list.
func TestCompletionsOfAnEarlierVersionCanBeRead(t *testing.T) {
	dir := t.TempDir()
	response := protocol.McpSamplingResponse{
		Role: protocol.RoleAssistant, Model: "m", Content: []protocol.ContentBlock{protocol.TextContent{Text: `"x" ☃`}},
	}
	asked := func(id int64, askID string, q protocol.UseMcpServer) store.Entry {
		return store.Entry{Number: id, AskID: askID, Message: protocol.Message{ID: id, Body: protocol.Ask{AskID: askID, Ask: protocol.AskUseMcpServer, Question: q}}}
	}
	want := []store.Entry{
		asked(1, "a", protocol.McpSampling{Result: response}),
		asked(2, "b", protocol.McpSamplingReview{SamplingResponse: response, SentResponse: &response}),
		asked(3, "c", protocol.McpSampling{Result: protocol.SamplingWithheld{Reason: "no"}}),
	}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range want {
		save(t, s, protocol.Task{ID: "t1"}, e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"$.body.question.result.content", "$.body.question.samplingResponse.content", "$.body.question.sentResponse.content"} {
		_, err := db.Exec(`UPDATE messages SET body = json_set(body, ?1, json_extract(body, ?1 || '[0]')) WHERE json_type(body, ?1) = 'array'`, path)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(toVersion2); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir).Messages(t.Context(), "t1", store.Range{Limit: 10})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Messages (-want +got): %v\n%s", err, diff)
	}
}
