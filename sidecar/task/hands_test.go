package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

var seed = flag.Uint64("seed", 0, "what TestManyHands does follows from it; 0 is another each time")

// TestManyHands runs in many goroutines the operations that TestModel runs one after the other. No model
// predicts the result, but these rules hold for every order: each request gets one answer, the acknowledged
// one; events are in order; and a front end that folds them has the same state as one that reads the task.
//
// The seed determines the operations of each goroutine, but not the order between goroutines.
func TestManyHands(t *testing.T) {
	const goroutines, operations = 8, 60
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	h := &hands{
		link:  &link{views: map[string]*view{}, newest: map[string]*protocol.TaskEventParams{}, settled: map[string]int{}},
		acked: map[string]string{}, got: map[string][]asked{},
	}
	dir := t.TempDir()
	h.registry = task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return store.Open(dir) }, Events: h.link, Log: zerolog.Nop(),
	})
	for range 3 {
		h.create(t)
	}
	logs := make([][]string, goroutines)
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(from, uint64(i)))
			for n := range operations {
				logs[i] = append(logs[i], h.do(t, random, fmt.Sprintf("question %d of %d", n, i)))
			}
		})
	}
	wg.Wait()
	for _, tk := range h.tasks {
		tk.Close("the test")
	}
	h.asking.Wait()
	h.check(t)
	if err := h.registry.Close(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		for i, log := range logs {
			t.Logf("goroutine %d: %s", i, strings.Join(log, "; "))
		}
		t.Logf("-seed=%d does the same again", from)
	}
}

// hands is the state shared by the goroutines.
type hands struct {
	registry *task.Registry
	link     *link
	asking   sync.WaitGroup // the askers

	mu    sync.Mutex // guards the fields below
	tasks []*task.Task
	acked map[string]string  // the contents that were acknowledged, by question
	got   map[string][]asked // what Ask returned, by question
}

func (h *hands) create(t *testing.T) {
	info, err := h.registry.Create("a task")
	if err != nil {
		t.Error(err)
		return
	}
	tk, err := h.registry.Get(info.ID)
	if err != nil {
		t.Error(err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks = append(h.tasks, tk)
}

// any returns a task.
func (h *hands) any(random *rand.Rand) *task.Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tasks[random.IntN(len(h.tasks))]
}

// anyOpen returns an ask that was open a moment ago, and its task; nil if there was none.
func (h *hands) anyOpen(t *testing.T, random *rand.Rand) (*task.Task, protocol.OpenAsk) {
	asks, _, err := h.registry.OpenAsks()
	if err != nil {
		t.Error(err)
	}
	if len(asks) == 0 {
		return nil, protocol.OpenAsk{}
	}
	ask := asks[random.IntN(len(asks))]
	tk, err := h.registry.Get(ask.TaskID)
	if err != nil {
		t.Error(err)
	}
	return tk, ask
}

// do runs one of the operations, and returns its name.
func (h *hands) do(t *testing.T, random *rand.Rand, text string) string {
	switch n := random.IntN(20); {
	case n < 8:
		h.ask(random, h.any(random), text)
		return "ask " + text
	case n < 14:
		tk, ask := h.anyOpen(t, random)
		if tk == nil {
			return "answer nothing"
		}
		return "answer " + ask.Text + ": " + h.answer(t, tk, ask, text)
	case n == 14:
		if tk, ask := h.anyOpen(t, random); tk != nil {
			_, err := tk.Extend(context.Background(), ask.AskID)
			allow(t, err, protocol.CodeAskSettled, protocol.CodeInvalidParams)
		}
		return "extend"
	case n == 15:
		if tk, ask := h.anyOpen(t, random); tk != nil {
			allow(t, tk.SaveDraft(context.Background(), ask.AskID, json.RawMessage(`{"a":1}`)))
		}
		return "draft"
	case n == 16:
		h.registry.DeclineAll("two", "a person")
		return "decline all of two"
	case n == 17:
		id, err := h.any(random).StartCall("one", tool("tool"))
		allow(t, err, protocol.CodeTaskClosed)
		return fmt.Sprint("start call ", id)
	case n == 18 && random.IntN(4) == 0:
		h.create(t) // first, so that there is always a task
		h.any(random).Close("a person")
		return "close a task"
	default:
		_, err := h.any(random).Open(context.Background(), 0, 0, 0)
		allow(t, err)
		return "read"
	}
}

// ask sends a server's request, which may be cancelled or time out.
func (h *hands) ask(random *rand.Rand, tk *task.Task, text string) {
	server := servers[random.IntN(len(servers))]
	q := question(protocol.McpElicitation{
		Origin: protocol.Origin{ServerName: server}, ElicitationRequest: protocol.McpElicitationRequest{Message: text},
	})
	waitLimit := time.Duration(random.IntN(20)) * time.Millisecond
	ends := random.IntN(3)
	if ends == 1 {
		q.Timeout = waitLimit + time.Millisecond
	}
	h.asking.Go(func() {
		ctx := context.Background()
		if ends == 2 {
			with, cancel := context.WithTimeoutCause(ctx, waitLimit, io.ErrUnexpectedEOF)
			defer cancel()
			ctx = with
		}
		answer, err := tk.Ask(ctx, &q)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got[text] = append(h.got[text], asked{answer, err})
	})
}

func (h *hands) answer(t *testing.T, tk *task.Task, ask protocol.OpenAsk, text string) string {
	content := `{"a":"` + text + `"}`
	result, err := tk.Answer(context.Background(), &protocol.AskResponseParams{
		AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(content),
	}, "a person")
	allow(t, err, protocol.CodeAskSettled)
	if err != nil {
		return "too late"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.acked[ask.Text]; before != "" || result.Outcome.Reason != protocol.OutcomeAnswered {
		t.Errorf("%s: %s was acknowledged with %+v, after %s", ask.Text, content, result.Outcome, before)
	}
	h.acked[ask.Text] = content
	return "taken"
}

// allow fails the test for errors other than these codes.
func allow(t *testing.T, err error, codes ...protocol.ErrorCode) {
	for _, code := range codes {
		if codeOf(err) == code {
			return
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// check runs after all goroutines have ended.
func (h *hands) check(t *testing.T) {
	for text, got := range h.got {
		if len(got) != 1 {
			t.Errorf("%s was answered %d times", text, len(got))
		}
		answer, err := got[0].answer, got[0].err
		acked := h.acked[text]
		var ended *task.Ended
		switch {
		case err != nil && codeOf(err) != protocol.CodeTaskClosed && !errors.As(err, &ended):
			t.Errorf("%s: %v", text, err)
		case err == nil && answer.Response == protocol.YesButtonClicked && string(answer.Content) != acked:
			t.Errorf("%s: the server got %s, acknowledged was %s", text, answer.Content, acked)
		case acked != "" && (err != nil || answer.Response != protocol.YesButtonClicked):
			t.Errorf("%s: %s was acknowledged, and the server got %+v, %v", text, acked, answer, err)
		}
	}
	for _, tk := range h.tasks {
		opened, err := tk.Open(t.Context(), 0, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range opened.Messages {
			if ask, ok := m.Body.(protocol.Ask); ok && ask.Outcome == nil {
				t.Errorf("ask %s of a closed task is open", ask.AskID)
			}
		}
		v := h.link.views[opened.Task.ID]
		if diff := cmp.Diff(opened.Task, v.task); diff != "" || opened.Task.OpenAsks != 0 {
			t.Errorf("the task %+v, and the front end's (-want +got):\n%s", opened.Task, diff)
		}
		if diff := cmp.Diff(lines(opened.Messages), lines(v.messages)); diff != "" {
			t.Errorf("what the front end folded (-want +got):\n%s", diff)
		}
	}
	for _, wrong := range h.link.wrong {
		t.Error(wrong)
	}
}
