package grant_test

import (
	"fmt"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// entry returns a sampling request as it is stored.
func entry(id int64, q protocol.McpSampling) store.Entry {
	askID := fmt.Sprintf("ask-%d", id)
	ask := protocol.Ask{AskID: askID, Ask: protocol.AskUseMcpServer, Question: q}
	return store.Entry{
		Message: protocol.Message{ID: id, Time: id, Body: ask}, Number: id, AskID: askID, SamplingServer: q.ServerName,
	}
}

func TestAPreviewSpendsFromTheOldestOn(t *testing.T) {
	s := openStore(t, t.TempDir())
	b := newBook(s)
	id := int64(0)
	add := func(q protocol.McpSampling) {
		t.Helper()
		id++
		q.ServerName = "s"
		q.SamplingRequest.MaxTokens = 100
		e := entry(id, q)
		if err := s.Save(t.Context(), protocol.Task{ID: "t1"}, &e); err != nil {
			t.Fatal(err)
		}
	}
	used := func(tokens int64) *protocol.SamplingUsage { return &protocol.SamplingUsage{OutputTokens: tokens} }
	answer := protocol.McpSamplingResponse{Content: []protocol.ContentBlock{protocol.TextContent{Text: strings.Repeat("x", 40)}}}
	add(protocol.McpSampling{Model: &free, Usage: used(10)})
	add(protocol.McpSampling{Model: &free, Usage: used(20), Secrets: []protocol.SecretFinding{{Text: "x"}}})
	add(protocol.McpSampling{Model: &free, Result: answer}) // without usage: 10
	add(protocol.McpSampling{Model: &free})                 // declined: at most 100
	add(protocol.McpSampling{Model: &free, Usage: used(1)})
	add(protocol.McpSampling{})

	result, err := b.Preview(t.Context(), &protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxTokens: 219})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ // the newest first
		"The grant does not cover it: there is no model to propose.",
		"The grant for 219 tokens has 99 left, and the request may come to 100.",
		"", "", "The grant does not cover it: something in it looks like a secret.", "",
	}
	if len(result.Requests) != len(want) || result.Truncated {
		t.Fatalf("Preview = %+v", result)
	}
	for i, r := range result.Requests {
		if r.MessageID != id-int64(i) || r.TaskID != "t1" {
			t.Errorf("request %d is message %d of %s", i, r.MessageID, r.TaskID)
		}
		if r.Allowed != (want[i] == "") || r.Reason != want[i] {
			t.Errorf("request %d is allowed: %v, %q, want %q", i, r.Allowed, r.Reason, want[i])
		}
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List after a preview = %v, %v", list, err)
	}
}

func TestAPreviewIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	for id := int64(1); id <= 501; id++ {
		e := entry(id, protocol.McpSampling{Origin: protocol.Origin{ServerName: "s"}, Model: &free})
		if err := s.Save(t.Context(), protocol.Task{ID: "t1"}, &e); err != nil {
			t.Fatal(err)
		}
	}
	result, err := newBook(s).Preview(t.Context(), &protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 2})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Requests); n != 500 || !result.Truncated {
		t.Fatalf("the preview has %d requests, truncated: %v", n, result.Truncated)
	}
	for i, r := range result.Requests {
		if r.Allowed != (i >= 498) {
			t.Errorf("request %d is allowed: %v", i, r.Allowed)
		}
	}
	for _, wrong := range []protocol.GrantTerms{{ServerName: "s"}, {Models: anyModel, MaxRequests: 1}} {
		if _, err := newBook(s).Preview(t.Context(), &wrong); err == nil {
			t.Errorf("Preview of %+v gave no error", fmt.Sprint(wrong))
		}
	}
}
