package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/gateway"
	"assent/sidecar/hub"
)

// lazyServers are servers that a reading starts. Each start takes its time and ends as the test says.
type lazyServers struct {
	takes   time.Duration
	refuses map[protocol.ListKind]error // by a server that runs

	mu     sync.Mutex // guards the fields below
	err    error
	starts int
	reads  []protocol.ListKind
	runs   bool
}

// set has later starts fail with err, and says whether the server runs now.
func (s *lazyServers) set(err error, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.runs = err, runs
}

func (s *lazyServers) Identity(string) (identity, command string) { return "1", "" }
func (s *lazyServers) IsRunning(string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

func (s *lazyServers) start(ctx context.Context) error {
	if s.IsRunning("") {
		return nil
	}
	s.mu.Lock()
	s.starts++
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = s.err == nil
	return s.err
}

func (s *lazyServers) Introduction(ctx context.Context, _ string) (hub.Introduction, error) {
	return hub.Introduction{Info: json.RawMessage("{}")}, s.start(ctx)
}

func (s *lazyServers) Pages(ctx context.Context, _ string, kind protocol.ListKind) ([]json.RawMessage, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, kind)
	return []json.RawMessage{json.RawMessage(`["` + string(kind) + `"]`)}, s.refuses[kind]
}

// TestServersThatAreNotThere asks for a list every ten seconds for six minutes. The first pause after a failure is five.
func TestServersThatAreNotThere(t *testing.T) {
	broken := errors.New("it has ended")
	for _, test := range []struct {
		name   string
		server *lazyServers
		// starts and answers are how often the server was started, and how many of the 36 requests got the list.
		starts, answers int
		// waited is for how long the first request waits, and all is how long all of them do.
		waited, all time.Duration
		changes     []string // what hosts are told
	}{
		{"a healthy one", &lazyServers{}, 1, 36, 0, 0, nil},
		{"one that starts in a second", &lazyServers{takes: time.Second}, 1, 36, time.Second, time.Second, nil},
		{"one that starts in four seconds", &lazyServers{takes: 4 * time.Second}, 1, 35, 2 * time.Second, 2 * time.Second, []string{"s tools"}},
		{"one that dies at once", &lazyServers{err: broken}, 2, 0, 0, 0, nil},
		{"one that dies after two seconds", &lazyServers{takes: 2 * time.Second, err: broken}, 2, 0, 2 * time.Second, 4 * time.Second, nil},
		{"one that hangs", &lazyServers{takes: 2 * time.Minute, err: broken}, 1, 0, 2 * time.Second, 2 * time.Second, nil},
		{"one that refuses the list", &lazyServers{refuses: map[protocol.ListKind]error{"tools": broken}}, 1, 0, 0, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := test.server
				told := make(chan string, 36)
				l := newLists(filepath.Join(t.TempDir(), "lists.json"), s,
					func(server, list string) { told <- server + " " + list }, zerolog.Nop())
				defer l.close()
				var waited time.Duration
				answers := 0
				for i := range 36 {
					began := time.Now()
					_, err := l.list(t.Context(), "s", "tools", 2*time.Second)
					if err == nil {
						answers++
					}
					took := time.Since(began)
					if waited += took; i == 0 && took != test.waited {
						t.Errorf("the first request waited for %v, want %v", took, test.waited)
					}
					time.Sleep(10*time.Second - took)
				}
				synctest.Wait()
				var changes []string
				for len(told) > 0 {
					changes = append(changes, <-told)
				}
				if s.starts != test.starts || answers != test.answers || !slices.Equal(changes, test.changes) {
					t.Errorf("%d starts, %d answers, told %q; want %d, %d, %q", s.starts, answers, changes, test.starts, test.answers, test.changes)
				}
				if waited > test.all {
					t.Errorf("the requests waited for %v, want at most %v", waited, test.all)
				}
			})
		})
	}
}

// A host that asks for one list after the other waits for a server once, and hears of each list when it comes.
func TestTheListsOfAServerThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 5)
		l := newLists(filepath.Join(t.TempDir(), "lists.json"), &lazyServers{takes: 5 * time.Second}, func(_, list string) { told <- list }, zerolog.Nop())
		defer l.close()
		began := time.Now()
		lists := []string{"prompts", "resourceTemplates", "resources", "tools"}
		for _, list := range lists {
			if _, err := l.list(t.Context(), "s", list, 2*time.Second); !errors.Is(err, gateway.ErrReading) {
				t.Errorf("%s: %v", list, err)
			}
		}
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("the host waited for %v", waited)
		}
		time.Sleep(time.Minute)
		var got []string
		for len(told) > 0 {
			got = append(got, <-told)
		}
		if slices.Sort(got); !slices.Equal(got, lists) {
			t.Errorf("the host was told of %q", got)
		}
	})
}

// A list that its server refuses does not hide the server's other lists.
func TestAListThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &lazyServers{refuses: map[protocol.ListKind]error{"prompts": errors.New("not implemented")}}
		l := newLists(filepath.Join(t.TempDir(), "lists.json"), s, func(string, string) {}, zerolog.Nop())
		defer l.close()
		for _, list := range []string{"prompts", "tools", "prompts", "resources"} {
			if _, err := l.list(t.Context(), "s", list, 0); (err != nil) != (list == "prompts") {
				t.Errorf("%s: %v", list, err)
			}
		}
		if want := []protocol.ListKind{"prompts", "tools", "resources"}; !slices.Equal(s.reads, want) || s.starts != 1 {
			t.Errorf("read were %q in %d starts, want %q", s.reads, s.starts, want)
		}
	})
}

func TestAServerThatComesBack(t *testing.T) {
	broken := errors.New("it has ended")
	for _, test := range []struct {
		name string
		// comes brings the server back.
		comes func(l *serverLists, s *lazyServers)
	}{
		{"by itself, before the next attempt", func(*serverLists, *lazyServers) { time.Sleep(firstPause) }},
		{"because the person started it", func(l *serverLists, s *lazyServers) {
			s.set(nil, true)
			l.recovered("s")
		}},
		{"because a host begins a session with it", func(l *serverLists, _ *lazyServers) {
			if _, err := l.introduction(context.Background(), "s"); err != nil {
				panic(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &lazyServers{err: broken}
				told := make(chan string, 10)
				l := newLists(filepath.Join(t.TempDir(), "lists.json"), s, func(_, list string) { told <- list }, zerolog.Nop())
				defer l.close()
				for _, list := range []string{"tools", "prompts"} {
					if _, err := l.list(t.Context(), "s", list, 0); err == nil {
						t.Fatal("a server that is broken has a list")
					}
				}
				synctest.Wait() // the readings of both have ended
				s.set(nil, false)
				test.comes(l, s)
				synctest.Wait()
				if lists := []string{<-told, <-told}; len(told) > 0 || !slices.Contains(lists, "tools") || !slices.Contains(lists, "prompts") {
					t.Errorf("hosts were told of %q", lists)
				}
			})
		})
	}
}

// One reading serves all requests, and outlives those that leave.
func TestRequestsShareAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &lazyServers{takes: 10 * time.Second}
		told := 0
		l := newLists(filepath.Join(t.TempDir(), "lists.json"), s, func(string, string) { told++ }, zerolog.Nop())
		defer l.close()
		leaves, leave := context.WithCancel(t.Context())
		got := make(chan error, 3)
		for _, request := range []struct {
			ctx       context.Context
			waitLimit time.Duration
		}{{leaves, 0}, {t.Context(), 2 * time.Second}, {t.Context(), 0}} {
			go func() {
				_, err := l.list(request.ctx, "s", "tools", request.waitLimit)
				got <- err
			}()
		}
		synctest.Wait()
		leave()
		for _, want := range []error{context.Canceled, gateway.ErrReading, nil} {
			if err := <-got; !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		if synctest.Wait(); s.starts != 1 || told != 1 {
			t.Errorf("%d starts, told %d times", s.starts, told)
		}
	})
}
