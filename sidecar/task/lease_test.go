package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/store"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// window is a registry among others on one store.
type window struct {
	*task.Registry
	events *tasktest.Events
	store  *store.Store // once it was opened
	// lost and claimed are told of as the registry tells of them.
	lost    chan string
	claimed chan *task.Task
}

func openWindow(t *testing.T, dir, name, workspace string) *window {
	t.Helper()
	w := &window{events: &tasktest.Events{}, lost: make(chan string, 100), claimed: make(chan *task.Task, 100)}
	w.Registry = task.NewRegistry(task.Options{
		OpenStore: func() (_ *store.Store, err error) {
			w.store, err = store.Open(dir)
			return w.store, err
		},
		Events: w.events,
		Check: func(protocol.UseMcpServer) task.Check {
			return func(p *protocol.AskResponseParams) (*task.Answer, error) {
				return &task.Answer{Response: p.AskResponse, Content: p.ElicitationContent}, nil
			}
		},
		Window:  func() store.Window { return store.Window{Name: name, Workspace: workspace} },
		Claimed: func(t *task.Task) { w.claimed <- t },
		Lost:    func(id string) { w.lost <- id },
		Log:     zerolog.New(zerolog.NewTestWriter(t)),
	})
	t.Cleanup(func() { _ = w.Close() })
	if _, err := w.List(); err != nil {
		t.Fatal(err)
	}
	return w
}

// follows has the window look at the store all the time until the test ends.
func (w *window) follows(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { w.Follow(ctx, 5*time.Millisecond) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// kill is as a SIGKILL: nothing is kept from here on, and nobody takes the window for alive.
func (w *window) kill(t *testing.T) {
	t.Helper()
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
}

// followed waits until the window says that a task is as match wants it.
func (w *window) followed(t *testing.T, match func(protocol.Task) bool) protocol.Task {
	t.Helper()
	p := tasktest.Await(t, w.events, func(p protocol.TaskEventParams) bool {
		f, ok := p.Event.(protocol.TaskFollowed)
		return ok && match(f.Task)
	})
	return p.Event.(protocol.TaskFollowed).Task
}

func (w *window) read(t *testing.T, id string) *protocol.OpenTaskResult {
	t.Helper()
	tk, err := w.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := tk.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// withAsks starts a task with a call, an older-era ask of it, and one that outlives its sidecar, on which
// something was typed. What comes of the asks is sent.
func (w *window) withAsks(t *testing.T, ctx context.Context) (tk *task.Task, legacy, modern protocol.Ask, ended [2]<-chan asked) {
	t.Helper()
	info, err := w.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	if tk, err = w.Get(info.ID); err != nil {
		t.Fatal(err)
	}
	if _, err = tk.StartCall("s", tool("older")); err != nil {
		t.Fatal(err)
	}
	call, err := tk.StartCall("s", tool("modern"))
	if err != nil {
		t.Fatal(err)
	}
	if !tk.CallRound(call, &task.Round{Number: 1, Required: json.RawMessage(`{}`)}) {
		t.Fatal("the round was not kept")
	}
	f := &fixture{w.Registry, w.events, tk}
	ended[0] = f.ask(ctx, question(form))
	legacy, _ = tasktest.AwaitAsk(t, w.events)
	keyed := question(form)
	keyed.Key = task.RoundPrefix(call) + "1\x00day"
	ended[1] = f.ask(ctx, keyed)
	modern, _ = tasktest.AwaitAsk(t, w.events, legacy.AskID)
	for _, id := range []string{legacy.AskID, modern.AskID} {
		if err := tk.SaveDraft(t.Context(), id, json.RawMessage(`{"typed":"`+id+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	return tk, legacy, modern, ended
}

func wantElsewhere(t *testing.T, err error, window string) {
	t.Helper()
	var e *protocol.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeTaskElsewhere {
		t.Errorf("the error is %v, want that the task is elsewhere", err)
		return
	}
	if at, ok := e.Data.(protocol.Elsewhere); !ok || at.Window != window {
		t.Errorf("the task is said to be at %+v, want %q", e.Data, window)
	}
}

// asksOf returns how the asks of a task were settled, and what was typed into them, by ask.
func asksOf(opened *protocol.OpenTaskResult) (outcomes map[string]protocol.OutcomeReason, drafts map[string]string) {
	outcomes, drafts = map[string]protocol.OutcomeReason{}, map[string]string{}
	for _, m := range opened.Messages {
		if a, ok := m.Body.(protocol.Ask); ok {
			outcomes[a.AskID], drafts[a.AskID] = "", string(a.Draft)
			if a.Outcome != nil {
				outcomes[a.AskID] = a.Outcome.Reason
			}
		}
	}
	return outcomes, drafts
}

// A window that starts leaves alone what is open in another one, and can read all of it.
func TestAWindowStartsBesideAnother(t *testing.T) {
	dir := t.TempDir()
	one := openWindow(t, dir, "VS Code: web", "/web")
	tk, legacy, modern, ended := one.withAsks(t, t.Context())
	id := tk.Info().ID

	two := openWindow(t, dir, "VS Code: api", "/web")
	opened := two.read(t, id)
	outcomes, drafts := asksOf(opened)
	if diff := cmp.Diff(map[string]protocol.OutcomeReason{legacy.AskID: "", modern.AskID: ""}, outcomes); diff != "" {
		t.Errorf("how the asks were settled (-want +got):\n%s", diff)
	}
	if drafts[legacy.AskID] == "" || drafts[modern.AskID] == "" {
		t.Errorf("what was typed is not seen: %v", drafts)
	}
	want := tk.Info()
	want.Elsewhere = &protocol.Elsewhere{Window: "VS Code: web", Since: want.CreatedAt}
	if diff := cmp.Diff(want, opened.Task); diff != "" {
		t.Errorf("the task elsewhere (-want +got):\n%s", diff)
	}
	if opened.Task.OpenAsks != 2 {
		t.Errorf("%d asks are open elsewhere, want 2", opened.Task.OpenAsks)
	}
	mine, _, err := one.OpenAsks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range mine {
		mine[i].Elsewhere = true
	}
	for range 2 { // the second time without the store
		theirs, _, err := two.OpenAsks(t.Context())
		if diff := cmp.Diff(mine, theirs); diff != "" || err != nil || len(theirs) != 2 {
			t.Errorf("the inbox: %v (-want +got):\n%s", err, diff)
		}
	}
	if _, err := two.Own(t.Context(), id); err == nil {
		t.Error("the task was claimed from a living window")
	} else {
		wantElsewhere(t, err, "VS Code: web")
	}
	seen, err := two.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	yes := &protocol.AskResponseParams{AskID: modern.AskID, AskResponse: protocol.YesButtonClicked}
	for name, change := range map[string]func() error{
		"Answer":         func() error { _, err := seen.Answer(t.Context(), yes, ""); return err },
		"SaveDraft":      func() error { return seen.SaveDraft(t.Context(), modern.AskID, json.RawMessage(`{}`)) },
		"Extend":         func() error { _, err := seen.Extend(t.Context(), modern.AskID); return err },
		"Question":       func() error { _, _, err := seen.Question(t.Context(), modern.AskID); return err },
		"StopCompletion": func() error { _, err := seen.StopCompletion(t.Context(), modern.AskID, false, ""); return err },
		"Rename":         func() error { _, err := seen.Rename("Mine"); return err },
		"Close":          func() error { _, err := seen.Close(""); return err },
		"StartCall":      func() error { _, err := seen.StartCall("s", tool("t")); return err },
		"Ask":            func() error { _, err := seen.Ask(t.Context(), question(form)); return err },
	} {
		t.Run(name, func(t *testing.T) { wantElsewhere(t, change(), "VS Code: web") })
	}
	seen.Denied(protocol.Origin{}, "", protocol.Outcome{}, 1) // these say nothing and change nothing
	seen.EndCall(1, protocol.CallCancelled{})
	seen.Completed(3)
	for _, ask := range []protocol.Ask{legacy, modern} {
		yes.AskID = ask.AskID
		if _, err := tk.Answer(t.Context(), yes, "one"); err != nil {
			t.Errorf("the window that has the task: %v", err)
		}
	}
	for _, done := range ended {
		if got := <-done; got.err != nil {
			t.Errorf("Ask = %v", got.err)
		}
	}
}

// A list has everything that another window acknowledged before the call, however long ago the last look was. These windows
// do not look by themselves.
func TestAListHasWhatAnotherWindowWroteBefore(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "/a"), openWindow(t, dir, "two", "/b")
	tk, legacy, modern, ended := one.withAsks(t, t.Context())
	open := func(want int) {
		t.Helper()
		asks, _, err := two.OpenAsks(t.Context())
		if err != nil || len(asks) != want {
			t.Errorf("the other window lists %d asks (%v), want %d", len(asks), err, want)
		}
		tasks, err := two.List()
		if err != nil || len(tasks) != 1 || tasks[0].OpenAsks != want {
			t.Errorf("the other window lists the tasks %+v (%v), want one with %d asks", tasks, err, want)
		}
	}
	open(2)
	for i, ask := range []protocol.Ask{legacy, modern} {
		if _, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, ""); err != nil {
			t.Fatal(err)
		}
		if got := <-ended[i]; got.err != nil {
			t.Error(got.err)
		}
		open(1 - i)
	}
	if _, err := one.Create("another"); err != nil {
		t.Fatal(err)
	}
	if tasks, err := two.List(); err != nil || len(tasks) != 2 {
		t.Errorf("the other window lists the tasks %+v (%v), want two", tasks, err)
	}
}

// Who takes a task over goes on with what can outlive a window. Who loses it is told, tells its older-era
// askers, and writes nothing more.
func TestATaskIsTakenOver(t *testing.T) {
	notices := map[string]func(t *testing.T, one *window, tk *task.Task, ask protocol.Ask){
		"at a look": func(t *testing.T, one *window, _ *task.Task, _ protocol.Ask) { one.follows(t) },
		"at an answer": func(t *testing.T, _ *window, tk *task.Task, ask protocol.Ask) {
			_, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "")
			wantElsewhere(t, err, "two")
		},
		"at a new ask": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			_, err := tk.Ask(t.Context(), question(form))
			var e *task.Ended
			if !errors.As(err, &e) || e.Reason != protocol.OutcomeTakenOver {
				t.Errorf("Ask = %v", err)
			}
		},
		"at a new ask that goes on": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			for range 2 { // the second time it knows before it asks
				ctx, cancel := context.WithCancel(t.Context())
				q := question(form)
				q.Key = task.RoundPrefix(2) + "1\x00seat"
				done := (&fixture{task: tk}).ask(ctx, q)
				cancel()
				var e *task.Ended
				if got := <-done; !errors.As(got.err, &e) || e.Reason != protocol.OutcomeRestarted {
					t.Errorf("Ask = %v", got.err)
				}
			}
		},
		"at an ask that a grant answers": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			q := question(form)
			q.Granted = &task.Granted{Answer: &task.Answer{Response: protocol.YesButtonClicked}, Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted}}
			if answer, err := tk.Ask(t.Context(), q); err == nil {
				t.Errorf("Ask = %+v", answer)
			}
		},
		"at a draft": func(t *testing.T, _ *window, tk *task.Task, ask protocol.Ask) {
			wantElsewhere(t, tk.SaveDraft(t.Context(), ask.AskID, json.RawMessage(`{"typed":"late"}`)), "two")
		},
		"at a call": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			_, err := tk.StartCall("s", tool("new"))
			wantElsewhere(t, err, "two")
		},
		"at answers that are on their way": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			if tk.CallRound(2, nil) {
				t.Error("the answers may be sent")
			}
		},
		"at its closing": func(t *testing.T, _ *window, tk *task.Task, _ protocol.Ask) {
			_, err := tk.Close("")
			wantElsewhere(t, err, "two")
		},
	}
	for name, notice := range notices {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one := openWindow(t, dir, "one", "/a")
			ctx, end := context.WithCancelCause(t.Context())
			tk, legacy, modern, ended := one.withAsks(t, ctx)
			id := tk.Info().ID
			two := openWindow(t, dir, "two", "/b")
			taken, err := two.TakeOver(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if unfinished := (<-two.claimed).Unfinished(); len(unfinished) != 1 || unfinished[0].Round == nil {
				t.Errorf("calls that go on: %+v", unfinished)
			}
			if info := taken.Info(); info.Elsewhere != nil || info.OpenAsks != 1 {
				t.Errorf("taken over: %+v", info)
			}
			want := two.read(t, id)
			outcomes, drafts := asksOf(want)
			if diff := cmp.Diff(map[string]protocol.OutcomeReason{legacy.AskID: protocol.OutcomeTakenOver, modern.AskID: ""}, outcomes); diff != "" {
				t.Errorf("how the asks were settled (-want +got):\n%s", diff)
			}
			wantDrafts := map[string]string{legacy.AskID: `{"typed":"` + legacy.AskID + `"}`, modern.AskID: `{"typed":"` + modern.AskID + `"}`}
			if diff := cmp.Diff(wantDrafts, drafts); diff != "" {
				t.Errorf("drafts (-want +got):\n%s", diff)
			}
			if call := want.Messages[0].Body.(protocol.Call); call.Result == nil {
				t.Error("the older call goes on")
			} else if lost, ok := call.Result.(protocol.CallLost); !ok || lost.Reason != "The task was taken over in another window. Start it again." {
				t.Errorf("the older call ended as %+v", call.Result)
			}

			notice(t, one, tk, modern)
			got := <-ended[0]
			var why *task.Ended
			if !errors.As(got.err, &why) || why.Reason != protocol.OutcomeTakenOver {
				t.Errorf("the older-era asker was told %v", got.err)
			}
			if lost := <-one.lost; lost != id {
				t.Errorf("lost %q", lost)
			}
			select {
			case got := <-ended[1]:
				t.Errorf("the asker whose question goes on was told %+v, %v", got.answer, got.err)
			default:
			}
			end(&task.Ended{Reason: protocol.OutcomeServerLost})
			if got := <-ended[1]; !errors.As(got.err, &why) || why.Reason != protocol.OutcomeRestarted {
				t.Errorf("at its end it was told %+v, %v", got.answer, got.err)
			}
			seen := one.followed(t, func(p protocol.Task) bool { return p.Elsewhere != nil })
			if seen.Elsewhere.Window != "two" || seen.OpenAsks != 1 {
				t.Errorf("the window that lost the task says %+v", seen)
			}
			if diff := cmp.Diff(want, two.read(t, id)); diff != "" {
				t.Errorf("the window that lost the task changed it (-want +got):\n%s", diff)
			}
			there := one.read(t, id)
			there.Task.Elsewhere = nil
			if diff := cmp.Diff(want, there); diff != "" {
				t.Errorf("the window that lost the task sees (-want +got):\n%s", diff)
			}
			if _, err := taken.Answer(t.Context(), &protocol.AskResponseParams{AskID: modern.AskID, AskResponse: protocol.YesButtonClicked}, "two"); err != nil {
				t.Errorf("an answer where the task is: %v", err)
			}
			// And back again.
			back, err := one.TakeOver(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if info := back.Info(); info.Elsewhere != nil || info.OpenAsks != 0 {
				t.Errorf("taken back: %+v", info)
			}
			wantElsewhere(t, func() error { _, err := taken.Rename("x"); return err }(), "one")
		})
	}
}

// What another window does is told here at the next look: also what leaves no gap in the numbers.
func TestAWindowFollowsAnother(t *testing.T) {
	dir := t.TempDir()
	one := openWindow(t, dir, "one", "/a")
	two := openWindow(t, dir, "two", "/b")
	two.follows(t)
	info, err := one.Create("new")
	if err != nil {
		t.Fatal(err)
	}
	got := two.followed(t, func(p protocol.Task) bool { return p.ID == info.ID })
	if got.LastNumber != 1 || got.Title != "new" || got.Elsewhere != nil {
		t.Errorf("the new task, in which nothing goes on, is %+v", got)
	}
	tk, err := one.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tk.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	two.followed(t, func(p protocol.Task) bool {
		return p.LastNumber == 2 && p.Elsewhere != nil && p.Elsewhere.Window == "one"
	})
	if n := len(two.read(t, info.ID).Messages); n != 1 {
		t.Errorf("%d messages can be read, want the call", n)
	}
	done := (&fixture{one.Registry, one.events, tk}).ask(t.Context(), question(form))
	two.followed(t, func(p protocol.Task) bool { return p.OpenAsks == 1 })
	ask, _ := tasktest.AwaitAsk(t, one.events)
	if _, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, ""); err != nil {
		t.Fatal(err)
	}
	<-done
	two.followed(t, func(p protocol.Task) bool { return p.OpenAsks == 0 && p.LastNumber == 4 })
	tk.EndCall(1, protocol.CallCancelled{})
	two.followed(t, func(p protocol.Task) bool { return p.LastNumber == 5 && p.Elsewhere == nil })
	if _, err := tk.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	two.followed(t, func(p protocol.Task) bool { return p.LastNumber == 6 && p.Elsewhere != nil })
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	two.followed(t, func(p protocol.Task) bool { return p.LastNumber == 6 && p.Elsewhere != nil && p.Elsewhere.Gone })
	if _, err := two.Own(t.Context(), info.ID); err != nil {
		t.Errorf("a task that was released: %v", err)
	}
}

// A window that is killed writes nothing of it; its tasks wait for it to come back, or for a person.
func TestAWindowThatIsGone(t *testing.T) {
	dir := t.TempDir()
	one := openWindow(t, dir, "one", "/a")
	tk, legacy, modern, ended := one.withAsks(t, t.Context())
	id := tk.Info().ID
	two := openWindow(t, dir, "two", "/b")
	two.follows(t)
	two.read(t, id)
	one.kill(t)
	gone := two.followed(t, func(p protocol.Task) bool { return p.Elsewhere != nil && p.Elsewhere.Gone })
	if gone.OpenAsks != 2 || gone.Elsewhere.Window != "one" {
		t.Errorf("the task is %+v", gone)
	}
	// Somebody else's folder has other servers: its window does not go on by itself.
	if info := openWindow(t, dir, "three", "/c").read(t, id).Task; info.Elsewhere == nil || !info.Elsewhere.Gone {
		t.Errorf("a window of another workspace has claimed the task: %+v", info)
	}
	// The window comes back, and takes up what it left.
	again := openWindow(t, dir, "one", "/a")
	outcomes, _ := asksOf(again.read(t, id))
	if diff := cmp.Diff(map[string]protocol.OutcomeReason{legacy.AskID: protocol.OutcomeRestarted, modern.AskID: ""}, outcomes); diff != "" {
		t.Errorf("how the asks were settled (-want +got):\n%s", diff)
	}
	back := two.followed(t, func(p protocol.Task) bool { return p.Elsewhere != nil && !p.Elsewhere.Gone && p.OpenAsks == 1 })
	if back.LastNumber <= gone.LastNumber {
		t.Errorf("the task is %+v", back)
	}
	again.kill(t)
	two.followed(t, func(p protocol.Task) bool {
		return p.Elsewhere != nil && p.Elsewhere.Gone && p.LastNumber >= back.LastNumber
	})
	// An answer takes up what nobody has.
	own, err := two.OwnToAnswer(t.Context(), id, modern.AskID)
	if err != nil {
		t.Fatal(err)
	}
	if n := len((<-two.claimed).Unfinished()); n != 1 {
		t.Errorf("%d calls go on, want 1", n)
	}
	if _, err := own.Answer(t.Context(), &protocol.AskResponseParams{AskID: modern.AskID, AskResponse: protocol.YesButtonClicked}, ""); err != nil {
		t.Error(err)
	}
	_ = ended // their sidecar is dead
}

// Windows that race for a task end with one owner, who can go on, and with others who know it.
func TestRacingWindowsEndWithOneOwner(t *testing.T) {
	dir := t.TempDir()
	const windows, rounds = 8, 10
	var all [windows]*window
	for i := range all {
		all[i] = openWindow(t, dir, fmt.Sprint(i), "/a")
		all[i].follows(t)
	}
	info, err := all[0].Create("raced for")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := all[0].Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	call, err := tk.StartCall("s", tool("goes on wherever the task is"))
	if err != nil {
		t.Fatal(err)
	}
	tk.CallRound(call, &task.Round{Required: json.RawMessage(`{}`)})
	for round := range rounds {
		var wg sync.WaitGroup
		for _, w := range all {
			wg.Go(func() {
				tk, err := w.TakeOver(t.Context(), info.ID)
				if err == nil {
					_, err = tk.Rename(fmt.Sprint("round ", round))
				}
				if err != nil && codeOf(err) != protocol.CodeTaskElsewhere {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		owners := 0
		for i, w := range all {
			tk, err := w.Own(t.Context(), info.ID)
			if err == nil {
				_, err = tk.Rename(fmt.Sprint("owner ", i))
			}
			if err == nil {
				owners++
			} else if codeOf(err) != protocol.CodeTaskElsewhere {
				t.Error(err)
			}
		}
		if owners != 1 {
			t.Fatalf("round %d: %d windows have the task", round, owners)
		}
	}
	for _, w := range all {
		for len(w.lost) > 0 {
			<-w.lost
		}
	}
}

// A task in which nothing goes on is whose turn it is, though another window that lives has it. Where that one
// begins something in the same moment, one of them can, and the other is told so.
func TestATaskInWhichNothingGoesOnIsForWhoeverBegins(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "/a"), openWindow(t, dir, "two", "/b")
	began := [2]int{}
	for range 100 {
		info, err := one.Create("idle")
		if err != nil {
			t.Fatal(err)
		}
		if got := two.read(t, info.ID).Task; got.Elsewhere != nil {
			t.Fatalf("a task in which nothing goes on is said to be at %+v", got.Elsewhere)
		}
		var ids [2]int64
		var errs [2]error
		var wg sync.WaitGroup
		for i, w := range []*window{one, two} {
			wg.Go(func() {
				tk, err := w.Own(t.Context(), info.ID)
				if err == nil {
					ids[i], err = tk.StartCall("s", tool("t"))
				}
				errs[i] = err
			})
		}
		wg.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil || codeOf(errs[1-winner]) != protocol.CodeTaskElsewhere {
			t.Fatalf("one: %v, two: %v", errs[0], errs[1])
		}
		began[winner]++
		for _, w := range []*window{one, two} {
			if messages := w.read(t, info.ID).Messages; len(messages) != 1 || messages[0].ID != ids[winner] {
				t.Fatalf("%d messages, want the call of %d", len(messages), winner)
			}
		}
	}
	t.Logf("begun in one %d times, in two %d times", began[0], began[1])
	for _, w := range []*window{one, two} {
		for len(w.lost) > 0 {
			<-w.lost
		}
		for len(w.claimed) > 0 {
			<-w.claimed
		}
	}
}

// What an answer brings with it is taken back where another window has taken the task in this moment.
func TestWhatComesWithARefusedAnswerIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "/a"), openWindow(t, dir, "two", "/b")
	info, err := one.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := one.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	inForce := false
	q := question(form)
	q.Check = func(p *protocol.AskResponseParams) (*task.Answer, error) {
		return &task.Answer{Response: p.AskResponse, Take: func(string) (func() error, error) {
			inForce = true
			_, err := two.TakeOver(context.Background(), info.ID)
			return func() error { inForce = false; return nil }, err
		}}, nil
	}
	done := (&fixture{one.Registry, one.events, tk}).ask(t.Context(), q)
	ask, _ := tasktest.AwaitAsk(t, one.events)
	_, err = tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "one")
	if codeOf(err) != protocol.CodeTaskElsewhere {
		t.Errorf("Answer = %v", err)
	}
	if inForce {
		t.Error("what came with the answer is still in force")
	}
	if got := <-done; got.err == nil {
		t.Errorf("the asker was told %+v", got.answer)
	}
}

// BenchmarkOpen opens a store of ten thousand tasks, of which a dead sidecar left a hundred with open asks.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		info := protocol.Task{ID: fmt.Sprintf("t%05d", i), CreatedAt: int64(i), Title: "a task"}
		for id := range int64(3) {
			e := store.Entry{Message: protocol.Message{ID: id + 1, Body: protocol.Notice{Level: protocol.NoticeInfo, Text: "text"}}, Number: id + 1}
			if i%100 == 0 && id == 2 {
				ask := protocol.Ask{AskID: info.ID, Ask: protocol.AskUseMcpServer, Question: form}
				e.Message.Body, e.Live, e.AskID = ask, true, info.ID
			}
			if err := s.Save(b.Context(), info, &e); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := task.NewRegistry(task.Options{
			OpenStore: func() (*store.Store, error) { return store.Open(dir) },
			Events:    &tasktest.Events{}, Log: zerolog.Nop(),
		})
		tasks, err := r.List()
		if err != nil || len(tasks) != 10_000 {
			b.Fatal(len(tasks), err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Nobody is told that something was taken which another window's taking over kept from the disk.
func TestWhatIsChangedAsATaskIsTakenOverIsRefused(t *testing.T) {
	for name, change := range map[string]func(*task.Task) error{
		"Say":       func(tk *task.Task) error { _, err := tk.Say(protocol.UserMessage{Text: "x"}); return err },
		"Enqueue":   func(tk *task.Task) error { _, err := tk.Enqueue(protocol.UserMessage{Text: "x"}); return err },
		"BeginTurn": (*task.Task).BeginTurn,
		"Configure": func(tk *task.Task) error { _, err := tk.Configure(protocol.TaskSettings{}); return err },
		"BeginModelMessage": func(tk *task.Task) error {
			_, err := tk.BeginModelMessage(protocol.ModelMessage{})
			return err
		},
		"StartToolUse": func(tk *task.Task) error {
			_, err := tk.StartToolUse("s", tool("t"), protocol.ToolUseRef{})
			return err
		},
		"StartCall": func(tk *task.Task) error { _, err := tk.StartCall("s", tool("t")); return err },
		"Rename":    func(tk *task.Task) error { _, err := tk.Rename("x"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one, two := openWindow(t, dir, "one", "/web"), openWindow(t, dir, "two", "/web")
			info, err := one.Create("a task")
			if err != nil {
				t.Fatal(err)
			}
			tk, err := one.Own(t.Context(), info.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := two.TakeOver(t.Context(), info.ID); err != nil {
				t.Fatal(err)
			}
			wantCode(t, name, change(tk), protocol.CodeTaskElsewhere)
		})
	}
}

// Who waits for the end of what goes on in a task does not wait for what another window goes on with.
func TestNobodyWaitsForQuietInATaskThatWasTakenOver(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "/web"), openWindow(t, dir, "two", "/web")
	tk, _, _, _ := one.withAsks(t, t.Context())
	quiet := make(chan error)
	go func() { quiet <- tk.AwaitQuiet(t.Context()) }()
	if _, err := two.TakeOver(t.Context(), tk.Info().ID); err != nil {
		t.Fatal(err)
	}
	one.follows(t)
	if err := <-quiet; err != nil {
		t.Error(err)
	}
}
