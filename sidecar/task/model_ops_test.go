package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
)

// The operations of a world. Each method draws its values from rt, runs the operation, and updates the model.
// It skips if the operation is impossible.

// These bound the sizes. Small numbers lead to more interaction.
const (
	mostTasks = 3
	mostCalls = 3 // in one task
)

var servers = []string{"one", "two"}

// CreateTask starts a task.
func (w *world) CreateTask(rt *rapid.T) {
	if len(w.tasks) == mostTasks {
		rt.SkipNow()
	}
	title := rapid.SampledFrom([]string{"", "a task"}).Draw(rt, "title")
	info, err := w.registry.Create(title)
	if err != nil {
		rt.Fatal(err)
	}
	w.tasks = append(w.tasks, &modelTask{id: info.ID, title: title})
}

// RenameTask changes a task's title.
func (w *world) RenameTask(rt *rapid.T) {
	t := w.anyTask(rt)
	title := rapid.SampledFrom([]string{"one title", "another"}).Draw(rt, "title")
	if _, err := w.get(t).Rename(title); err != nil {
		rt.Fatal(err)
	}
	t.title = title
}

// CloseTask closes a task, for the first time or again.
func (w *world) CloseTask(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
		rt.SkipNow() // no operation is possible after it
	}
	w.closeTask(w.anyTask(rt))
}

func (w *world) closeTask(t *modelTask) {
	w.get(t).Close("a person")
	t.closed = true
	for _, a := range t.asks {
		if a.open() {
			w.settled(a, protocol.OutcomeDismissed, nil)
		}
	}
}

// DeleteTask deletes a quiet task, and restores it.
func (w *world) DeleteTask(rt *rapid.T) {
	t := w.anyTask(rt)
	_, err := w.get(t).Delete("a person")
	if t.busy() {
		wantCode(rt, "Delete of a task in which something goes on", err, protocol.CodeTaskBusy)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	_, err = w.registry.Get(t.id)
	wantCode(rt, "Get of a deleted task", err, protocol.CodeUnknownTask)
	if _, err := w.registry.Restore(t.id, "a person"); err != nil {
		rt.Fatal(err)
	}
}

// busy reports whether a call, a question or a completion is under way.
func (t *modelTask) busy() bool {
	for _, c := range t.calls {
		if !c.ended {
			return true
		}
	}
	for _, a := range t.asks {
		if a.open() || a.held || a.model != noModel {
			return true
		}
	}
	return false
}

// StartCall starts a call for a person.
func (w *world) StartCall(rt *rapid.T) {
	t := w.anyTask(rt)
	if len(t.calls) == mostCalls {
		rt.SkipNow()
	}
	server := rapid.SampledFrom(servers).Draw(rt, "server")
	id, err := w.get(t).StartCall(server, tool("tool"))
	if t.closed {
		wantCode(rt, "StartCall in a closed task", err, protocol.CodeTaskClosed)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	if t.title == "" {
		t.title = "tool"
	}
	t.calls = append(t.calls, &modelCall{in: t, messageID: id, server: server})
}

// CallBecomesMcpTask makes a call an MCP task, or reports its status.
func (w *world) CallBecomesMcpTask(rt *rapid.T) {
	c := w.anyCall(rt)
	status := rapid.SampledFrom([]protocol.McpTaskStatus{protocol.McpTaskWorking, protocol.McpTaskInputRequired}).Draw(rt, "status")
	c.mcpTask = fmt.Sprint("mcp-", c.messageID)
	w.get(c.in).CallTask(c.messageID, protocol.McpTask{TaskID: c.mcpTask, Status: status, CreatedAt: time.Now().UnixMilli()})
}

// CallRound answers a call with questions, or starts to send their answers.
func (w *world) CallRound(rt *rapid.T) {
	c := w.anyCall(rt)
	if c.round == nil || rapid.Bool().Draw(rt, "next") {
		c.round = &task.Round{Required: json.RawMessage(`{"requestState":"` + w.text() + `"}`)}
	} else {
		// A repeated call first waits until its earlier questions are settled.
		for _, a := range c.in.asks {
			if a.open() && strings.HasPrefix(a.key, ask.RoundPrefix(c.messageID)) {
				rt.SkipNow()
			}
		}
		c.round = nil
	}
	w.get(c.in).CallRound(c.messageID, c.round)
}

// EndCall answers a call.
func (w *world) EndCall(rt *rapid.T) {
	c := w.anyCall(rt)
	tk := w.get(c.in)
	ended := &task.Ended{Reason: protocol.OutcomeCallEnded}
	if c.mcpTask != "" {
		tk.Release(ask.McpTaskPrefix(c.server, c.mcpTask), ended)
	}
	tk.EndCall(c.messageID, protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: w.text()}}})
	prefixes := append(c.prefixes(), ask.RoundPrefix(c.messageID))
	c.ended, c.round = true, nil
	for _, a := range c.in.asks {
		if a.key == "" || !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(a.key, prefix) }) {
			continue
		}
		if a.open() {
			w.settled(a, ended.Reason, nil)
		}
		a.held = false
	}
}

// questions are the requests of servers.
var questions = map[string]func(protocol.Origin) protocol.UseMcpServer{
	"a form": func(o protocol.Origin) protocol.UseMcpServer {
		return protocol.McpElicitation{Origin: o, ElicitationRequest: protocol.McpElicitationRequest{Message: "?"}}
	},
	"a page": func(o protocol.Origin) protocol.UseMcpServer {
		return protocol.McpURLElicitation{Origin: o, Message: "?", URL: "https://example.com"}
	},
	"a page, and its end": func(o protocol.Origin) protocol.UseMcpServer {
		return protocol.McpURLElicitation{Origin: o, Message: "?", URL: "https://example.com", AwaitsCompletion: true}
	},
	"a completion": func(o protocol.Origin) protocol.UseMcpServer {
		return protocol.McpSampling{Origin: o, SamplingRequest: protocol.McpSamplingRequest{MaxTokens: 1}, Model: &protocol.Model{ID: "proposed"}}
	},
	"a review": func(o protocol.Origin) protocol.UseMcpServer {
		return protocol.McpSamplingReview{
			Origin: o, SamplingResponse: protocol.McpSamplingResponse{Role: protocol.RoleAssistant}, Model: &protocol.Model{ID: "answered"},
		}
	},
}

// Ask sends a server's request, for the first time or again.
func (w *world) Ask(rt *rapid.T) {
	t := w.anyTask(rt)
	origin := protocol.Origin{ServerName: rapid.SampledFrom(servers).Draw(rt, "server")}
	q := task.Question{Body: questions[rapid.SampledFrom(slices.Sorted(maps.Keys(questions))).Draw(rt, "for")](origin)}
	q.Check = check(q.Body)
	if rapid.Bool().Draw(rt, "with a key") {
		q.Key = w.anyKey(rt, t)
	}
	if rapid.Bool().Draw(rt, "with a timeout") {
		q.Timeout = time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second
	}
	if _, ok := q.Body.(protocol.McpSampling); ok && rapid.Bool().Draw(rt, "granted") {
		q.Granted = &task.Granted{
			Answer:  &task.Answer{Response: protocol.YesButtonClicked, Model: &protocol.Model{ID: "proposed"}},
			Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted, GrantID: "g"},
		}
	}
	w.ask(t, q)
}

// anyKey returns a key of a call that outlives the sidecar, of an earlier or a new question.
func (w *world) anyKey(rt *rapid.T, t *modelTask) string {
	var prefixes []string
	for _, c := range t.calls {
		if !c.ended {
			prefixes = append(prefixes, c.prefixes()...)
		}
	}
	if len(prefixes) == 0 {
		return ""
	}
	return rapid.SampledFrom(prefixes).Draw(rt, "prefix") + rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
}

func (w *world) ask(t *modelTask, q task.Question) {
	tk := w.get(t)
	ctx, end := context.WithCancelCause(context.Background())
	r := &asker{done: make(chan asked, 1), end: end}
	go func() {
		answer, err := tk.Ask(ctx, &q)
		r.done <- asked{answer, err}
	}()
	synctest.Wait()
	if t.closed {
		wantCode(w.rt, "Ask in a closed task", (<-r.done).err, protocol.CodeTaskClosed)
		return
	}
	for _, a := range t.asks {
		if q.Key == "" || a.key != q.Key || !a.held {
			continue
		}
		if a.open() {
			a.waiting = append(a.waiting, r)
		} else {
			w.returned(a, r)
		}
		return
	}
	messages := w.read(t).Messages
	m := messages[len(messages)-1]
	body, ok := m.Body.(protocol.Ask)
	if !ok || slices.ContainsFunc(t.asks, func(a *modelAsk) bool { return a.messageID == m.ID }) {
		w.rt.Fatalf("the newest message is no new ask: %+v", m)
	}
	a := &modelAsk{
		in: t, askID: body.AskID, messageID: m.ID, at: m.Time, question: q.Body,
		each: q.Timeout.Milliseconds(), key: q.Key, held: q.Key != "", waiting: []*asker{r},
	}
	t.asks = append(t.asks, a)
	if q.Granted != nil {
		w.settled(a, q.Granted.Outcome.Reason, &task.Answer{Response: protocol.YesButtonClicked, Model: q.Granted.Answer.Model, GrantID: "g"})
		return
	}
	if q.Timeout > 0 {
		a.expiresAt = m.Time + a.each
	}
}

// Answer answers an ask for a person.
func (w *world) Answer(rt *rapid.T) {
	a := w.anyAsk(rt, (*modelAsk).open)
	w.answer(a, w.anyAnswer(rt, a))
}

// anyAnswer draws a valid answer to the question.
func (w *world) anyAnswer(rt *rapid.T, a *modelAsk) *protocol.AskResponseParams {
	responses := []protocol.AskResponse{protocol.YesButtonClicked, protocol.NoButtonClicked, protocol.CancelButtonClicked}
	if _, ok := a.question.(protocol.McpSamplingReview); ok {
		responses = append(responses, protocol.RegenerateButtonClicked)
	}
	p := &protocol.AskResponseParams{TaskID: a.in.id, AskID: a.askID, AskResponse: rapid.SampledFrom(responses).Draw(rt, "answer")}
	switch a.question.(type) {
	case protocol.McpElicitation:
		p.ElicitationContent = json.RawMessage(`{"a":"` + w.text() + `"}`)
	case protocol.McpSampling:
		if rapid.Bool().Draw(rt, "by hand") {
			p.HandWritten = &protocol.HandWritten{Model: w.text()}
			break
		}
		p.ModelID = w.text()
		if rapid.Bool().Draw(rt, "edited") {
			p.SamplingEdit = &protocol.SamplingEdit{SystemPrompt: w.text()}
		}
	case protocol.McpSamplingReview:
		p.ModelID = w.text()
		if rapid.Bool().Draw(rt, "edited") {
			p.SamplingContent = []protocol.ContentBlock{protocol.TextContent{Text: w.text()}}
		}
	}
	return p
}

func reasonOf(response protocol.AskResponse) protocol.OutcomeReason {
	return map[protocol.AskResponse]protocol.OutcomeReason{
		protocol.YesButtonClicked:        protocol.OutcomeAnswered,
		protocol.NoButtonClicked:         protocol.OutcomeDeclined,
		protocol.CancelButtonClicked:     protocol.OutcomeDismissed,
		protocol.RegenerateButtonClicked: protocol.OutcomeRegenerated,
	}[response]
}

func (w *world) answer(a *modelAsk, p *protocol.AskResponseParams) {
	result, err := w.get(a.in).Answer(context.Background(), p, "a person")
	if err != nil {
		w.rt.Fatalf("Answer %+v: %v", p, err)
	}
	w.acknowledged(a, p, result)
}

// acknowledged records an acknowledged answer. Its outcome is then final.
func (w *world) acknowledged(a *modelAsk, p *protocol.AskResponseParams, result *protocol.AskResponseResult) {
	if want := reasonOf(p.AskResponse); result.Outcome.Reason != want || result.Outcome.By != "a person" {
		w.rt.Fatalf("the outcome of %s is %+v, want %s by a person", a.askID, result.Outcome, want)
	}
	text, err := json.Marshal(result.Outcome)
	if err != nil {
		w.rt.Fatal(err)
	}
	a.outcome = string(text)
	w.settled(a, result.Outcome.Reason, answerTo(a.question, p))
}

// wantSettled checks that the error has the ask's outcome.
func (w *world) wantSettled(a *modelAsk, err error) {
	wantCode(w.rt, "an answer to "+a.askID, err, protocol.CodeAskSettled)
	var e *protocol.Error
	if errors.As(err, &e) {
		if o, ok := e.Data.(protocol.Outcome); !ok || o.Reason != a.reason {
			w.rt.Fatalf("the answer to %s was refused with %+v, want %s", a.askID, e.Data, a.reason)
		}
	}
}

// AnswerTooLate answers a settled ask.
func (w *world) AnswerTooLate(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return !a.open() })
	_, err := w.get(a.in).Answer(context.Background(), w.anyAnswer(rt, a), "a person")
	w.wantSettled(a, err)
	_, err = w.get(a.in).Extend(context.Background(), a.askID)
	w.wantSettled(a, err)
}

// AnswerElsewhere answers an ask of another task, or an unknown one.
func (w *world) AnswerElsewhere(rt *rapid.T) {
	a := w.anyAsk(rt, func(*modelAsk) bool { return true })
	p := w.anyAnswer(rt, a)
	t := w.anyTask(rt)
	if t == a.in {
		p.AskID = "nobody's"
	}
	_, err := w.get(t).Answer(context.Background(), p, "a person")
	wantCode(rt, "an answer to no ask of the task", err, protocol.CodeUnknownAsk)
}

// AnswerWrongly sends an answer that violates the ask's rules.
func (w *world) AnswerWrongly(rt *rapid.T) {
	a := w.anyAsk(rt, (*modelAsk).open)
	_, err := w.get(a.in).Answer(context.Background(), &protocol.AskResponseParams{
		AskID: a.askID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(wrongContent),
	}, "a person")
	wantCode(rt, "a wrong answer", err, protocol.CodeInvalidAnswer)
}

// DeclineAll declines all elicitations of a server.
func (w *world) DeclineAll(rt *rapid.T) {
	server := rapid.SampledFrom(servers).Draw(rt, "server")
	w.registry.DeclineAll(server, "a person")
	for a := range w.asks() {
		switch a.question.(type) {
		case protocol.McpElicitation, protocol.McpURLElicitation:
			if a.open() && a.server() == server {
				w.settled(a, protocol.OutcomeDeclined, &task.Answer{Response: protocol.NoButtonClicked})
			}
		}
	}
}

// causes are the ways in which a server's request ends.
var causes = map[string]struct {
	err    error
	reason protocol.OutcomeReason
}{
	"cancels":    {context.Canceled, protocol.OutcomeServerStoppedWaiting},
	"is stopped": {&task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "you stopped it"}, protocol.OutcomeServerStoppedWaiting},
	"dies":       {io.ErrUnexpectedEOF, protocol.OutcomeServerLost},
	"is done":    {&task.Ended{Reason: protocol.OutcomeCompleted}, protocol.OutcomeCompleted},
}

// ServerEnds ends the server's request: the server cancels it, dies, or completes it.
func (w *world) ServerEnds(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return a.open() && len(a.waiting) > 0 })
	how := causes[rapid.SampledFrom([]string{"cancels", "is stopped", "dies", "is done"}).Draw(rt, "the server")]
	a.waiting[rapid.IntRange(0, len(a.waiting)-1).Draw(rt, "asker")].end(how.err)
	w.settled(a, how.reason, nil)
}

// Pass lets time pass.
func (w *world) Pass(rt *rapid.T) {
	time.Sleep(time.Duration(rapid.SampledFrom([]int{10, 20, 500, 1_000, 10_000, 60_000}).Draw(rt, "ms")) * time.Millisecond)
	synctest.Wait()
	w.expire()
}

// expire settles the asks after their time limit.
func (w *world) expire() {
	synctest.Wait()
	now := time.Now().UnixMilli()
	for a := range w.asks() {
		if a.open() && a.expiresAt > 0 && a.expiresAt <= now {
			w.settled(a, protocol.OutcomeTimedOut, nil)
		}
	}
}

// Extend extends an ask.
func (w *world) Extend(rt *rapid.T) {
	a := w.anyAsk(rt, (*modelAsk).open)
	until, err := w.get(a.in).Extend(context.Background(), a.askID)
	if a.expiresAt == 0 {
		wantCode(rt, "Extend without a timeout", err, protocol.CodeInvalidParams)
		return
	}
	if a.expiresAt += a.each; err != nil || until != a.expiresAt {
		rt.Fatalf("Extend of %s = %d, %v; want %d", a.askID, until, err, a.expiresAt)
	}
}

// Draft saves a draft for an ask, which may be settled already.
func (w *world) Draft(rt *rapid.T) {
	a := w.anyAsk(rt, func(*modelAsk) bool { return true })
	draft := rapid.SampledFrom([]string{`{"a":"` + w.text() + `"}`, `null`}).Draw(rt, "draft")
	if err := w.get(a.in).SaveDraft(context.Background(), a.askID, json.RawMessage(draft)); err != nil {
		rt.Fatal(err)
	}
	if !a.open() {
		return
	}
	if a.draft = draft; draft == `null` {
		a.draft = ""
	}
}

// ModelMoves advances the model of an approved request: it begins, writes, is reviewed, or ends.
func (w *world) ModelMoves(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return a.model != noModel })
	moves := []string{"begins", "ends"}
	if a.model == writing {
		moves = append(moves, "writes", "writes", "is reviewed")
	}
	tk := w.get(a.in)
	switch rapid.SampledFrom(moves).Draw(rt, "the model") {
	case "begins":
		next := &protocol.Model{ID: w.text()}
		_, done := tk.BeginCompletion(context.Background(), a.messageID, next)
		done()
		if a.begun {
			a.next = next
		}
		a.model, a.begun = writing, true
	case "writes":
		tk.Progress(a.messageID, w.text())
	case "is reviewed":
		tk.ReviewCompletion(a.messageID)
		a.model = reviewed
	case "ends":
		a.model, a.result = noModel, protocol.McpSamplingResponse{
			Role: protocol.RoleAssistant, Model: "m", Content: []protocol.ContentBlock{protocol.TextContent{Text: w.text()}},
		}
		tk.EndSampling(a.messageID, a.result, &protocol.SamplingUsage{InputTokens: 1})
	}
}

// PageIsDone reports the completion of an opened page.
func (w *world) PageIsDone(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool {
		_, ok := a.question.(protocol.McpURLElicitation)
		return ok
	})
	w.get(a.in).Completed(a.messageID)
}

// LoseAnswer reports that an ask's answer did not reach its server, or reached it later.
func (w *world) LoseAnswer(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return !a.open() })
	w.get(a.in).Undelivered(a.messageID, rapid.SampledFrom([]string{"", "The server is gone."}).Draw(rt, "why"))
}

// Deliver acknowledges an answer.
func (w *world) Deliver(rt *rapid.T) {
	a := w.anyAsk(rt, func(a *modelAsk) bool { return a.held && !a.open() })
	w.get(a.in).Delivered(a.key)
	a.answer.Delivered = true
}

// LoseEvents drops the next events for the front end.
func (w *world) LoseEvents(rt *rapid.T) {
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	w.wire.lose = rapid.IntRange(1, 4).Draw(rt, "announcements")
}

// FrontEndReads has the front end read the tasks with gaps, or all.
func (w *world) FrontEndReads(rt *rapid.T) {
	limit := rapid.SampledFrom([]int{200, 3}).Draw(rt, "messages at most")
	all := rapid.Bool().Draw(rt, "all tasks")
	for _, t := range w.tasks {
		w.wire.mu.Lock()
		v := w.wire.views[t.id]
		due, after := all || v.gap, v.task.LastNumber
		w.wire.mu.Unlock()
		if !due {
			continue
		}
		opened, err := w.get(t).Open(context.Background(), after, 0, limit)
		if err != nil {
			rt.Fatal(err)
		}
		w.wire.mu.Lock()
		v.read(overWire(opened))
		w.wire.mu.Unlock()
	}
}

// FrontEndPages has the front end read a page of older messages.
func (w *world) FrontEndPages(rt *rapid.T) {
	t := w.anyTask(rt)
	synctest.Wait() // an ask may be about to expire
	w.wire.mu.Lock()
	v := w.wire.views[t.id]
	var oldest int64
	if !v.gap && v.earlier && len(v.messages) > 0 {
		oldest = v.messages[0].ID
	}
	w.wire.mu.Unlock()
	if oldest == 0 {
		rt.SkipNow()
	}
	opened, err := w.get(t).Open(context.Background(), 0, oldest, 2)
	if err != nil {
		rt.Fatal(err)
	}
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	v.readPage(overWire(opened))
}

// Reload ends the sidecar in order, and starts another one.
func (w *world) Reload(rt *rapid.T) {
	w.endAskers(&task.Ended{Reason: protocol.OutcomeRestarted})
	for a := range w.asks() {
		if a.open() && a.key == "" {
			w.settled(a, protocol.OutcomeRestarted, nil)
		}
	}
	last := w.lastNumbers(rt)
	w.wire.cut()
	if err := w.registry.Close(); err != nil {
		rt.Fatal(err)
	}
	w.restart(rt, last)
}

// Kill ends the sidecar as SIGKILL does: only the contents of its files remain.
func (w *world) Kill(rt *rapid.T) {
	last := w.lastNumbers(rt)
	w.wire.cut()
	w.lives++
	old := w.dir
	w.dir = filepath.Join(w.root, fmt.Sprint(w.lives))
	if err := copyStore(w.dir, old); err != nil {
		rt.Fatal(err)
	}
	// Later actions of the killed sidecar have no effect.
	w.endAskers(errors.New("killed"))
	if err := errors.Join(w.registry.Close(), os.RemoveAll(old)); err != nil {
		rt.Fatal(err)
	}
	w.restart(rt, last)
}

// copyStore copies an open store.
func copyStore(to, from string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"assent.db", "assent.db-wal"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err == nil {
			if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) lastNumbers(rt *rapid.T) map[string]int64 {
	infos, err := w.registry.List()
	if err != nil {
		rt.Fatal(err)
	}
	last := map[string]int64{}
	for _, info := range infos {
		last[info.ID] = info.LastNumber
	}
	return last
}

// restart starts the next sidecar, and updates the model.
func (w *world) restart(rt *rapid.T, last map[string]int64) {
	w.start()
	for id, number := range w.lastNumbers(rt) {
		if number < last[id] {
			rt.Fatalf("the last number of task %s was %d, and is %d", id, last[id], number)
		}
	}
	for _, t := range w.tasks {
		t.touched = true
		t.left()
	}
	for _, v := range w.wire.views {
		v.reconnect()
	}
	w.expire()
}

// left updates the model of a task to its state after a restart: requests that cannot outlive a
// sidecar end.
func (t *modelTask) left() {
	var running []string
	for _, c := range t.calls {
		switch {
		case c.ended:
		case t.closed || len(c.prefixes()) == 0:
			c.ended, c.round = true, nil
		default:
			running = append(running, c.prefixes()...)
		}
	}
	for _, a := range t.asks {
		live := a.open() || a.held || a.model != noModel
		goesOn := a.key != "" && slices.ContainsFunc(running, func(prefix string) bool { return strings.HasPrefix(a.key, prefix) })
		switch {
		case live && goesOn:
			a.held = true
			if a.open() && a.expiresAt > 0 {
				a.each = a.expiresAt - a.at // the original time limit is lost
			}
			if a.answer != nil {
				a.answer.DeclinedAll, a.begun = false, true
				if a.next != nil { // the request has the new model
					a.answer.Model = a.next
				}
			}
			if a.model != noModel {
				a.model = approved
			}
			continue
		case a.open():
			a.reason = protocol.OutcomeRestarted
		case a.model != noModel:
			a.model, a.result = noModel, protocol.SamplingFailure{Reason: "Assent was restarted."}
		}
		a.held = false
	}
}

func (w *world) anyTask(rt *rapid.T) *modelTask {
	if len(w.tasks) == 0 {
		rt.SkipNow()
	}
	return w.tasks[rapid.IntRange(0, len(w.tasks)-1).Draw(rt, "task")]
}

// anyCall returns a running call.
func (w *world) anyCall(rt *rapid.T) *modelCall {
	var calls []*modelCall
	for _, t := range w.tasks {
		for _, c := range t.calls {
			if !c.ended {
				calls = append(calls, c)
			}
		}
	}
	if len(calls) == 0 {
		rt.SkipNow()
	}
	return calls[rapid.IntRange(0, len(calls)-1).Draw(rt, "call")]
}

func (w *world) anyAsk(rt *rapid.T, which func(*modelAsk) bool) *modelAsk {
	var asks []*modelAsk
	for a := range w.asks() {
		if which(a) {
			asks = append(asks, a)
		}
	}
	if len(asks) == 0 {
		rt.SkipNow()
	}
	return asks[rapid.IntRange(0, len(asks)-1).Draw(rt, "ask")]
}

// text returns a different text at each call.
func (w *world) text() string {
	w.texts++
	return fmt.Sprint("text ", w.texts)
}

func wantCode(rt rapid.TB, what string, err error, want protocol.ErrorCode) {
	if codeOf(err) != want {
		rt.Fatalf("%s = %v, want code %d", what, err, want)
	}
}
