package task_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// fixture is a registry with one task.
type fixture struct {
	registry *task.Registry
	events   *tasktest.Events
	task     *task.Task
}

func newFixture(t *testing.T, open func() (*store.Store, error), edit ...func(*task.Options)) *fixture {
	t.Helper()
	r, events := tasktest.Registry(t, open, edit...)
	info, err := r.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := r.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{r, events, tk}
}

func (f *fixture) close(t *testing.T) {
	t.Helper()
	if err := f.registry.Close(); err != nil {
		t.Error(err)
	}
}

var form = protocol.McpElicitation{
	Origin:             protocol.Origin{ServerName: "s"},
	ElicitationRequest: protocol.McpElicitationRequest{Message: "?"},
}

var sampling = protocol.McpSampling{
	Origin:          protocol.Origin{ServerName: "s"},
	SamplingRequest: protocol.McpSamplingRequest{MaxTokens: 1},
}

func tool(name string) protocol.CallRequest {
	return protocol.CallToolRequest{ToolName: name, Arguments: json.RawMessage("{}")}
}

// question accepts every answer as it is.
func question(body protocol.UseMcpServer) task.Question {
	return task.Question{Body: body, Check: func(p *protocol.AskResponseParams) (*task.Answer, error) {
		a := &task.Answer{Response: p.AskResponse, Content: p.ElicitationContent}
		if p.ModelID != "" {
			a.Model = &protocol.Model{ID: p.ModelID}
		}
		return a, nil
	}}
}

type asked struct {
	answer *task.Answer
	err    error
}

// ask asks in a goroutine, and returns the channel for the answer.
func (f *fixture) ask(ctx context.Context, q task.Question) <-chan asked {
	done := make(chan asked, 1)
	go func() {
		a, err := f.task.Ask(ctx, &q)
		done <- asked{a, err}
	}()
	return done
}

func (f *fixture) messages(t *testing.T) []protocol.Message {
	t.Helper()
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened.Messages
}

func outcomeOf(t *testing.T, m protocol.Message) protocol.Outcome {
	t.Helper()
	a, ok := m.Body.(protocol.Ask)
	if !ok || a.Outcome == nil {
		t.Fatalf("message %d is no settled ask: %+v", m.ID, m.Body)
	}
	return *a.Outcome
}

func codeOf(err error) protocol.ErrorCode {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestAnswersReachWhoAsked(t *testing.T) {
	tests := []struct {
		response protocol.AskResponse
		reason   protocol.OutcomeReason
		told     *protocol.McpElicitationResponse
	}{
		{
			protocol.YesButtonClicked, protocol.OutcomeAnswered,
			&protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: json.RawMessage(`{"a":1}`)},
		},
		{
			protocol.NoButtonClicked, protocol.OutcomeDeclined,
			&protocol.McpElicitationResponse{Action: protocol.ActionDecline},
		},
		{
			protocol.CancelButtonClicked, protocol.OutcomeDismissed,
			&protocol.McpElicitationResponse{Action: protocol.ActionCancel},
		},
	}
	for _, tt := range tests {
		t.Run(string(tt.response), func(t *testing.T) {
			f := newFixture(t, nil)
			defer f.close(t)
			done := f.ask(t.Context(), question(form))
			ask, _ := tasktest.AwaitAsk(t, f.events)
			params := &protocol.AskResponseParams{TaskID: "id-1", AskID: ask.AskID, AskResponse: tt.response}
			if tt.response == protocol.YesButtonClicked {
				params.ElicitationContent = json.RawMessage(`{"a":1}`)
			}
			result, err := f.task.Answer(t.Context(), params, "a test")
			if err != nil {
				t.Fatal(err)
			}
			if result.Outcome.Reason != tt.reason || result.Outcome.By != "a test" {
				t.Errorf("outcome = %+v, want %s by a test", result.Outcome, tt.reason)
			}
			got := <-done
			if got.err != nil || got.answer.Response != tt.response || string(got.answer.Content) != string(params.ElicitationContent) {
				t.Errorf("Ask = %+v, %v", got.answer, got.err)
			}
			kept := f.messages(t)[0].Body.(protocol.Ask)
			if diff := cmp.Diff(tt.told, kept.Question.(protocol.McpElicitation).ElicitationResponse); diff != "" {
				t.Errorf("what the server was told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAskIsSettledOnce(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	const racers = 16
	for round := range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := f.ask(ctx, question(form))
		var seen []string
		for i := range round {
			seen = append(seen, fmt.Sprintf("id-%d", i+2))
		}
		ask, _ := tasktest.AwaitAsk(t, f.events, seen...)

		var wg sync.WaitGroup
		won := make(chan string, racers)
		for i := range racers {
			by := fmt.Sprintf("racer %d", i)
			wg.Go(func() {
				_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, by)
				switch code := codeOf(err); {
				case err == nil:
					won <- by
				case code != protocol.CodeAskSettled:
					t.Errorf("a late answer got %v, want the code of a settled ask", err)
				}
			})
		}
		wg.Go(func() { cancel(&task.Ended{Reason: protocol.OutcomeServerLost}) })
		wg.Wait()
		close(won)
		var winners []string
		for w := range won {
			winners = append(winners, w)
		}
		got := <-done
		outcome := outcomeOf(t, f.messages(t)[round])
		switch {
		case len(winners) > 1:
			t.Fatalf("%v answered the same ask", winners)
		case len(winners) == 1 && (got.err != nil || outcome.By != winners[0]):
			t.Fatalf("%s won, Ask = %v, outcome = %+v", winners[0], got.err, outcome)
		case len(winners) == 0 && (got.err == nil || outcome.Reason != protocol.OutcomeServerLost):
			t.Fatalf("nobody won, Ask = %+v, outcome = %+v", got.answer, outcome)
		}
	}
	settled := map[int64]int{}
	for _, e := range f.events.All() {
		if p, ok := e.(protocol.TaskEventParams); ok {
			if s, ok := p.Event.(protocol.AskSettled); ok {
				settled[s.MessageID]++
			}
		}
	}
	for id, n := range settled {
		if n != 1 {
			t.Errorf("the ask of message %d was settled %d times", id, n)
		}
	}
}

func TestASecondAnswerSaysWhoWasFirst(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	done := f.ask(t.Context(), question(form))
	ask, _ := tasktest.AwaitAsk(t, f.events)
	params := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}
	if _, err := f.task.Answer(t.Context(), params, "the panel"); err != nil {
		t.Fatal(err)
	}
	<-done
	_, err := f.task.Answer(t.Context(), params, "the terminal")
	if codeOf(err) != protocol.CodeAskSettled || !strings.Contains(err.Error(), "declined") || !strings.Contains(err.Error(), "the panel") {
		t.Errorf("second answer = %v, want that it was declined by the panel", err)
	}
	params.AskID = "never"
	if _, err := f.task.Answer(t.Context(), params, ""); codeOf(err) != protocol.CodeUnknownAsk {
		t.Errorf("answer to an ask that never was = %v", err)
	}
}

func TestARefusedAnswerLeavesTheAskOpen(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	q := question(form)
	accept := q.Check
	q.Check = func(p *protocol.AskResponseParams) (*task.Answer, error) {
		if p.AskResponse == protocol.YesButtonClicked {
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "no")
		}
		return accept(p)
	}
	done := f.ask(t.Context(), q)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "")
	if codeOf(err) != protocol.CodeInvalidAnswer {
		t.Fatalf("Answer = %v", err)
	}
	if n := f.task.Info().OpenAsks; n != 1 {
		t.Fatalf("%d asks are open, want 1", n)
	}
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, ""); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.answer.Response != protocol.NoButtonClicked {
		t.Errorf("Ask = %+v, %v", got.answer, got.err)
	}
}

func TestAnEndedContextSaysWhy(t *testing.T) {
	tests := []struct {
		name  string
		cause error
		want  protocol.Outcome
	}{
		{
			"what the hub knows",
			&task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "It said so."},
			protocol.Outcome{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "It said so."},
		},
		{"cancelled", context.Canceled, protocol.Outcome{Reason: protocol.OutcomeServerStoppedWaiting}},
		{"anything else", errors.New("EOF"), protocol.Outcome{Reason: protocol.OutcomeServerLost, Detail: "EOF"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, nil)
				defer f.close(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				done := f.ask(ctx, question(form))
				synctest.Wait()
				time.Sleep(3 * time.Second) // of the bubble's clock: a person thinks
				cancel(tt.cause)
				var ended *task.Ended
				if got := <-done; !errors.As(got.err, &ended) || ended.Reason != tt.want.Reason {
					t.Fatalf("Ask = %+v, %v, want it ended by %s", got.answer, got.err, tt.want.Reason)
				}
				tt.want.At = time.Now().UnixMilli()
				if diff := cmp.Diff(tt.want, outcomeOf(t, f.messages(t)[0])); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestManyAsksAreOpenAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	var dones []<-chan asked
	var asks []string
	for range 5 {
		dones = append(dones, f.ask(t.Context(), question(form)))
		ask, _ := tasktest.AwaitAsk(t, f.events, asks...)
		asks = append(asks, ask.AskID)
	}
	if n := f.task.Info().OpenAsks; n != 5 {
		t.Fatalf("%d asks are open, want 5", n)
	}
	for _, i := range []int{3, 0, 4, 1, 2} {
		content := json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: asks[i], AskResponse: protocol.YesButtonClicked, ElicitationContent: content}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := <-dones[i]; string(got.answer.Content) != string(content) {
			t.Errorf("ask %d got %s", i, got.answer.Content)
		}
	}
}

func TestClosingATaskDismissesItsAsks(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	done := f.ask(t.Context(), question(form))
	tasktest.AwaitAsk(t, f.events)
	if info, err := f.task.Close("the panel"); err != nil || !info.Closed || info.OpenAsks != 0 {
		t.Errorf("Close = %+v, %v", info, err)
	}
	got := <-done
	var ended *task.Ended
	if !errors.As(got.err, &ended) || ended.Reason != protocol.OutcomeDismissed {
		t.Errorf("Ask = %+v, %v, want it dismissed", got.answer, got.err)
	}
	if o := outcomeOf(t, f.messages(t)[0]); o.Reason != protocol.OutcomeDismissed || o.By != "the panel" {
		t.Errorf("outcome = %+v", o)
	}
	number := f.task.Info().LastNumber
	if again, err := f.task.Close("the panel"); err != nil || again.LastNumber != number {
		t.Errorf("closing again was an event: %+v, %v", again, err)
	}
	if _, err := f.task.Ask(t.Context(), new(question(form))); codeOf(err) != protocol.CodeTaskClosed {
		t.Errorf("Ask in a closed task = %v", err)
	}
	if _, err := f.task.StartCall("s", tool("t")); codeOf(err) != protocol.CodeTaskClosed {
		t.Errorf("StartCall in a closed task = %v", err)
	}
}

func TestEventsAreNumberedWithoutGaps(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				id, err := f.task.StartCall("s", tool("t"))
				if err != nil {
					t.Error(err)
					return
				}
				f.task.EndCall(id, protocol.CallCancelled{})
				f.task.EndCall(id, protocol.CallLost{}) // only the first end counts
			}
		})
	}
	wg.Wait()
	want := int64(1)
	for _, e := range f.events.All() {
		if p := e.(protocol.TaskEventParams); p.Number != want {
			t.Fatalf("event %d has the number %d", want, p.Number)
		}
		want++
	}
	if want != 1+1+2*80 { // the task itself, then the begin and the end of each call
		t.Errorf("there were %d events", want-1)
	}
	for _, m := range f.messages(t) {
		if _, ok := m.Body.(protocol.Call).Result.(protocol.CallCancelled); !ok {
			t.Errorf("message %d ended as %+v", m.ID, m.Body)
		}
	}
}

func TestOpenReadsWhatChanged(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	for i := range 6 { // events 2 and 3, 4 and 5, ...
		id, err := f.task.StartCall("s", tool(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		f.task.EndCall(id, protocol.CallCancelled{})
	}
	running, err := f.task.StartCall("s", tool("running")) // event 14
	if err != nil {
		t.Fatal(err)
	}
	ids := func(ms []protocol.Message) []int64 {
		var out []int64
		for _, m := range ms {
			out = append(out, m.ID)
		}
		return out
	}
	tests := []struct {
		name           string
		after, before  int64
		limit          int
		want           []int64
		reset, earlier bool
	}{
		{name: "all", want: []int64{1, 2, 3, 4, 5, 6, 7}, reset: true},
		{name: "the newest", limit: 2, want: []int64{6, 7}, reset: true, earlier: true},
		{name: "a page before", before: 6, limit: 2, want: []int64{4, 5}, earlier: true},
		{name: "the first page", before: 2, limit: 2, want: []int64{1}},
		{name: "what changed", after: 11, want: []int64{6, 7}},
		{name: "nothing changed", after: 14},
		{name: "too far behind", after: 2, limit: 3, want: []int64{5, 6, 7}, reset: true, earlier: true},
		{name: "a number that is yet to come", after: 99, want: []int64{1, 2, 3, 4, 5, 6, 7}, reset: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.task.Open(t.Context(), tt.after, tt.before, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, ids(got.Messages)); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if got.Reset != tt.reset || got.Earlier != tt.earlier {
				t.Errorf("reset, earlier = %v, %v, want %v, %v", got.Reset, got.Earlier, tt.reset, tt.earlier)
			}
		})
	}
	if _, err := f.task.Open(t.Context(), -1, 0, 0); codeOf(err) != protocol.CodeInvalidParams {
		t.Errorf("Open after -1 = %v", err)
	}
	f.task.EndCall(running, protocol.CallCancelled{})
}

func TestACompletionIsAnnouncedOnceAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		done := f.ask(t.Context(), question(sampling))
		synctest.Wait()
		ask, m := tasktest.AwaitAsk(t, f.events)
		_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ModelID: "x:y"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.answer.MessageID != m.ID || got.answer.Model.ID != "x:y" {
			t.Fatalf("Ask = %+v", got.answer)
		}
		for i := range 100 { // a piece every millisecond
			f.task.Progress(m.ID, fmt.Sprint(i%10))
			time.Sleep(time.Millisecond)
		}
		// A front end that opens the task now gets the announced text, and the next piece
		// continues it.
		opened := f.messages(t)[0].Body.(protocol.Ask).Question.(protocol.McpSampling).Progress
		resumed, err := f.task.Open(t.Context(), f.task.Info().LastNumber, 0, 0)
		if err != nil || resumed.Reset || len(resumed.Messages) != 1 {
			t.Errorf("who missed a piece only reads %+v, %v", resumed, err)
		}
		f.task.EndSampling(m.ID, protocol.SamplingFailure{Reason: "enough"}, nil)
		f.task.EndSampling(m.ID, protocol.SamplingFailure{Reason: "only the first end counts"}, nil)
		f.task.Progress(m.ID, "too late")
		time.Sleep(time.Second)

		var text strings.Builder
		pieces := int64(0)
		for _, e := range f.events.All() {
			p, ok := e.(protocol.McpSamplingProgressParams)
			if !ok {
				continue
			}
			if p.Sequence != pieces {
				t.Errorf("piece %d has the number %d", pieces, p.Sequence)
			}
			if pieces < opened.Sequence {
				text.WriteString(p.Chunk)
			}
			pieces++
		}
		if text.String() != opened.Text {
			t.Errorf("the first %d pieces say %q, the opened task %q", opened.Sequence, text.String(), opened.Text)
		}
		// The first piece is announced at once; then there are six frames in 100 ms.
		if pieces != 7 {
			t.Errorf("100 pieces in 100 ms were announced in %d", pieces)
		}
		end := f.messages(t)[0].Body.(protocol.Ask).Question.(protocol.McpSampling)
		if diff := cmp.Diff(protocol.SamplingFailure{Reason: "enough"}, end.Result); diff != "" || end.Progress != nil {
			t.Errorf("the end (-want +got):\n%s", diff)
		}
	})
}

func TestTheReasonsAfterARestart(t *testing.T) {
	dir := t.TempDir()
	openDir := func() (*store.Store, error) { return store.Open(dir) }

	f := newFixture(t, openDir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.ask(ctx, question(form))
	tasktest.AwaitAsk(t, f.events)
	approved := f.ask(ctx, question(sampling))
	ask, _ := tasktest.AwaitAsk(t, f.events, "id-2")
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ModelID: "m"}, ""); err != nil {
		t.Fatal(err)
	}
	<-approved
	if _, err := f.task.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	last := f.task.Info().LastNumber
	f.close(t) // a killed process writes no more than this

	r, _ := tasktest.Registry(t, openDir)
	tk, err := r.Get("id-1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	opened, err := tk.Open(t.Context(), last, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Reset || len(opened.Messages) != 3 {
		t.Fatalf("after the restart %d messages changed, reset = %v; want 3, false", len(opened.Messages), opened.Reset)
	}
	if o := outcomeOf(t, opened.Messages[0]); o.Reason != protocol.OutcomeRestarted || !strings.Contains(o.Detail, "restarted") {
		t.Errorf("the form's outcome = %+v", o)
	}
	if _, ok := opened.Messages[1].Body.(protocol.Ask).Question.(protocol.McpSampling).Result.(protocol.SamplingFailure); !ok {
		t.Errorf("the approved sampling = %+v", opened.Messages[1].Body)
	}
	if _, ok := opened.Messages[2].Body.(protocol.Call).Result.(protocol.CallLost); !ok {
		t.Errorf("the call = %+v", opened.Messages[2].Body)
	}
	_, err = tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: "id-2", AskResponse: protocol.YesButtonClicked}, "")
	if codeOf(err) != protocol.CodeAskSettled || !strings.Contains(err.Error(), "restart") {
		t.Errorf("an answer after the restart = %v", err)
	}
	if info, err := r.Create(""); err != nil || info.LastNumber != 1 {
		t.Errorf("Create after the restart = %+v, %v", info, err)
	}
}

func TestWithoutAStoreTheSessionGoesOnInMemory(t *testing.T) {
	f := newFixture(t, func() (*store.Store, error) { return nil, errors.New("read-only file system") })
	defer f.close(t)
	failed := tasktest.Await(t, f.events, func(protocol.StorageFailedParams) bool { return true })
	if !strings.Contains(failed.Message, "read-only file system") {
		t.Errorf("StorageFailed = %q", failed.Message)
	}
	if _, err := f.task.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	if n := len(f.messages(t)); n != 1 {
		t.Errorf("the task has %d messages, want 1", n)
	}
}

func TestRefusedChangesStayInMemory(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	before, err := f.task.StartCall("s", tool("before"))
	if err != nil {
		t.Fatal(err)
	}
	refuseWrites(t, dir)
	f.task.EndCall(before, protocol.CallCancelled{})
	done := f.ask(t.Context(), question(form))
	ask, _ := tasktest.AwaitAsk(t, f.events)
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "me"); err != nil {
		t.Fatal(err)
	}
	<-done
	messages := f.messages(t)
	if len(messages) != 2 {
		t.Fatalf("the task has %d messages, want 2", len(messages))
	}
	if _, ok := messages[0].Body.(protocol.Call).Result.(protocol.CallCancelled); !ok {
		t.Errorf("the call = %+v", messages[0].Body)
	}
	if o := outcomeOf(t, messages[1]); o.Reason != protocol.OutcomeDeclined {
		t.Errorf("the ask = %+v", o)
	}
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID}, ""); codeOf(err) != protocol.CodeAskSettled {
		t.Errorf("a second answer = %v", err)
	}
	failures := 0
	for _, e := range f.events.All() {
		if _, ok := e.(protocol.StorageFailedParams); ok {
			failures++
		}
	}
	if failures != 1 {
		t.Errorf("the failure was announced %d times", failures)
	}
	f.close(t)
}

// notFull ends refuseWrites.
const notFull = `DROP TRIGGER full; DROP TRIGGER full_too`

// refuseWrites makes the store fail as a full disk does: it can still be read.
func refuseWrites(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const full = `
		CREATE TRIGGER full BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;
		CREATE TRIGGER full_too BEFORE INSERT ON heads BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`
	if _, err := db.Exec(full); err != nil {
		t.Fatal(err)
	}
}

func TestTasksHaveTitles(t *testing.T) {
	r, _ := tasktest.Registry(t, nil)
	defer r.Close()
	info, err := r.Create("")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := r.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tk.StartCall("s", tool("first_tool")); err != nil {
		t.Fatal(err)
	}
	if _, err := tk.StartCall("s", tool("second_tool")); err != nil {
		t.Fatal(err)
	}
	if got := tk.Info().Title; got != "first_tool" {
		t.Errorf("title = %q, want the first tool's name", got)
	}
	if info, err := tk.Rename("  Mine "); err != nil || info.Title != "Mine" {
		t.Errorf("Rename = %+v, %v", info, err)
	}
	if _, err := tk.Rename(" "); codeOf(err) != protocol.CodeInvalidParams {
		t.Errorf("Rename to nothing = %v", err)
	}
	if _, err := r.Get("never"); codeOf(err) != protocol.CodeUnknownTask {
		t.Errorf("Get of an unknown task = %v", err)
	}
}
