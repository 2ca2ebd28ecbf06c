package task_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// search returns the hits, one per line, the newest first.
func (f *fixture) search(t *testing.T, p protocol.SearchTasksParams) ([]string, bool) {
	t.Helper()
	result, err := f.registry.Search(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, h := range result.Hits {
		lines = append(lines, fmt.Sprintf("%s/%d %s[%s]%s", h.Title, h.MessageID, h.Before, h.Match, h.After))
	}
	return lines, result.Truncated
}

func TestTextsAreFoundInMessages(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	id := f.task.Info().ID
	if _, err := f.task.Say(protocol.UserMessage{Text: "Remove the \"old\" rows\nof 50%_ <Größe>"}, protocol.Attachment{
		Name: "ROWS.txt", Content: protocol.TextContent{Text: "one, two"},
	}); err != nil {
		t.Fatal(err)
	}
	f.task.EndTurn()
	call, err := f.task.StartCall("s", protocol.CallToolRequest{ToolName: "clean", Arguments: json.RawMessage(`{"rows":"all"}`)})
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(call, text(strings.Repeat("x ", 100)+"rows "+strings.Repeat("y ", 100), false))
	other, err := f.registry.Create("another")
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.registry.Get(other.ID)
	if err != nil {
		t.Fatal(err)
	}
	second.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: "No rows here."})
	for _, tt := range []struct {
		name string
		p    protocol.SearchTasksParams
		want []string
		more bool
	}{
		{name: "everywhere", p: protocol.SearchTasksParams{Text: "rows"}, want: []string{
			"another/1 No [rows] here.",
			`a task/3 {"[rows]":"all"}`,
			"a task/2 Remove the \"old\" [rows] of 50%_ <Größe>",
			"a task/1 [ROWS].txt",
		}},
		{name: "in one task", p: protocol.SearchTasksParams{Text: "rows", TaskID: other.ID}, want: []string{"another/1 No [rows] here."}},
		{name: "as many as wanted", p: protocol.SearchTasksParams{Text: "rows", Limit: 1}, want: []string{"another/1 No [rows] here."}, more: true},
		{name: "what JSON writes otherwise", p: protocol.SearchTasksParams{Text: `"OLD" rows  of`}, want: []string{`a task/2 Remove the ["old" rows of] 50%_ <Größe>`}},
		{name: "what LIKE takes for any", p: protocol.SearchTasksParams{Text: "50%_"}, want: []string{`a task/2 Remove the "old" rows of [50%_] <Größe>`}},
		{name: "of other letters", p: protocol.SearchTasksParams{Text: "<gRÖsSE"}, want: nil},
		{name: "of other letters in another case", p: protocol.SearchTasksParams{Text: "<gRÖß"}, want: []string{`a task/2 Remove the "old" rows of 50%_ [<Größ]e>`}},
		{name: "no names of the wire", p: protocol.SearchTasksParams{Text: "toolName"}},
		{name: "cut around it", p: protocol.SearchTasksParams{Text: "x rows y", TaskID: id}, want: []string{
			"a task/3 …" + strings.Repeat("x ", 20) + "[x rows y]" + strings.Repeat(" y", 20) + "…",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, more := f.search(t, tt.p)
			if diff := cmp.Diff(tt.want, got); diff != "" || more != tt.more {
				t.Errorf("truncated %v, hits (-want +got):\n%s", more, diff)
			}
		})
	}
	if _, err := second.Delete("a person"); err != nil {
		t.Fatal(err)
	}
	if got, _ := f.search(t, protocol.SearchTasksParams{Text: "No rows"}); got != nil {
		t.Errorf("in a deleted task: %v", got)
	}
	for _, wrong := range []protocol.SearchTasksParams{{Text: " a "}, {Text: strings.Repeat("a", 201)}, {Text: "ab", Limit: -1}} {
		_, err := f.registry.Search(t.Context(), &wrong)
		wantCode(t, "Search", err, protocol.CodeInvalidParams)
	}
}

// A search reads page by page, so it finds a message behind many others.
func TestAMessageIsFoundBehindManyOthers(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	f.task.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: "needle"})
	for range 1200 {
		f.task.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: "hay"})
	}
	if got, more := f.search(t, protocol.SearchTasksParams{Text: "needle"}); !cmp.Equal(got, []string{"a task/1 [needle]"}) || more {
		t.Error(got, more)
	}
}
