package confirm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/config/confirm"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// person answers on request, and counts the questions.
type person struct {
	asked  int
	last   *protocol.ConfirmServerParams
	answer chan protocol.ServerDecision
}

func (p *person) ask(ctx context.Context, params *protocol.ConfirmServerParams) (decision protocol.ServerDecision, by string, err error) {
	p.asked++
	p.last = params
	select {
	case d := <-p.answer:
		return d, "a test", nil
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	}
}

func newBook(t *testing.T) (*confirm.Book, *person) {
	t.Helper()
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &person{answer: make(chan protocol.ServerDecision)}
	return confirm.NewBook(confirm.Options{
		Store: func() (*store.Store, error) { return s, nil }, Ask: p.ask, CanAsk: func() bool { return true }, Journal: journal.New(journal.Options{}), Now: time.Now,
		Mask: func(d protocol.ServerDefinition) protocol.ServerDefinition {
			for _, text := range []*string{&d.Command, &d.Cwd, &d.EnvFile, &d.URL} {
				*text = strings.ReplaceAll(*text, "hunter2", "…")
			}
			d.Args = slices.Clone(d.Args)
			for i, arg := range d.Args {
				d.Args[i] = strings.ReplaceAll(arg, "hunter2", "…")
			}
			return d
		},
	}), p
}

var unconfirmed = config.Server{
	Name: "s", Source: "/ws/.vscode/mcp.json", Transport: protocol.TransportStdio, Command: "c",
	SourceRights: config.SourceRights{Unconfirmed: true},
}

func TestManyWhoStartAServerAreOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newBook(t)
		var waiting sync.WaitGroup
		for range 5 {
			waiting.Go(func() {
				if err := b.Confirm(t.Context(), unconfirmed, false); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		p.answer <- protocol.ServerAllowed
		waiting.Wait()
		if p.asked != 1 {
			t.Errorf("the person was asked %d times", p.asked)
		}
	})
}

func TestAQuestionEndsWithTheLastWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newBook(t)
		one, endOne := context.WithCancel(t.Context())
		other, endOther := context.WithCancel(t.Context())
		defer endOther()
		var waiting sync.WaitGroup
		for _, ctx := range []context.Context{one, other} {
			waiting.Go(func() {
				if err := b.Confirm(ctx, unconfirmed, false); !errors.Is(err, context.Canceled) {
					t.Errorf("Confirm = %v", err)
				}
			})
		}
		synctest.Wait()
		endOne()
		synctest.Wait()
		endOther()
		waiting.Wait()
		// The question was withdrawn, not dismissed, so the next caller asks again.
		waiting.Go(func() {
			if err := b.Confirm(t.Context(), unconfirmed, false); !errors.As(err, new(*confirm.NotConfirmed)) {
				t.Errorf("Confirm = %v", err)
			}
		})
		synctest.Wait()
		p.answer <- protocol.ServerRefused
		waiting.Wait()
		if p.asked != 2 {
			t.Errorf("the person was asked %d times", p.asked)
		}
	})
}

// The mask is not shown as a change.
func TestAMaskedValueIsNotAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newBook(t)
		confirm := func(s config.Server) {
			t.Helper()
			var waiting sync.WaitGroup
			waiting.Go(func() {
				if err := b.Confirm(t.Context(), s, false); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			p.answer <- protocol.ServerAllowed
			waiting.Wait()
		}
		local := unconfirmed
		local.Command, local.Args, local.EnvFile, local.Folder = "c-hunter2", []string{"hunter2"}, "/ws/hunter2.env", "/ws/hunter2"
		remote := config.Server{
			Name: "r", Source: local.Source, Transport: protocol.TransportHTTP, URL: "https://e.example/hunter2",
			SourceRights: config.SourceRights{Unconfirmed: true},
		}
		for _, s := range []config.Server{local, remote} {
			confirm(s)
			// A member that such a server does not use is part of its definition, and is not shown.
			if s.Transport == protocol.TransportStdio {
				s.URL = "https://unused.example"
			} else {
				s.Command = "unused"
			}
			confirm(s)
			if diff := cmp.Diff(&p.last.Definition, p.last.Earlier); diff != "" {
				t.Errorf("what was allowed before (-now +before):\n%s", diff)
			}
		}
	})
}

// The decision is about the definition that was shown.
func TestADefinitionThatChangesWhileThePersonIsAskedIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newBook(t)
		s := unconfirmed
		s.Folder = t.TempDir()
		s.EnvFile = filepath.Join(s.Folder, ".env")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(s.EnvFile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("NODE_OPTIONS=--no-warnings\n")
		var waiting sync.WaitGroup
		waiting.Go(func() {
			err := b.Confirm(t.Context(), s, false)
			if !errors.As(err, new(*confirm.NotConfirmed)) || !strings.Contains(err.Error(), "has changed while you were asked") {
				t.Errorf("Confirm = %v", err) // of another kind, it would say that the server ran
			}
		})
		synctest.Wait()
		write("NODE_OPTIONS=--require=./evil.js\n")
		p.answer <- protocol.ServerAllowed
		waiting.Wait()
		waiting.Go(func() {
			if err := b.Confirm(t.Context(), s, false); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		p.answer <- protocol.ServerAllowed
		waiting.Wait()
		if p.asked != 2 {
			t.Errorf("the person was asked %d times", p.asked)
		}
	})
}
