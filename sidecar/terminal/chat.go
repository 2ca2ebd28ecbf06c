package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"assent/protocol"
)

// maxPrompt bounds a prompt that is read from stdin, in bytes.
const maxPrompt = 1 << 20

// chat talks to a model: for one turn with a given prompt, or until the person ends the conversation.
func (s *session) chat(ctx context.Context, words []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prompt, lines := "", (*person)(nil)
	switch {
	case len(words) == 1 && words[0] != "-":
		prompt = words[0]
	case len(words) == 1:
		text, err := io.ReadAll(io.LimitReader(s.o.Stdin, maxPrompt+1))
		if err != nil {
			return fmt.Errorf("the prompt cannot be read from stdin: %w", err)
		}
		if len(text) > maxPrompt {
			return usagef("the prompt on stdin has more than %d bytes", maxPrompt)
		}
		prompt = string(text)
	case s.person != nil:
		lines = s.person.lineReader()
	case IsTerminal(s.o.Stdin):
		lines = newPerson(s) // the file answers asks, and the person types the prompts
	default:
		return usagef("there is no prompt, and no terminal to type one: give it, or - to read it from stdin")
	}
	if lines == nil && strings.TrimSpace(prompt) == "" {
		return usagef("the prompt is empty")
	}
	taskID := ""
	err := s.untilInterrupted(ctx, func(ctx context.Context) (err error) {
		taskID, err = s.conversation(ctx)
		return err
	})
	if err != nil {
		return err
	}
	t := &talk{s: s, taskID: taskID, goesOn: lines != nil}
	for {
		if lines != nil {
			prompt, err = t.typed(ctx, lines)
			if errors.Is(err, errDismissed) || errors.Is(err, errDeclined) {
				break
			}
			if err != nil {
				return err
			}
		}
		err := t.turn(ctx, prompt)
		var stopped *stoppedTurn
		switch {
		case lines != nil && errors.As(err, &stopped):
			s.note("%v", err)
		case err != nil:
			return err
		}
		if lines == nil {
			break
		}
	}
	err = s.refused(ctx, taskID)
	if s.answerer != nil {
		err = errors.Join(err, s.answerer.end(ctx))
	}
	return err
}

// conversation starts a conversation with the named servers, which must start, and with a model. It does not choose the
// completions of a file as the model, because they answer the requests of servers.
func (s *session) conversation(ctx context.Context) (string, error) {
	settings := protocol.TaskSettings{}
	names := s.line.servers
	if s.line.server != "" {
		names = []string{s.line.server}
	}
	for _, name := range names {
		if err := s.known(ctx, name); err != nil {
			return "", err
		}
		if _, err := s.sidecar.StartServer(ctx, &protocol.ServerParams{ServerName: name}); err != nil {
			return "", s.explained(ctx, name, err)
		}
		settings.Servers = append(settings.Servers, protocol.TaskServer{ServerName: name})
	}
	models, err := s.sidecar.ListModels(ctx, &protocol.ListModelsParams{})
	if err != nil {
		return "", err
	}
	for _, m := range models.Models {
		if m.Provider != protocol.ProviderVSCode {
			settings.ModelID = m.ID
			s.aside("You talk to %s (%s).", m.Name, m.ID)
			break
		}
	}
	if settings.ModelID == "" {
		return "", errors.New("there is no model to talk to: give --model-url and --model")
	}
	task, err := s.newTask(ctx)
	if err != nil {
		return "", err
	}
	_, err = s.sidecar.ConfigureTask(ctx, &protocol.ConfigureTaskParams{TaskID: task.ID, Settings: settings})
	return task.ID, err
}

// talk is a conversation with a model.
type talk struct {
	s      *session
	taskID string
	// goesOn reports whether the person can type again after a turn was stopped.
	goesOn bool
	// shown is how much of each message by the model is printed.
	shown map[int64]int
}

// stoppedTurn is the error of a turn that ended before the model finished.
type stoppedTurn struct{ end protocol.ModelEnd }

func (e *stoppedTurn) Error() string {
	switch {
	case e.end.Reason == protocol.ModelEndStopped:
		return "The turn was stopped."
	case e.end.Detail != "":
		return e.end.Detail
	}
	return "the model ended the turn: " + string(e.end.Reason)
}

// typed reads the next message of the person.
func (t *talk) typed(ctx context.Context, lines *person) (string, error) {
	type line struct {
		text string
		err  error
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	typed := make(chan line, 1)
	go func() {
		done, err := lines.begin(reading)
		if err != nil {
			typed <- line{err: err}
			return
		}
		defer done()
		for {
			text, err := lines.line(reading, false, "\n> ")
			if err != nil || strings.TrimSpace(text) != "" {
				typed <- line{text, err}
				return
			}
		}
	}()
	select {
	case l := <-typed:
		return l.text, l.err
	case <-t.s.o.Interrupts:
		cancel()
		<-typed
		return "", errInterrupted
	case err := <-t.s.feed.failed:
		cancel()
		<-typed
		return "", err
	}
}

// turn sends a message to the model, and waits until the model has finished. The first interrupt stops the turn, and
// the second one stops waiting.
func (t *talk) turn(ctx context.Context, prompt string) error {
	t.shown = map[int64]int{}
	if _, err := t.s.sidecar.SendChat(ctx, &protocol.SendChatParams{TaskID: t.taskID, Text: prompt}); err != nil {
		return err
	}
	var why error                  // why the turn was stopped
	refused := make(chan error, 1) // why the turn cannot be stopped
	stopping, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	stop := func(err error) { // call it only once
		why = err
		asking.Go(func() {
			if _, err := t.s.sidecar.StopChat(stopping, &protocol.ChatParams{TaskID: t.taskID}); err != nil {
				refused <- err
			}
		})
	}
	for {
		for _, event := range t.s.feed.watched.take() {
			end, err := t.event(ctx, event)
			switch {
			case err != nil:
				return err
			case end == nil:
			case why != nil && !(t.goesOn && errors.Is(why, errInterrupted)):
				return why
			case end.Reason != protocol.ModelEndTurn:
				return &stoppedTurn{*end}
			default:
				return nil
			}
		}
		select {
		case <-t.s.feed.watched.ready:
		case err := <-t.s.feed.failed:
			if why == nil {
				stop(err)
			}
		case err := <-refused:
			return errors.Join(why, err)
		case <-t.s.o.Interrupts:
			if why != nil {
				t.s.note("Left without waiting for the end of the turn.")
				t.s.left = true
				return errInterrupted
			}
			t.s.note("\nStopping. Interrupt again to leave at once.")
			stop(errInterrupted)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// event shows an event of the conversation. It returns how the turn ended, or nil while the turn continues.
func (t *talk) event(ctx context.Context, event any) (*protocol.ModelEnd, error) {
	switch e := event.(type) {
	case protocol.ChatProgressParams:
		if e.TaskID == t.taskID {
			t.shown[e.MessageID] += len(e.Chunk)
			return nil, t.s.stream(e.Chunk)
		}
	case protocol.TaskEventParams:
		if e.TaskID != t.taskID {
			return nil, nil
		}
		switch e := e.Event.(type) {
		case protocol.TaskChanged:
			if a := e.Task.Awaits; a != nil {
				t.s.aside("… waiting until %s can be used", strings.Join(a.ServerNames, ", "))
			}
		case protocol.MessageAdded:
			switch body := e.Message.Body.(type) {
			case protocol.Call:
				if r, ok := body.Request.(protocol.CallToolRequest); ok {
					t.s.aside("… %s of %q is called with %s", r.ToolName, body.ServerName, r.Arguments)
				}
			case protocol.ModelMessage:
				return t.said(e.Message.ID, body)
			}
		case protocol.ModelMessageEnded:
			return t.said(e.MessageID, e.ModelMessage)
		case protocol.CallEnded:
			if lost, ok := e.Result.(protocol.CallLost); ok {
				t.s.note("… %s", lost.Reason)
				t.s.reportFailures(ctx)
			}
		case protocol.ToolUseFailed:
			t.s.note("… %s", e.Error)
		}
	}
	return nil, nil
}

// said prints the part of a message by the model that is not printed yet.
func (t *talk) said(id int64, m protocol.ModelMessage) (*protocol.ModelEnd, error) {
	if m.End == nil {
		return nil, nil
	}
	rest := m.Text[min(t.shown[id], len(m.Text)):]
	if m.Text != "" {
		rest += "\n"
	}
	if err := t.s.stream(rest); err != nil {
		return nil, err
	}
	for _, use := range m.ToolUses {
		if use.Error != "" {
			t.s.note("… %s: %s", use.Name, use.Error)
		}
	}
	if m.End.Reason == protocol.ModelEndToolUse {
		return nil, nil
	}
	return m.End, nil
}
