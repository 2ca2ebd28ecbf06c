package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"assent/protocol"
)

// maxLine bounds a typed line, in bytes.
const maxLine = 1 << 20

// The errors for what a person can do at every prompt instead of answering.
var (
	errDeclined  = errors.New("declined")
	errDismissed = errors.New("dismissed")
	errMarked    = errors.New("marked as secret")
)

const commands = `  :decline   say no to the server
  :cancel    dismiss the question without an answer
  :secret    in a form: mark this answer as secret
  :help      show this
` + `A line that begins with a colon is typed with two colons. An empty line takes the value in [brackets], or leaves an ` +
	`optional field out; "" is an empty text.`

// person asks the person at stdin, one question after the other and line by line.
type person struct {
	s    *session
	turn chan struct{} // capacity 1: the holder talks with the person
	in   *bufio.Reader
	// tty is stdin, to turn its echo off. state is its original state. Both are nil if stdin is not a terminal.
	tty   *os.File
	state *term.State

	// lines receives the typed lines. Only the holder of the turn uses lines and reading.
	lines   chan typedLine
	reading bool // a read is under way, or its result was not used
}

type typedLine struct {
	text string
	err  error
}

var _ prompter = (*person)(nil)

func newPerson(s *session) *person {
	p := &person{s: s, turn: make(chan struct{}, 1), in: bufio.NewReader(s.o.Stdin), lines: make(chan typedLine, 1)}
	if IsTerminal(s.o.Stdin) {
		p.tty = s.o.Stdin.(*os.File)
		if state, err := term.GetState(int(p.tty.Fd())); err == nil {
			p.state = state
		}
	}
	return p
}

// report implements [prompter]. It does nothing, because the typed word is on the screen already.
func (*person) report(string) {}

// lineReader implements [prompter].
func (p *person) lineReader() *person { return p }

// restore implements [prompter]. It turns the echo on, which may be off for a password.
func (p *person) restore() {
	if p.state != nil {
		_ = term.Restore(int(p.tty.Fd()), p.state) // there is no way to handle the error
	}
}

// begin implements [prompter].
func (p *person) begin(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// line reads a line after a prompt. The end of the input dismisses the question, because a person who left neither
// accepted nor declined.
func (p *person) line(ctx context.Context, secret bool, prompt string) (string, error) {
	return p.lineOrMark(ctx, secret, false, prompt)
}

// lineOrMark is line that returns [errMarked] when the person marks the answer as secret, if canMark allows that.
func (p *person) lineOrMark(ctx context.Context, secret, canMark bool, prompt string) (string, error) {
	for {
		p.s.stderr.mu.Lock()
		words := strings.TrimRight(prompt, " ")
		_, err := io.WriteString(p.s.o.Stderr, wrapped(safe(words), p.s.stderr.width())+prompt[len(words):])
		p.s.stderr.mu.Unlock()
		if err != nil {
			return "", fmt.Errorf("the question cannot be shown: %w", err)
		}
		text, err := p.read(ctx, secret)
		switch {
		case errors.Is(err, io.EOF):
			p.s.note("\n(The input has ended: the question is put away.)")
			return "", errDismissed
		case err != nil:
			return "", err
		}
		switch word := strings.TrimSpace(text); {
		case word == ":decline":
			return "", errDeclined
		case word == ":cancel":
			return "", errDismissed
		case word == ":secret" && canMark:
			return "", errMarked
		case word == ":help":
			p.s.note("%s", commands)
		case strings.HasPrefix(text, "::"):
			return text[1:], nil
		case strings.HasPrefix(text, ":"):
			p.s.note("There is no command %s.\n%s", word, commands)
		default:
			return text, nil
		}
	}
}

// read returns the next line of stdin. A read of stdin cannot be interrupted. If the caller stops waiting, the next
// call of read gets the line.
func (p *person) read(ctx context.Context, secret bool) (string, error) {
	if !p.reading {
		p.reading = true
		go func() { p.lines <- p.next(secret) }() // ends when it has a line, or with the process
	}
	select {
	case line := <-p.lines:
		p.reading = false
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *person) next(secret bool) typedLine {
	if secret && p.tty != nil && p.in.Buffered() == 0 {
		text, err := term.ReadPassword(int(p.tty.Fd()))
		p.s.note("")
		return typedLine{string(text), err}
	}
	var text []byte
	for {
		piece, err := p.in.ReadSlice('\n')
		text = append(text, piece...)
		switch {
		case len(text) > maxLine:
			return typedLine{err: fmt.Errorf("a line of more than %d bytes was typed", maxLine)}
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(text) == 0:
			return typedLine{err: err}
		}
		return typedLine{text: strings.TrimRight(string(text), "\r\n")}
	}
}

// choose asks until the answer is one of the choices or its first letter. The first letters must differ.
func (p *person) choose(ctx context.Context, prompt string, choices ...string) (string, error) {
	for {
		text, err := p.line(ctx, false, prompt)
		if err != nil {
			return "", err
		}
		text = strings.ToLower(strings.TrimSpace(text))
		for _, c := range choices {
			if text == c || text != "" && text == c[:1] {
				return c, nil
			}
		}
		p.s.note("Type %s.", strings.Join(choices, ", "))
	}
}

// input implements [prompter].
func (p *person) input(ctx context.Context, params *protocol.PromptInputParams) (*string, error) {
	what := params.Description
	if what == "" {
		what = params.ID
	}
	p.s.note("\nThe server %q needs an input (%s).", params.ServerName, params.Source)
	if params.Kind == protocol.PickString {
		f := protocol.ChoiceField{FieldHead: protocol.FieldHead{Name: params.ID, Title: what, Required: true}}
		for _, o := range params.Options {
			f.Options = append(f.Options, protocol.Option{Value: o})
		}
		if params.Default != "" {
			f.Default = &params.Default
		}
		raw, err := p.field(ctx, f, false, nil)
		return dismissedInput(unquote(raw), err)
	}
	prompt := what + ": "
	if params.Default != "" && !params.Password {
		prompt = fmt.Sprintf("%s [%s]: ", what, params.Default)
	}
	text, err := p.line(ctx, params.Password, prompt)
	if text == "" {
		text = params.Default
	}
	return dismissedInput(text, err)
}

func dismissedInput(text string, err error) (*string, error) {
	if errors.Is(err, errDeclined) || errors.Is(err, errDismissed) {
		return nil, nil
	}
	return &text, err
}

// page implements [prompter].
func (p *person) page(ctx context.Context, params *protocol.OpenURLParams) (bool, error) {
	p.s.note("\n%s\n%s", params.Reason, addressText(params.URL, plain))
	word, err := p.choose(ctx, "Do you open this page in your browser? (yes, no): ", "yes", "no")
	if errors.Is(err, errDeclined) || errors.Is(err, errDismissed) {
		return false, nil
	}
	return word == "yes", err
}
