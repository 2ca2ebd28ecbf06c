package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/task/store"
)

func TestAnApprovedToolIsKeptAsItWasLast(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	first := store.ToolApproval{ServerName: "s", ToolName: "t", At: 5, By: "a window", Identity: "i", Digest: "d", Described: "It reads."}
	second := first
	second.At, second.Described = 6, "It writes."
	for _, a := range []store.ToolApproval{first, second} {
		if err := s.ApproveTool(t.Context(), a, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir); err != nil {
		t.Fatal(err)
	}
	got, err := s.ToolApproval(t.Context(), "s", "t")
	if diff := cmp.Diff(&second, got); diff != "" || err != nil {
		t.Errorf("ToolApproval (-want +got): %v\n%s", err, diff)
	}
	if got, err := s.ToolApproval(t.Context(), "other", "t"); got != nil || err != nil {
		t.Errorf("another server has it: %+v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestApprovedToolsAreBounded(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1001 {
		if err := s.ApproveTool(t.Context(), store.ToolApproval{ServerName: "s", ToolName: fmt.Sprint(i), At: int64(i)}, false); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"0": false, "1": true, "1000": true} {
		if got, err := s.ToolApproval(t.Context(), "s", name); (got != nil) != want || err != nil {
			t.Errorf("the tool %s is kept: %+v, %v; want %v", name, got, err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
