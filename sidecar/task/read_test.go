package task_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
)

// Every reading of a task is bounded, regardless of the size of its files, and no file is left out.
func TestATaskOfLargeFilesIsReadInPieces(t *testing.T) {
	f := newFixture(t, nil, func(o *task.Options) { o.MaxRead = 16 << 10 })
	defer f.close(t)
	image := protocol.Attachment{Name: "a.png", Content: protocol.ImageContent{MIMEType: "image/png", Data: strings.Repeat("A", 5<<10)}}
	for range 4 {
		if _, err := f.task.Say(protocol.UserMessage{Text: "see"}, image); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(messages []protocol.Message) (ids []int64) {
		for _, m := range messages {
			ids = append(ids, m.ID)
		}
		return ids
	}
	newest, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(newest.Messages); !cmp.Equal(got, []int64{2, 3, 4, 5, 6, 7, 8}) || !newest.Earlier || !newest.Reset {
		t.Errorf("the newest are %v, earlier %v", got, newest.Earlier)
	}
	before, err := f.task.Open(t.Context(), 0, newest.Messages[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(before.Messages); got[0] != 1 || got[len(got)-1] != newest.Messages[0].ID-1 || before.Earlier {
		t.Errorf("before them are %v, earlier %v", got, before.Earlier)
	}
	changed, err := f.task.Open(t.Context(), 1, 0, 0)
	if err != nil || !changed.Reset {
		t.Errorf("what changed is too much, and no reset: %v", err)
	}
	var all []int64
	err = f.task.Conversation(t.Context(), 0, func(m protocol.Message) bool {
		all = append(all, m.ID)
		return true
	})
	if err != nil || len(all) != 8 {
		t.Errorf("the conversation has %v, %v", all, err)
	}
}
