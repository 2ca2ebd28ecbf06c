package workspace

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
)

func TestAPersonWithoutAFrontEndIsSummoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		p := &Person{Notify: func(text string) error {
			said = append(said, text)
			return nil
		}}
		w := &Workspace{frontEnds: frontEnds{attached: newAttached(zerolog.Nop())}}
		p.enter(w)
		want := func(when string, texts ...string) {
			t.Helper()
			p.notify(`Claude Code in "x$(y)"`, zerolog.Nop())
			synctest.Wait()
			if !slices.Equal(said, texts) {
				t.Errorf("%s: the person was told %q, want %q", when, said, texts)
			}
			said = nil
		}
		time.Sleep(time.Hour)
		text := "Claude Code in ?x??y?? waits for your answer. Run assent open to see the question."
		want("nobody is there", text)
		want("the next question")
		time.Sleep(time.Minute)
		want("a question a minute later", text)

		time.Sleep(time.Minute)
		f := &frontEnd{Workspace: w, capabilities: protocol.FrontEndCapabilities{Elicitation: true}}
		w.attached.add(f)
		want("a window is open")
		w.attached.remove(f)
		want("it was closed", text)
		w.attached.close()
	})
}
