package task_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

func TestOpenAsksOfAllTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		info, err := f.registry.Create("another")
		if err != nil {
			t.Fatal(err)
		}
		other := &fixture{registry: f.registry, events: f.events}
		if other.task, err = f.registry.Get(info.ID); err != nil {
			t.Fatal(err)
		}
		origin := protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}}
		said := func(text string) []protocol.ContentBlock {
			return []protocol.ContentBlock{protocol.ImageContent{}, protocol.TextContent{Text: text}}
		}
		ask := func(of *fixture, body protocol.UseMcpServer) {
			t.Helper()
			of.ask(t.Context(), question(body))
			synctest.Wait()
			time.Sleep(time.Second) // of the bubble's clock: the next one is newer
		}
		ask(other, protocol.McpElicitation{Origin: origin, ElicitationRequest: protocol.McpElicitationRequest{Message: " Which\n\n*row*? "}})
		ask(f, protocol.McpSampling{Origin: origin, SamplingRequest: protocol.McpSamplingRequest{
			Messages: []protocol.SamplingMessage{{Content: said("Before.")}, {Content: said("How risky?")}},
		}})
		ask(other, protocol.McpSamplingReview{Origin: origin, SamplingResponse: protocol.McpSamplingResponse{Content: said("Low.")}})
		ask(f, protocol.McpURLElicitation{Origin: origin, Message: "Sign in."})
		ask(f, sampling) // without a text

		type brief struct {
			Title, Text string
			Wants       protocol.AskWants
		}
		list := func() (briefs []brief, asks []protocol.OpenAsk) {
			t.Helper()
			asks, truncated, err := f.registry.OpenAsks()
			if err != nil || truncated {
				t.Fatalf("truncated %v, %v", truncated, err)
			}
			for _, a := range asks {
				briefs = append(briefs, brief{a.Title, a.Text, a.Wants})
			}
			return briefs, asks
		}
		got, asks := list()
		want := []brief{
			{"another", "Which row?", protocol.WantsForm},
			{"a task", "How risky?", protocol.WantsCompletion},
			{"another", "Low.", protocol.WantsReview},
			{"a task", "Sign in.", protocol.WantsPage},
			{"a task", "", protocol.WantsCompletion},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("OpenAsks (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(origin, asks[0].Origin); diff != "" {
			t.Errorf("origin (-want +got):\n%s", diff)
		}
		first := f.messages(t)[0]
		if asks[1].MessageID != first.ID || asks[1].Time != first.Time || asks[1].TaskID != f.task.Info().ID {
			t.Errorf("the second ask is %+v, its message %+v", asks[1], first)
		}

		// Settled asks leave the list, regardless of who settled them.
		params := &protocol.AskResponseParams{AskID: asks[0].AskID, AskResponse: protocol.NoButtonClicked}
		if _, err := other.task.Answer(t.Context(), params, "a test"); err != nil {
			t.Fatal(err)
		}
		f.task.Close("a test")
		got, _ = list()
		if diff := cmp.Diff(want[2:3], got); diff != "" {
			t.Errorf("OpenAsks after two ends (-want +got):\n%s", diff)
		}
		other.task.Close("a test")
	})
}

func TestOpenAsksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		body := form
		body.ElicitationRequest.Message = strings.Repeat("é", 1<<10)
		for range 501 {
			f.ask(t.Context(), question(body))
		}
		synctest.Wait()
		asks, truncated, err := f.registry.OpenAsks()
		if err != nil || len(asks) != 500 || !truncated {
			t.Fatalf("%d asks, truncated %v, %v; want 500, true", len(asks), truncated, err)
		}
		for i, a := range asks {
			if a.MessageID != int64(i+1) {
				t.Fatalf("ask %d is message %d: the oldest stay", i, a.MessageID)
			}
		}
		text := asks[0].Text
		if want := strings.Repeat("é", 150) + "…"; text != want || !utf8.ValidString(text) {
			t.Errorf("the text is %d bytes, %q", len(text), text)
		}
		f.task.Close("a test")
		synctest.Wait()
	})
}
