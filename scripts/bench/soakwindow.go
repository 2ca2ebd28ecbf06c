package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"assent/protocol"
)

// soakWindow is one of the windows. It has one task at a time, in which its servers ask, and answers each ask with what the
// ask says. At a random ask of each hour it ends, and goes on with the same task as another process. It is used by one
// goroutine.
type soakWindow struct {
	*soak
	index  int
	random *rand.Rand

	front    *frontEnd
	attached int  // the folder it is attached to
	reopened bool // in this cycle
	// pending are the events that came while the result of a request was awaited.
	pending []*soakMessage

	taskID string
	last   int64 // the number of the newest event
	lanes  [windowLanes]soakLane
	// unsettled are the asks that the window believes open, by their message.
	unsettled map[int64]happened

	cycleNumber int
	shown       int // asks of this cycle
	breakAt     int // from which of them on the window ends
	killLane    int // the lane of the server that is killed
	killBefore  int // which call
}

// soakLane is one server of the task.
type soakLane struct {
	server string
	call   int   // of this cycle
	id     int64 // the call's message, or 0 before it is known
	n      int   // asks of the call
	done   bool
	// killed: the server was killed before the call, which may so have been lost.
	killed bool
}

// soakMessage is the part of what the sidecar says that matters here.
type soakMessage struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
	Params struct {
		TaskID string `json:"taskId"`
		Number int64  `json:"number"`
		Event  struct {
			Message   soakEntry       `json:"message"`
			MessageID int64           `json:"messageId"`
			Outcome   json.RawMessage `json:"outcome"`
			Result    json.RawMessage `json:"result"`
		} `json:"event"`
	} `json:"params"`
}

// soakEntry is a message of a task: an ask, or a call.
type soakEntry struct {
	ID   int64 `json:"id"`
	Body struct {
		AskID    string          `json:"askId"`
		Outcome  json.RawMessage `json:"outcome"`
		Question struct {
			ElicitationRequest struct {
				Message string `json:"message"`
			} `json:"elicitationRequest"`
		} `json:"question"`
		ServerName string          `json:"serverName"`
		Result     json.RawMessage `json:"result"`
	} `json:"body"`
}

// folder is the window's own folder.
func (w *soakWindow) folder() int { return w.index / 2 }

// server names one of the servers of the windows on a folder.
func (w *soakWindow) server(lane int) string { return fmt.Sprintf("server-%d-%d", w.index, lane) }

// open attaches a process to a folder. It configures the servers of both windows there.
func (w *soakWindow) open(folder int) (err error) {
	if w.front, err = attach(w.relay(fmt.Sprint("folder-", folder))); err != nil {
		return err
	}
	w.attached, w.pending = folder, nil
	servers := map[string]any{}
	for _, other := range w.windows {
		if other.folder() != folder {
			continue
		}
		for lane := range windowLanes {
			servers[other.server(lane)] = map[string]any{
				"command": w.self, "args": []string{rawServerCommand}, "protocolVersion": "2025-11-25",
			}
		}
	}
	return w.front.shakeHands(servers)
}

// close detaches the window.
func (w *soakWindow) close() error {
	err := w.front.Close()
	w.front = nil
	return err
}

// kill ends the window's process at once.
func (w *soakWindow) kill() error {
	err := w.front.Cmd.Process.Kill()
	_, readErr := io.Copy(io.Discard, w.front.Out)
	_ = w.front.Cmd.Wait() // it was killed
	w.front = nil
	return errors.Join(err, readErr)
}

// cycle deletes the task of the hour before, and has the servers ask in a new one until all their calls have ended.
func (w *soakWindow) cycle(number int) error {
	w.cycleNumber, w.shown, w.reopened = number, 0, false
	if w.taskID != "" {
		if err := w.request("task/delete", protocol.DeleteTaskParams{TaskID: w.taskID, Close: true}, nil); err != nil {
			return err
		}
	}
	var task protocol.Task
	w.taskID, w.last, w.unsettled = "", 0, map[int64]happened{}
	if err := w.request("task/create", protocol.CreateTaskParams{}, &task); err != nil {
		return err
	}
	w.taskID, w.last = task.ID, task.LastNumber
	asks := 0
	for lane := range w.lanes {
		for call := range laneCalls {
			asks += w.share(number, w.index, lane, call)
		}
	}
	w.breakAt = 1 + w.random.IntN(asks)*9/10
	w.killLane, w.killBefore = w.random.IntN(windowLanes), 1+w.random.IntN(laneCalls-1)
	for i := range w.lanes {
		w.lanes[i] = soakLane{server: w.server(i)}
		if err := w.start(i); err != nil {
			return err
		}
	}
	for !w.allDone() {
		m, err := w.next()
		if err == nil {
			err = w.handle(m)
		}
		if err != nil {
			return fmt.Errorf("%w, with %+v", err, w.lanes)
		}
	}
	if w.attached == w.folder() {
		return nil
	}
	return errors.Join(w.close(), w.open(w.folder()))
}

func (w *soakWindow) allDone() bool {
	for i := range w.lanes {
		if !w.lanes[i].done {
			return false
		}
	}
	return true
}

// start starts the next call of a server.
func (w *soakWindow) start(lane int) error {
	l := &w.lanes[lane]
	l.id, l.n = 0, w.share(w.cycleNumber, w.index, lane, l.call)
	return w.front.runTool(w.taskID, l.server, checkTool, askInput{N: l.n, AtOnce: 1 + w.random.IntN(mostAtOnce)})
}

// read returns the next message, except for events of other tasks.
func (w *soakWindow) read() (*soakMessage, error) {
	front := w.front
	silent := time.AfterFunc(soakSilence, func() { _ = front.Cmd.Process.Kill() })
	defer silent.Stop()
	for {
		body, err := front.NextBody()
		if err != nil {
			return nil, fmt.Errorf("an ask is lost, or the daemon: nothing came for %v, or the window ended: %w", soakSilence, err)
		}
		if bytes.Contains(body, []byte(`"method":"`)) && (w.taskID == "" || !bytes.Contains(body, []byte(w.taskID))) {
			continue
		}
		m := &soakMessage{}
		return m, json.Unmarshal(body, m)
	}
}

// next returns the next message that was not handled.
func (w *soakWindow) next() (*soakMessage, error) {
	if len(w.pending) > 0 {
		m := w.pending[0]
		w.pending = w.pending[1:]
		return m, nil
	}
	return w.read()
}

// request sends a request and reads its result, which may be nil. Events that come before it stay pending.
func (w *soakWindow) request(method string, params, result any) error {
	id, err := w.front.Send(method, params)
	if err != nil {
		return err
	}
	for {
		m, err := w.read()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.Method == "" && m.ID == nil:
			return fmt.Errorf("%s: %w", method, m.Error)
		case m.Method != "":
			w.pending = append(w.pending, m)
		case *m.ID != id:
			if err := w.responded(m); err != nil {
				return err
			}
		case m.Error != nil:
			return fmt.Errorf("%s: %w", method, m.Error)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// responded hears whether an answer or a call was accepted.
func (w *soakWindow) responded(m *soakMessage) error {
	if m.Error == nil {
		return nil
	}
	if m.Error.Code == protocol.CodeAskSettled && w.reopened {
		w.counts.refused.Add(1)
		return nil
	}
	return m.Error
}

func (w *soakWindow) handle(m *soakMessage) error {
	if m.Method == "" {
		return w.responded(m)
	}
	if m.Method != "task/event" || m.Params.TaskID != w.taskID || m.Params.Number <= w.last {
		return nil
	}
	if m.Params.Number > w.last+1 {
		return w.catchUp()
	}
	w.last = m.Params.Number
	event := &m.Params.Event
	switch {
	case event.Result != nil:
		return w.ended(event.MessageID, event.Result)
	case event.Outcome != nil:
		delete(w.unsettled, event.MessageID)
		return nil
	}
	return w.see(&event.Message)
}

// see answers an open ask, and notes a call.
func (w *soakWindow) see(e *soakEntry) error {
	switch {
	case e.Body.AskID != "" && e.Body.Outcome != nil:
		delete(w.unsettled, e.ID)
	case e.Body.AskID != "":
		ask := happened{taskID: w.taskID, askID: e.Body.AskID, question: e.Body.Question.ElicitationRequest.Message}
		w.unsettled[e.ID] = ask
		w.shown++
		if !w.reopened && w.shown >= w.breakAt && w.allKnown() {
			return w.breakOff()
		}
		return w.front.answer(ask, ask.question)
	case e.Body.ServerName != "":
		for i := range w.lanes {
			if l := &w.lanes[i]; l.server == e.Body.ServerName && !l.done {
				l.id = e.ID
			}
		}
		if e.Body.Result != nil {
			return w.ended(e.ID, e.Body.Result)
		}
	}
	return nil
}

// allKnown reports whether the window has seen the start of each call. Without that, a call that the window made as it was
// killed may start or not.
func (w *soakWindow) allKnown() bool {
	for i := range w.lanes {
		if l := &w.lanes[i]; !l.done && l.id == 0 {
			return false
		}
	}
	return true
}

// breakOff ends the window in the middle of its asks, and goes on with them in another process: of its own folder, or as
// the view of another one. An answer on its way may have been lost with the window, so it is given again.
func (w *soakWindow) breakOff() error {
	w.reopened = true
	folder, end, count := w.folder(), w.close, &w.counts.closed
	switch w.random.IntN(3) {
	case 1:
		end, count = w.kill, &w.counts.killed
	case 2:
		folder, count = (folder+1+w.random.IntN(soakFolders-1))%soakFolders, &w.counts.guests
	}
	count.Add(1)
	if err := end(); err != nil {
		return err
	}
	if err := w.open(folder); err != nil {
		return err
	}
	before := slices.Sorted(maps.Keys(w.unsettled))
	if err := w.catchUp(); err != nil {
		return err
	}
	for _, id := range before {
		if ask, ok := w.unsettled[id]; ok {
			if err := w.front.answer(ask, ask.question); err != nil {
				return err
			}
		}
	}
	return nil
}

// catchUp reads what changed after the newest event.
func (w *soakWindow) catchUp() error {
	var opened struct {
		Task     protocol.Task `json:"task"`
		Messages []soakEntry   `json:"messages"`
		Reset    bool          `json:"reset"`
	}
	err := w.request("task/open", protocol.OpenTaskParams{TaskID: w.taskID, After: w.last, Limit: 10_000}, &opened)
	if err != nil {
		return err
	}
	if opened.Reset && w.last > 0 {
		return fmt.Errorf("the task has forgotten what changed after event %d", w.last)
	}
	w.last = opened.Task.LastNumber
	for i := range opened.Messages {
		if err := w.see(&opened.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// ended checks how a call ended, and starts the next one.
func (w *soakWindow) ended(callID int64, result json.RawMessage) error {
	for i := range w.lanes {
		l := &w.lanes[i]
		if l.id != callID || l.done {
			continue
		}
		text, err := happened{result: result}.text()
		if err != nil && l.killed {
			l.killed = false
			w.counts.repeated.Add(1)
			return w.start(i)
		}
		if err != nil {
			return err
		}
		var checked checkedAsks
		if err := json.Unmarshal([]byte(text), &checked); err != nil || checked.Answered != l.n {
			return fmt.Errorf("%s asked %d times, and returned %q", l.server, l.n, text)
		}
		w.counts.answered.Add(int64(checked.Answered))
		l.killed = false
		l.call++
		if l.call == laneCalls {
			l.done = true
			return nil
		}
		if i == w.killLane && l.call == w.killBefore {
			process, err := os.FindProcess(checked.PID)
			if err == nil {
				err = process.Kill()
			}
			if err != nil {
				return fmt.Errorf("kill %s: %w", l.server, err)
			}
			l.killed = true
			w.counts.serversKilled.Add(1)
		}
		return w.start(i)
	}
	return nil
}
