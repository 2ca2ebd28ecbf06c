package hosts

import (
	"slices"
	"testing"

	"assent/protocol"
)

// summoning records for which tasks it is told to summon the person.
type summoning struct {
	Workspace
	titles []string
}

func (s *summoning) Summon(title string) { s.titles = append(s.titles, title) }

func TestOnlyAQuietHostsQuestionsSummonNobody(t *testing.T) {
	quiet, loud := newConversation(true), newConversation(false)
	quiet.title, loud.title = "Quiet", "Loud"
	var workspace summoning
	h := &Hosts{opts: Options{Workspace: &workspace}, tasks: map[string]*conversation{"quiet": quiet, "loud": loud}}
	for _, id := range []string{"loud", "quiet"} {
		h.TaskEvent(&protocol.TaskEventParams{TaskID: id, Event: protocol.MessageAdded{
			Message: protocol.Message{ID: 1, Body: protocol.Ask{Question: protocol.McpElicitation{}}},
		}})
	}
	if want := []string{"Loud"}; !slices.Equal(workspace.titles, want) {
		t.Errorf("the person was summoned for %q, want %q", workspace.titles, want)
	}
}
