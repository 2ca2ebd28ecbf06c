package hosts

import (
	"slices"
	"testing"

	"assent/protocol"
)

// notifying records for which tasks it is to notify the person.
type notifying struct {
	Workspace
	titles []string
}

func (s *notifying) Notify(title string) { s.titles = append(s.titles, title) }

func TestOnlyAQuietHostsQuestionsNotifyNobody(t *testing.T) {
	quiet, loud := newConversation(true), newConversation(false)
	quiet.title, loud.title = "Quiet", "Loud"
	var workspace notifying
	h := &Hosts{opts: Options{Workspace: &workspace}, tasks: map[string]*conversation{"quiet": quiet, "loud": loud}}
	for _, id := range []string{"loud", "quiet"} {
		h.TaskEvent(&protocol.TaskEventParams{TaskID: id, Event: protocol.MessageAdded{
			Message: protocol.Message{ID: 1, Body: protocol.Ask{Question: protocol.McpElicitation{}}},
		}})
	}
	if want := []string{"Loud"}; !slices.Equal(workspace.titles, want) {
		t.Errorf("the person was notified of %q, want %q", workspace.titles, want)
	}
}
