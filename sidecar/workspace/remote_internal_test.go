package workspace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// A workspace that does not answer before the limit takes no answer from those that were opened after it. Its own answer,
// at the very moment of the limit, is either in the list, or the front ends are told to ask again.
func TestAnAnswerOfAnotherWorkspaceIsNotLost(t *testing.T) {
	for range 100 { // the answer and the limit come at the same instant, in any order
		synctest.Test(t, func(t *testing.T) {
			p := &Person{}
			open := func() *Workspace {
				w := &Workspace{frontEnds: frontEnds{attached: newAttached(zerolog.Nop())}}
				w.person, w.background = p, &background{ctx: t.Context()}
				p.enter(w)
				return w
			}
			here, late, quick := open(), open(), open()
			f := &frontEnd{Workspace: here}
			answers, silent := askOthers(t.Context(), f, "ask/list", func(w *Workspace, _ context.Context) (int, error) {
				if w == late {
					time.Sleep(DefaultTimeout)
				}
				return 1, nil
			})
			synctest.Wait()
			p.mu.Lock()
			again := int(late.counted.changes)
			p.mu.Unlock()
			if len(answers) == 0 || answers[len(answers)-1].of != quick {
				t.Fatalf("the workspace that answered at once is not in %v", answers)
			}
			if inList := len(answers) - 1; inList+again != 1 || again != len(silent) {
				t.Fatalf("answers in time: %d, asked again: %d, silent: %d", inList, again, len(silent))
			}
			p.Close()
		})
	}
}
