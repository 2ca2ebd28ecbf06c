package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TestATerminalIsGivenBack ends a dialog in the ways in which nothing but restore and the library can tidy up.
func TestATerminalIsGivenBack(t *testing.T) {
	list := func(text func() string) *page {
		at := 0
		return &page{text: text, title: "Which?", control: listControl(&at, []string{"a"})}
	}
	tests := []struct {
		name string
		// text is what the page does when it is shown.
		text func(q *dialogs, leaving *sync.WaitGroup) string
		want error
	}{
		{"after a panic", func(*dialogs, *sync.WaitGroup) string { panic("this is only a test") }, tea.ErrProgramPanic},
		{"by whoever leaves", func(q *dialogs, leaving *sync.WaitGroup) string { leaving.Go(q.restore); return "" }, errDismissed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, ours) }() // it ends with the terminal
			// That ends the library's reader, which may outlive a panic: the file that it reads is not closed under it.
			defer ours.Close()
			if err := pty.Setsize(ours, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
				t.Fatal(err)
			}
			before, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			state, err := term.GetState(int(theirs.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			s := &session{o: Options{Stdin: theirs}, stderr: stderr{display: &display{out: theirs, width: func() int { return 80 }}}}
			q := &dialogs{s: s, turn: make(chan struct{}, 1), tty: theirs, state: state}
			stderr := os.Stderr
			os.Stderr = theirs // the library writes its errors there
			var leaving sync.WaitGroup
			err = q.run(context.Background(), &dialog{pages: []*page{list(func() string { return tt.text(q, &leaving) })}})
			leaving.Wait()
			os.Stderr = stderr
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			after, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("the terminal is left as %+v, and was %+v", after, before)
			}
		})
	}
}
