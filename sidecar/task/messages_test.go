package task_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

func newTask(t *testing.T, r *task.Registry) *task.Task {
	t.Helper()
	info, err := r.Create("")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := r.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func say(t *testing.T, tk *task.Task, text string, replaces int64) int64 {
	t.Helper()
	id, err := tk.Say(protocol.UserMessage{Text: text, Replaces: replaces})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func answer(tk *task.Task, text string, replaces int64) {
	tk.AddModelMessage(protocol.ModelMessage{Text: text, Replaces: replaces, End: &protocol.ModelEnd{Reason: protocol.ModelEndTurn}})
}

// conversation returns the texts of the conversation, the oldest first.
func conversation(t *testing.T, tk *task.Task, before int64) []string {
	t.Helper()
	var texts []string
	err := tk.Conversation(t.Context(), before, func(m protocol.Message) bool {
		switch body := m.Body.(type) {
		case protocol.UserMessage:
			texts = append([]string{body.Text}, texts...)
		case protocol.ModelMessage:
			texts = append([]string{body.Text}, texts...)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestMessagesThatLeftTheConversation(t *testing.T) {
	r, _ := tasktest.Registry(t, nil)
	tk := newTask(t, r)
	want := func(when string, texts ...string) {
		t.Helper()
		if diff := cmp.Diff(texts, conversation(t, tk, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	first := say(t, tk, "1", 0)
	answer(tk, "one", 0)
	second := say(t, tk, "2", 0)
	answer(tk, "two", 0)
	want("at first", "1", "one", "2", "two")
	answer(tk, "zwei", second+1)
	want("after a retry", "1", "one", "2", "zwei")
	say(t, tk, "3", second)
	want("after an edit", "1", "one", "3")
	answer(tk, "three", 0)
	say(t, tk, "4", first)
	want("after an edit of all", "4")
	for i := range 200 { // more than a page
		say(t, tk, fmt.Sprint(i), 0)
	}
	if got := conversation(t, tk, 0); len(got) != 201 || got[0] != "4" {
		t.Errorf("of many messages there are %d, from %q", len(got), got[0])
	}
	if got := conversation(t, tk, first); len(got) != 0 {
		t.Errorf("before the first there are %q", got)
	}
}

func TestInvalidMessages(t *testing.T) {
	r, _ := tasktest.Registry(t, nil)
	tk := newTask(t, r)
	for name, said := range map[string]protocol.UserMessage{
		"nothing":               {Text: " \n"},
		"too long":              {Text: strings.Repeat("x", 2<<20)},
		"too many attachments":  {Text: "x", Attachments: make([]int64, 21)},
		"too long for a queue":  {Text: strings.Repeat("x", 2<<20)},
		"attachments and blank": {Attachments: make([]int64, 21)},
	} {
		if _, err := tk.Say(said); !isInvalid(err) {
			t.Errorf("%s = %v", name, err)
		}
		if _, err := tk.Enqueue(said); !isInvalid(err) {
			t.Errorf("%s in the queue = %v", name, err)
		}
	}
	for range 50 {
		if _, err := tk.Enqueue(protocol.UserMessage{Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tk.Enqueue(protocol.UserMessage{Text: "x"}); !isInvalid(err) {
		t.Errorf("one too many = %v", err)
	}
}

func isInvalid(err error) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Code == protocol.CodeInvalidParams
}

func TestTheTitleIsTheBeginning(t *testing.T) {
	for text, want := range map[string]string{
		"Plan a trip.":   "Plan a trip.",
		"  Two\n\nlines": "Two lines",
		"Tell me everything that you know about the history of the city of Oslo, please.": "Tell me everything that you know about the history of the…",
		strings.Repeat("é", 100): strings.Repeat("é", 60) + "…",
	} {
		r, _ := tasktest.Registry(t, nil)
		tk := newTask(t, r)
		say(t, tk, text, 0)
		if got := tk.Info().Title; got != want {
			t.Errorf("the title is %q, want %q", got, want)
		}
	}
}

// The next sidecar ends the turns of a killed one.
func TestTurnsOfASidecarThatWasKilled(t *testing.T) {
	settings := protocol.TaskSettings{ModelID: "demo:script", Servers: []protocol.TaskServer{}}
	tests := []struct {
		name string
		do   func(t *testing.T, tk *task.Task)
		want []protocol.ModelEndReason
	}{
		{"nothing", func(*testing.T, *task.Task) {}, nil},
		{"the servers are asked for their tools", func(t *testing.T, tk *task.Task) { say(t, tk, "?", 0) }, []protocol.ModelEndReason{protocol.ModelEndInterrupted}},
		{"a model writes", func(t *testing.T, tk *task.Task) {
			say(t, tk, "?", 0)
			if _, err := tk.BeginModelMessage(protocol.ModelMessage{}); err != nil {
				t.Fatal(err)
			}
		}, []protocol.ModelEndReason{protocol.ModelEndInterrupted}},
		{"calls are to be made", func(t *testing.T, tk *task.Task) {
			say(t, tk, "?", 0)
			id, err := tk.BeginModelMessage(protocol.ModelMessage{})
			if err != nil {
				t.Fatal(err)
			}
			tk.EndModelMessage(id, protocol.ModelMessage{
				ToolUses: []protocol.ModelToolUse{{ID: "a"}, {ID: "b"}, {ID: "c", Error: "no such tool"}},
				End:      &protocol.ModelEnd{Reason: protocol.ModelEndToolUse},
			})
			if _, err := tk.StartToolUse("s", protocol.CallToolRequest{ToolName: "t"}, protocol.ToolUseRef{MessageID: id, ToolUseID: "a"}); err != nil {
				t.Fatal(err)
			}
		}, []protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndInterrupted}},
		{"the turn has ended", func(t *testing.T, tk *task.Task) {
			say(t, tk, "?", 0)
			answer(tk, "!", 0)
			tk.EndTurn()
		}, []protocol.ModelEndReason{protocol.ModelEndTurn}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			open := func() (*store.Store, error) { return store.Open(dir) }
			r, _ := tasktest.Registry(t, open)
			tk := newTask(t, r)
			if _, err := tk.Configure(settings); err != nil {
				t.Fatal(err)
			}
			tt.do(t, tk)
			if _, err := tk.Enqueue(protocol.UserMessage{Text: "later"}); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil { // as a kill: open asks stay open
				t.Fatal(err)
			}
			next, _ := tasktest.Registry(t, open)
			found, err := next.Get(tk.Info().ID)
			if err != nil {
				t.Fatal(err)
			}
			info := found.Info()
			if info.Running || len(info.Queue) != 1 || info.Queue[0].Text != "later" {
				t.Errorf("the task is %+v", info)
			}
			if diff := cmp.Diff(&settings, info.Settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			opened, err := found.Open(context.Background(), 0, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []protocol.ModelEndReason
			for _, m := range opened.Messages {
				said, ok := m.Body.(protocol.ModelMessage)
				if !ok {
					continue
				}
				got = append(got, said.End.Reason)
				if said.Progress != nil {
					t.Errorf("the message still has %+v", said.Progress)
				}
				for _, use := range said.ToolUses {
					if want := map[string]string{"b": "The call was not made: Assent was restarted.", "c": "no such tool"}[use.ID]; use.Error != want {
						t.Errorf("the model is told of %s %q, want %q", use.ID, use.Error, want)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
			if err := next.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
