package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

type usedTool struct {
	arguments json.RawMessage
	err       error
}

// useTool asks about a call in a goroutine, and returns the channel for the answer.
func (f *fixture) useTool(ctx context.Context, q protocol.UseMcpTool) <-chan usedTool {
	done := make(chan usedTool, 1)
	go func() {
		arguments, err := f.UseTool(ctx, f.task, f.task.Info().ID, q)
		done <- usedTool{arguments, err}
	}()
	return done
}

func TestErrorsForAModelAboutRefusedCalls(t *testing.T) {
	tests := []struct {
		name   string
		end    func(f *fixture, cancel context.CancelCauseFunc)
		reason protocol.OutcomeReason
		told   string
	}{
		{"declined", func(f *fixture, _ context.CancelCauseFunc) {
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
				t.Error(err)
			}
		}, protocol.OutcomeDeclined, "the user declined it"},
		{"dismissed", func(f *fixture, _ context.CancelCauseFunc) {
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.CancelButtonClicked}); err != nil {
				t.Error(err)
			}
		}, protocol.OutcomeDismissed, "dismissed the question"},
		{"stopped", func(f *fixture, cancel context.CancelCauseFunc) {
			tasktest.AwaitAsk(t, f.events)
			cancel(&task.Ended{Reason: protocol.OutcomeDismissed, Detail: "You stopped it."})
		}, protocol.OutcomeDismissed, "You stopped it."},
		{"timed out", func(f *fixture, cancel context.CancelCauseFunc) {
			tasktest.AwaitAsk(t, f.events)
			cancel(&task.Ended{Reason: protocol.OutcomeTimedOut})
		}, protocol.OutcomeTimedOut, "did not answer in time"},
		{"closed", func(f *fixture, _ context.CancelCauseFunc) {
			tasktest.AwaitAsk(t, f.events)
			f.task.Close("a test")
		}, protocol.OutcomeDismissed, "The task was closed."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := f.useTool(ctx, protocol.UseMcpTool{Origin: protocol.Origin{ServerName: "s"}, Tool: protocol.Tool{Name: "t"}, Arguments: json.RawMessage(`{}`)})
			tt.end(f, cancel)
			var no *broker.NotApproved
			if got := <-done; !errors.As(got.err, &no) || no.Reason != tt.reason || !strings.Contains(no.Error(), tt.told) {
				t.Errorf("UseTool = %s, %v, want %s with %q", got.arguments, got.err, tt.reason, tt.told)
			}
		})
	}
}

// A schema that is too long to read is not shown, but it is part of the digest of an approved tool.
func TestALongSchemaIsLeftOut(t *testing.T) {
	f := newFixture(t, nil)
	tool := protocol.Tool{
		Name: "t", InputSchema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 100<<10) + `"}`),
		Fields: []protocol.Field{protocol.StringField{FieldHead: protocol.FieldHead{Name: "a"}}},
	}
	done := f.useTool(t.Context(), protocol.UseMcpTool{Origin: protocol.Origin{ServerName: "s"}, Tool: tool, Arguments: json.RawMessage(`{"a":"b"}`)})
	ask, _ := tasktest.AwaitAsk(t, f.events)
	if q := ask.Question.(protocol.UseMcpTool); q.Tool.InputSchema != nil || q.Tool.Fields != nil || !q.Destructive {
		t.Errorf("the person is shown %+v", q)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || string(got.arguments) != `{"a":"b"}` {
		t.Errorf("UseTool = %s, %v", got.arguments, got.err)
	}
}

// The claims of a tool that has changed since the person allowed it, be it once, approve nothing.
func TestAToolThatClaimsOtherwiseIsShown(t *testing.T) {
	f := newFixture(t, nil)
	kept, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	book := grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return kept, nil }, Server: func(string) (string, string) { return "a", "serve" },
	})
	f.Broker = broker.New(broker.Options{Policy: policy.New(policy.Options{
		Settings: func() policy.Settings {
			return policy.Settings{Tools: protocol.ToolSettings{AutoApprove: protocol.AutoApproveReadOnly}}
		},
		ToolRules: grant.NewToolRules(book),
		Log:       zerolog.New(zerolog.NewTestWriter(t)),
	})})
	var seen []string
	use := func(readOnly bool) *protocol.ToolChange {
		t.Helper()
		done := f.useTool(t.Context(), protocol.UseMcpTool{
			Origin: protocol.Origin{ServerName: "s"}, Arguments: json.RawMessage(`{}`),
			Tool: protocol.Tool{Name: "t", Annotations: &protocol.ToolAnnotations{ReadOnlyHint: &readOnly}},
		})
		ask := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}, seen...)
		seen = append(seen, ask.AskID)
		if got := <-done; got.err != nil {
			t.Fatal(got.err)
		}
		return ask.Question.(protocol.UseMcpTool).Changed
	}
	if change := use(false); change != nil {
		t.Errorf("a tool that was never allowed has changed: %+v", change)
	}
	change := use(true)
	if change == nil || !change.Tool || change.Server || len(change.Lines) == 0 {
		t.Errorf("the claim has changed: %+v", change)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
}

// While the rules cannot be read, a setting approves no tool: a rule may forbid it.
func TestAToolIsAskedAboutWhereItsRulesCannotBeRead(t *testing.T) {
	f := newFixture(t, nil)
	book := grant.NewBook(grant.Options{Store: func() (*store.Store, error) { return nil, errors.New("no store") }})
	f.Broker = broker.New(broker.Options{Policy: policy.New(policy.Options{
		Settings: func() policy.Settings {
			return policy.Settings{Tools: protocol.ToolSettings{AutoApprove: protocol.AutoApproveReadOnly}}
		},
		ToolRules: grant.NewToolRules(book),
		Log:       zerolog.New(zerolog.NewTestWriter(t)),
	})})
	done := f.useTool(t.Context(), protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: "s"}, Arguments: json.RawMessage(`{}`),
		Tool: protocol.Tool{Name: "t", Annotations: &protocol.ToolAnnotations{ReadOnlyHint: new(true)}},
	})
	if ask, _ := tasktest.AwaitAsk(t, f.events); ask.Outcome != nil {
		t.Fatalf("nobody was asked: %+v", ask.Outcome)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}
