package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"assent/protocol"
)

// dialogs asks the person at the terminal, one dialog after the other.
type dialogs struct {
	s    *session
	turn chan struct{} // capacity 1: the holder talks with the person
	tty  *os.File
	// state is the terminal's original state.
	state *term.State

	mu      sync.Mutex   // guards running
	running *tea.Program // nil while there is no dialog
}

var _ prompter = (*dialogs)(nil)

// lineReader implements [prompter].
func (q *dialogs) lineReader() *person {
	p := newPerson(q.s)
	p.turn = q.turn
	return p
}

// report implements [prompter]: a dialog leaves nothing behind.
func (q *dialogs) report(text string) { q.s.note("%s", text) }

// closeTimeout is how long a dialog has to end before it is killed.
const closeTimeout = time.Second

// restore implements [prompter]. It ends a dialog, and its screen disappears.
func (q *dialogs) restore() {
	q.mu.Lock()
	running := q.running
	q.mu.Unlock()
	if running != nil {
		ended := make(chan struct{})
		go func() { // ends with the program
			defer close(ended)
			running.Send(overMsg{errDismissed})
			running.Wait()
		}()
		select {
		case <-ended:
		case <-time.After(closeTimeout):
			running.Kill() // only as a last resort, because Kill closes the terminal during a read
		}
	}
	_ = term.Restore(int(q.tty.Fd()), q.state) // there is no way to handle the error
}

func (q *dialogs) begin(ctx context.Context) (done func(), err error) {
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// watched is a terminal that reports the end of its input, because a dialog would otherwise wait for ever.
type watched struct {
	*os.File
	ended func()
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.File.Read(p)
	if err != nil {
		w.ended()
	}
	return n, err
}

// run runs a dialog. The end of the input dismisses the question, because a person who left neither accepted nor
// declined. Ctrl-C does not dismiss it: it cancels the call, and the end of the call ends the question. If the question
// stays open, run shows the dialog again.
func (q *dialogs) run(ctx context.Context, d *dialog) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	release := sync.OnceFunc(q.s.stderr.display.occupy())
	defer release()
	forgetTyped(q.tty) // the person typed it before there was a question
	var program *tea.Program
	end := func(why error) { program.Send(overMsg{why}) }
	program = tea.NewProgram(d,
		tea.WithInput(&watched{q.tty, func() { go end(errInputEnd) }}), // ends with the program
		tea.WithOutput(q.s.stderr.display.out),
		tea.WithoutSignalHandler(), // the session handles signals
	)
	stop := context.AfterFunc(ctx, func() { end(errOver) })
	defer stop()
	q.setRunning(program)
	_, err := program.Run()
	q.setRunning(nil)
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the question cannot be shown: %w", err)
	case errors.Is(err, tea.ErrProgramKilled): // the run is ending
		return errDismissed
	case err != nil:
		return fmt.Errorf("the question cannot be shown: %w", err)
	case errors.Is(d.err, errOver):
		return context.Cause(ctx)
	case errors.Is(d.err, errInputEnd):
		return errDismissed
	case errors.Is(d.err, errCtrlC):
		release() // so that the person can read what the interrupt does
		q.s.interrupt()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(cancelTimeout): // the question belongs to another call
			d.over, d.err = false, nil
			return q.run(ctx, d)
		}
	}
	return d.err
}

func (q *dialogs) setRunning(program *tea.Program) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = program
}

// choose shows a text, and lets the person choose one of several names.
func (q *dialogs) choose(ctx context.Context, text, title string, declinable bool, names ...string) (int, error) {
	at := 0
	d := &dialog{
		pages:      []*page{{text: func() string { return text }, title: title, control: listControl(&at, names)}},
		declinable: declinable,
	}
	err := q.run(ctx, d)
	return at, err
}

// input implements [prompter].
func (q *dialogs) input(ctx context.Context, params *protocol.PromptInputParams) (*string, error) {
	what := params.Description
	if what == "" {
		what = params.ID
	}
	text := safe(fmt.Sprintf("The server %q needs an input (%s).\n\n%s", params.ServerName, params.Source, what))
	p := &page{text: func() string { return text }, title: oneLine(params.ID, 200)}
	var value func() string
	if params.Kind == protocol.PickString {
		at, names := 0, make([]string, len(params.Options))
		for i, o := range params.Options {
			names[i] = oneLine(o, 200)
			if o == params.Default {
				at = i
			}
		}
		if len(names) == 0 {
			return nil, nil
		}
		p.control = listControl(&at, names)
		value = func() string { return params.Options[at] }
	} else {
		typed, c := newTypedText(params.Default, func(value *string) control { return lineControl(value, params.Password, anything) })
		p.control = c
		value = func() string {
			text, _ := typed.text()
			if text == "" {
				return params.Default
			}
			return text
		}
	}
	switch err := q.run(ctx, &dialog{pages: []*page{p}}); {
	case errors.Is(err, errDismissed):
		return nil, nil
	case err != nil:
		return nil, err
	}
	text = value()
	return &text, nil
}

// page implements [prompter].
func (q *dialogs) page(ctx context.Context, params *protocol.OpenURLParams) (bool, error) {
	text := safe(params.Reason) + "\n\n" + addressText(params.URL, strong)
	at, err := q.choose(ctx, text, "Do you open this page in your browser?", false, "Yes, I go there myself", "No")
	if errors.Is(err, errDismissed) {
		return false, nil
	}
	if err == nil && at == 0 {
		q.s.note("Go to: %s", params.URL)
	}
	return err == nil && at == 0, err
}

// answered writes the question and its answer to stderr, because a dialog leaves nothing on the screen. The content has
// no secrets.
func (q *dialogs) answered(about string, fields []protocol.Field, content json.RawMessage) {
	q.s.head("\n%s", about)
	var given map[string]json.RawMessage
	if json.Unmarshal(content, &given) != nil {
		return // cannot happen: the content is a JSON object of ours
	}
	for _, f := range fields {
		if value, ok := given[f.Head().Name]; ok {
			q.s.note("  %s: %s", titleOf(f), oneLine(shownDefault(value), 200))
		}
	}
}
