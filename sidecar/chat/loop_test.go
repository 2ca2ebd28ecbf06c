package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/chat"
	"assent/sidecar/hub"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// models answer with a function, and record when they were asked.
type models struct {
	facts    protocol.ModelFacts
	provider protocol.ModelProvider
	answer   func(ctx context.Context, attempt int, request *protocol.McpSamplingRequest) (*model.Completion, error)
	asked    []time.Time
	got      []*protocol.McpSamplingRequest
}

func (m *models) Find(context.Context, string) (*protocol.Model, error) {
	return &protocol.Model{ID: "openai:m", Name: "M", Provider: m.provider, ModelFacts: m.facts}, nil
}

func (m *models) Converse(ctx context.Context, _ string, request *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	m.asked, m.got = append(m.asked, time.Now()), append(m.got, request)
	made, err := m.answer(ctx, len(m.asked), request)
	if made != nil {
		emit(made.Text)
	}
	return made, err
}

// slowAnswer is how long a slow server takes.
const slowAnswer = 4500 * time.Millisecond

// servers have tools, or do not answer.
type servers struct {
	names  []string
	silent string
	// slow is a server that answers after slowAnswer.
	slow string
	// broken is a server that fails to start. starts counts the attempts.
	broken string
	starts int
	call   func(ctx context.Context, toolName string) protocol.CallResult
}

func (s *servers) Confirm(context.Context, string) error { return nil }

func (s *servers) Servers() (all []protocol.Server) {
	for _, name := range s.names {
		server := protocol.Server{Name: name}
		if name == s.broken && s.starts > 0 {
			server.State, server.Reason = protocol.ServerFailed, "The input has no value."
		}
		all = append(all, server)
	}
	return all
}

func (s *servers) KnownTool(string, string) *protocol.Tool { return nil }

func (s *servers) Tools(ctx context.Context, name string) ([]protocol.Tool, error) {
	if name == s.broken {
		s.starts++
	}
	switch name {
	case s.silent:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case s.broken:
		return nil, errors.New("The input has no value.")
	case s.slow:
		time.Sleep(slowAnswer) // of the bubble's clock
	}
	return []protocol.Tool{{Name: "t"}}, nil
}

func (s *servers) Resources(context.Context, string) ([]protocol.Resource, error) {
	return nil, errors.New("there are none")
}

func (s *servers) ResourceTemplates(context.Context, string) ([]protocol.ResourceTemplate, error) {
	return nil, nil
}

func (s *servers) CallTool(ctx context.Context, _, _, toolName string, _ json.RawMessage, _ hub.Hooks) protocol.CallResult {
	return s.call(ctx, toolName)
}

func (s *servers) ResumeTool(context.Context, string, string, string, protocol.McpTask, hub.Hooks) protocol.CallResult {
	return nil
}

func (s *servers) ReadResource(context.Context, string, string, string, hub.Hooks) protocol.CallResult {
	return nil
}

func (s *servers) GetPrompt(context.Context, string, string, string, map[string]string, hub.Hooks) protocol.CallResult {
	return nil
}

// everything approves all calls.
type everything struct{}

func (everything) UseTool(_ context.Context, _ broker.Asker, _ string, q protocol.UseMcpTool) (json.RawMessage, error) {
	return q.Arguments, nil
}

func (everything) AccessResource(context.Context, broker.Asker, string, protocol.AccessMcpResource) error {
	return nil
}

type fixture struct {
	*chat.Chat
	task     *task.Task
	events   *tasktest.Events
	registry *task.Registry
}

func newFixture(t *testing.T, m *models, s *servers) *fixture {
	t.Helper()
	registry, events := tasktest.Registry(t, nil)
	info, err := registry.Create("")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := registry.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	c := chat.New(chat.Options{
		Tasks: registry, Servers: s, Models: func() chat.Models { return m }, Approver: everything{},
		Log: zerolog.New(zerolog.NewTestWriter(t)),
	})
	return &fixture{Chat: c, task: tk, events: events, registry: registry}
}

// turn sends a message and waits for the end of the turn.
func (f *fixture) turn(t *testing.T, text string, files ...protocol.AttachedFile) []protocol.Message {
	t.Helper()
	if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: f.task.Info().ID, Text: text, Files: files}); err != nil {
		t.Fatal(err)
	}
	running := false
	tasktest.Await(t, f.events, func(p protocol.TaskEventParams) bool {
		changed, ok := p.Event.(protocol.TaskChanged)
		if ok {
			running = changed.Task.Running
		}
		return ok && !running && p.Number > 2
	})
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened.Messages
}

// say sends a message in a synctest bubble, and waits until its turn has ended.
func (f *fixture) say(t *testing.T, text string) {
	t.Helper()
	if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: f.task.Info().ID, Text: text}); err != nil {
		t.Fatal(err)
	}
	f.settle()
}

// settle waits, on the bubble's clock, until no turn is under way.
func (f *fixture) settle() {
	for running := true; running; running = f.task.Info().Running {
		time.Sleep(time.Minute)
		synctest.Wait()
	}
}

// notices returns the task's notices.
func (f *fixture) notices(t *testing.T) (notices []protocol.Notice) {
	t.Helper()
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.Messages {
		if n, ok := m.Body.(protocol.Notice); ok {
			notices = append(notices, n)
		}
	}
	return notices
}

func (f *fixture) close(t *testing.T) {
	t.Helper()
	f.Close()
	if err := f.registry.Close(); err != nil {
		t.Error(err)
	}
}

// refusal returns the error for an endpoint's answer with a status.
func refusal(t *testing.T, status int, after string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
	}))
	defer server.Close()
	p := model.Endpoints(protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{{Provider: protocol.ProviderOpenAI, BaseURL: server.URL, Models: []string{"m"}}}}, http.DefaultClient)[protocol.ProviderOpenAI]
	_, err := p.Generate(t.Context(), "m", &protocol.McpSamplingRequest{}, func(string) {})
	if err == nil {
		t.Fatal("the endpoint answered")
	}
	return err
}

func TestABusyProviderIsAskedAgain(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		times  int // number of failures
		pauses []time.Duration
		end    protocol.ModelEndReason
	}{
		{"once", refusal(t, 500, ""), 1, []time.Duration{time.Second}, protocol.ModelEndTurn},
		{"twice", refusal(t, 429, ""), 2, []time.Duration{time.Second, 4 * time.Second}, protocol.ModelEndTurn},
		{"for ever", refusal(t, 503, ""), 9, []time.Duration{time.Second, 4 * time.Second}, protocol.ModelEndFailed},
		{"until it said", refusal(t, 429, "20"), 1, []time.Duration{20 * time.Second}, protocol.ModelEndTurn},
		{"who said too long", refusal(t, 429, "31"), 1, nil, protocol.ModelEndFailed},
		{"not where it is wrong", refusal(t, 400, ""), 1, nil, protocol.ModelEndFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &models{answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
					if attempt <= tt.times {
						return nil, tt.err
					}
					return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
				}}
				f := newFixture(t, m, &servers{})
				messages := f.turn(t, "Hi")
				var pauses []time.Duration
				for i := range m.asked[1:] {
					pauses = append(pauses, m.asked[i+1].Sub(m.asked[i]))
				}
				if diff := cmp.Diff(tt.pauses, pauses); diff != "" {
					t.Errorf("pauses (-want +got):\n%s", diff)
				}
				if said := messages[len(messages)-1].Body.(protocol.ModelMessage); said.End.Reason != tt.end {
					t.Errorf("the end is %+v", said.End)
				}
				f.close(t)
			})
		})
	}
}

// An answer that has begun is not requested again, because the person has read it.
// An image that a provider does not accept would end each later turn of the conversation, too.
func TestAnImageThatAProviderRefusesIsLeftOut(t *testing.T) {
	image := protocol.ImageContent{MIMEType: "image/png", Data: "iVBORw0KGgoAAAANSUhEUg=="}
	tests := []struct {
		name   string
		err    error
		files  []protocol.AttachedFile
		always bool // it refuses requests without an image, too
		asked  int
		told   string
	}{
		{"an image", refusal(t, 400, ""), []protocol.AttachedFile{{Name: "a", Content: image}}, false, 2, "without an image of this conversation"},
		{"two images", refusal(t, 422, ""), []protocol.AttachedFile{{Name: "a", Content: image}, {Name: "b", Content: image}}, false, 2, "without 2 images of this conversation"},
		{"two images that are too large", refusal(t, 413, ""), []protocol.AttachedFile{{Name: "a", Content: image}, {Name: "b", Content: image}}, false, 2, "without 2 images of this conversation"},
		{"no image", refusal(t, 400, ""), nil, true, 1, ""},
		{"another reason", refusal(t, 400, ""), []protocol.AttachedFile{{Name: "a", Content: image}}, true, 2, ""},
		{"another status", refusal(t, 401, ""), []protocol.AttachedFile{{Name: "a", Content: image}}, true, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &models{answer: func(_ context.Context, _ int, request *protocol.McpSamplingRequest) (*model.Completion, error) {
					if _, images := model.WithoutImages(request); tt.always || images > 0 {
						return nil, tt.err
					}
					return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
				}}
				m.facts.Images = new(true)
				f := newFixture(t, m, &servers{})
				messages := f.turn(t, "Hi", tt.files...)
				told := ""
				for _, message := range messages {
					if notice, ok := message.Body.(protocol.Notice); ok {
						told = notice.Text
					}
				}
				if len(m.asked) != tt.asked || !strings.Contains(told, tt.told) || (told == "") != (tt.told == "") {
					t.Errorf("asked %d times, and told %q", len(m.asked), told)
				}
				f.close(t)
			})
		})
	}
}

func TestTheDemoScriptIsToldOnceInATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{provider: protocol.ProviderDemo, answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{})
		f.turn(t, "Hi")
		var told []string
		for _, message := range f.turn(t, "Hi again") {
			if notice, ok := message.Body.(protocol.Notice); ok {
				told = append(told, notice.Text)
			}
		}
		if len(told) != 1 || !strings.Contains(told[0], "no language model") {
			t.Errorf("it is told %q", told)
		}
		f.close(t)
	})
}

func TestAnAnswerThatBreaksOffIsNotAskedForAgain(t *testing.T) {
	broken := refusal(t, 500, "")
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: "Well, "}, broken
		}}
		f := newFixture(t, m, &servers{})
		messages := f.turn(t, "Hi")
		if said := messages[len(messages)-1].Body.(protocol.ModelMessage); len(m.asked) != 1 || said.Text != "Well, " || said.End.Reason != protocol.ModelEndFailed {
			t.Errorf("it was asked %d times, and said %+v", len(m.asked), said)
		}
		f.close(t)
	})
}

// A turn waits for a server until it answers, the person skips it, or the reading takes too long. The person sees what
// the turn waits for, and is notified once.
func TestATurnWaitsForASlowServer(t *testing.T) {
	const limit = hub.DefaultHandshake + time.Minute
	for _, tt := range []struct {
		name         string
		slow, silent string
		// skip is when the person skips.
		skip time.Duration
		// took is how long the first and the second message wait, and tools how many tools the model has.
		took   [2]time.Duration
		tools  [2]int
		notice bool
	}{
		{"it answers", "x", "", 0, [2]time.Duration{slowAnswer, slowAnswer}, [2]int{3, 3}, false},
		{"the person skips it, and it answers later", "x", "", 2 * time.Second, [2]time.Duration{2 * time.Second, slowAnswer}, [2]int{2, 3}, true},
		{"the person skips it, and it never answers", "", "x", 2 * time.Second, [2]time.Duration{2 * time.Second, 0}, [2]int{2, 2}, true},
		{"it never answers", "", "x", 0, [2]time.Duration{limit, 0}, [2]int{2, 2}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &models{answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
					return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
				}}
				f := newFixture(t, m, &servers{names: []string{"a", "x", "b"}, slow: tt.slow, silent: tt.silent})
				began := time.Now()
				if tt.skip > 0 {
					time.AfterFunc(tt.skip, func() {
						if skipped, err := f.SkipServers(f.task.ID()); !skipped || err != nil {
							t.Errorf("SkipServers = %v, %v", skipped, err)
						}
					})
				}
				var shown *protocol.AwaitedServers
				time.AfterFunc(1500*time.Millisecond, func() { shown = f.task.Info().Awaits })
				f.say(t, "Hi")
				want := &protocol.AwaitedServers{ServerNames: []string{"x"}, Since: began.UnixMilli()}
				if diff := cmp.Diff(want, shown); diff != "" {
					t.Errorf("what the turn waits for (-want +got):\n%s", diff)
				}
				if after := f.task.Info().Awaits; after != nil {
					t.Errorf("after the turn it waits for %v", after)
				}
				if skipped, err := f.SkipServers(f.task.ID()); skipped || err != nil {
					t.Errorf("without a wait: SkipServers = %v, %v", skipped, err)
				}
				if tt.slow != "" {
					time.Sleep(slowAnswer) // the skipped reading ends
				}
				again := time.Now()
				f.say(t, "Hi again")
				got := [2]time.Duration{m.asked[0].Sub(began), m.asked[1].Sub(again)}
				if diff := cmp.Diff(tt.took, got); diff != "" {
					t.Errorf("the model was asked after (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.tools, [2]int{len(m.got[0].Tools), len(m.got[1].Tools)}); diff != "" {
					t.Errorf("tools of the model (-want +got):\n%s", diff)
				}
				notices := f.notices(t)
				if (len(notices) == 1) != tt.notice || len(notices) > 1 {
					t.Errorf("notices: %v", notices)
				}
				f.close(t)
			})
		})
	}
}

// A person who asks again wants the tools of the server that they skipped.
func TestAskingAgainWaitsForASkippedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{names: []string{"x"}, slow: "x"})
		if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: f.task.ID(), Text: "Hi"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // of the bubble's clock
		if skipped, err := f.SkipServers(f.task.ID()); !skipped || err != nil {
			t.Errorf("SkipServers = %v, %v", skipped, err)
		}
		synctest.Wait()
		if err := f.RetryChat(t.Context(), f.task.ID()); err != nil {
			t.Fatal(err)
		}
		f.settle()
		if got := len(m.got[1].Tools); got != 1 {
			t.Errorf("the model has %d tools", got)
		}
		if took := m.asked[1].Sub(m.asked[0]); took != slowAnswer-2*time.Second {
			t.Errorf("the model was asked again after %v", took)
		}
		want := []protocol.Notice{{
			Level: protocol.NoticeWarning, Text: `The server "x" has not answered yet. The model answers without its tools.`,
			Unavailable: []protocol.UnavailableServer{{ServerName: "x", Reason: "It has not answered yet. The model answers without its tools."}},
		}}
		if diff := cmp.Diff(want, f.notices(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		f.close(t)
	})
}

// A skipped server that answers during the turn joins the model's next round.
func TestASkippedServerJoinsTheNextRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
			if attempt < 3 {
				return &model.Completion{ToolUses: []protocol.ToolUseContent{{ID: "a", Name: "a__t", Input: json.RawMessage(`{}`)}}, StopReason: "toolUse"}, nil
			}
			return &model.Completion{Text: "Done.", StopReason: "endTurn"}, nil
		}}
		s := &servers{names: []string{"slow", "a"}, slow: "slow", call: func(context.Context, string) protocol.CallResult {
			time.Sleep(time.Second) // of the bubble's clock
			return protocol.ToolResult{}
		}}
		f := newFixture(t, m, s)
		time.AfterFunc(3*time.Second, func() { _, _ = f.SkipServers(f.task.ID()) })
		f.say(t, "Go")
		var tools [][]string
		for _, request := range m.got {
			var names []string
			for _, tool := range request.Tools {
				names = append(names, tool.Name)
			}
			tools = append(tools, names)
		}
		if diff := cmp.Diff([][]string{{"a__t"}, {"a__t"}, {"slow__t", "a__t"}}, tools); diff != "" {
			t.Errorf("the tools of each round (-want +got):\n%s", diff)
		}
		f.close(t)
	})
}

// A turn does not start a failed server again, but it uses one that the person has started.
func TestAServerThatFailedIsLeftAlone(t *testing.T) {
	for _, tt := range []struct {
		name, silent, text, why string
	}{
		{"at once", "", `The server "broken" is not available: The input has no value.`, "The input has no value."},
		{
			"after the turn had stopped waiting", "broken",
			`The server "broken" has not answered yet. The model answers without its tools.`,
			"It has not answered yet. The model answers without its tools.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &models{answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
					return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
				}}
				s := &servers{names: []string{"a", "broken"}, broken: "broken", silent: tt.silent}
				f := newFixture(t, m, s)
				f.say(t, "Hi")
				f.say(t, "Hi again")
				f.say(t, "And again")
				if s.starts != 1 {
					t.Errorf("the server that failed was started %d times", s.starts)
				}
				time.Sleep(10 * time.Minute) // until the attempt times out
				s.broken, s.silent = "", ""
				f.say(t, "And now?")
				f.say(t, "And again?")
				var tools []int
				for _, request := range m.got {
					tools = append(tools, len(request.Tools))
				}
				if now := tools[len(tools)-1]; now != 2 {
					t.Errorf("the model had so many tools: %v", tools)
				}
				want := []protocol.Notice{{
					Level: protocol.NoticeWarning, Text: tt.text,
					Unavailable: []protocol.UnavailableServer{{ServerName: "broken", Reason: tt.why}},
				}}
				if diff := cmp.Diff(want, f.notices(t)); diff != "" {
					t.Errorf("notices (-want +got):\n%s", diff)
				}
				f.close(t)
			})
		})
	}
}

// All unavailable servers are listed in one notice. Another notice follows if another server becomes
// unavailable.
func TestServersThatAreNotAvailableAreOneNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
		}}
		s := &servers{names: []string{"a", "broken", "silent", "b"}, broken: "broken", silent: "silent"}
		f := newFixture(t, m, s)
		f.say(t, "Hi")
		f.say(t, "Hi again")
		s.broken = "" // it was started
		f.say(t, "One less")
		s.broken = "a"
		f.say(t, "One more")
		var got []string
		for _, notice := range f.notices(t) {
			words := []string{notice.Text}
			for _, server := range notice.Unavailable {
				words = append(words, server.ServerName)
			}
			got = append(got, strings.Join(words, " "))
		}
		want := []string{"2 of 4 servers are not available. broken silent", "2 of 4 servers are not available. a silent"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		f.close(t)
	})
}

// Calls run concurrently, up to a limit.
func TestCallsRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var uses []protocol.ToolUseContent
		for i := range 20 {
			uses = append(uses, protocol.ToolUseContent{ID: fmt.Sprint(i), Name: "s__t", Input: json.RawMessage(`{}`)})
		}
		m := &models{answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
			if attempt == 1 {
				return &model.Completion{ToolUses: uses, StopReason: "toolUse"}, nil
			}
			return &model.Completion{Text: "Done.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{names: []string{"s"}, call: func(context.Context, string) protocol.CallResult {
			time.Sleep(time.Second) // of the bubble's clock
			return protocol.ToolResult{}
		}})
		began := time.Now()
		f.turn(t, "Go")
		if took := time.Since(began); took != 3*time.Second { // 8, 8 and 4
			t.Errorf("20 calls of a second took %v", took)
		}
		f.close(t)
	})
}

// If a result is too large for any model, the model gets the beginning and a note. The conversation has the whole
// result.
func TestAResultOfAMegabyte(t *testing.T) {
	const size = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		m := &models{facts: protocol.ModelFacts{ContextTokens: 8000}, answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
			if attempt == 1 {
				return &model.Completion{ToolUses: []protocol.ToolUseContent{{ID: "a", Name: "s__t", Input: json.RawMessage(`{}`)}}, StopReason: "toolUse"}, nil
			}
			return &model.Completion{Text: "Done.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{names: []string{"s"}, call: func(context.Context, string) protocol.CallResult {
			return protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: strings.Repeat("x", size)}}}
		}})
		messages := f.turn(t, "Go")
		if len(m.got) != 2 {
			t.Fatalf("the model was asked %d times", len(m.got))
		}
		sent := m.got[1].Messages
		text := sent[len(sent)-1].Content[0].(protocol.ToolResultContent).Content[0].(protocol.TextContent).Text
		if len(text) > 3000 || !strings.Contains(text, "[cut here: ") {
			t.Errorf("the model got %d bytes, which end with %q", len(text), text[max(0, len(text)-100):])
		}
		kept := 0
		for _, m := range messages {
			if call, ok := m.Body.(protocol.Call); ok {
				kept += len(call.Result.(protocol.ToolResult).Content[0].(protocol.TextContent).Text)
			}
		}
		if kept != size {
			t.Errorf("%d bytes of the result are in the conversation", kept)
		}
		f.close(t)
	})
}

// If a conversation exceeds the model's context, a part of it is sent, and the end of the message
// says so.
func TestAConversationThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{facts: protocol.ModelFacts{ContextTokens: 4000}, answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: strings.Repeat("answer ", 300), StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{})
		id := f.task.Info().ID
		for i := range 12 {
			if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: id, Text: fmt.Sprintf("question %d", i)}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		sent := m.got[11].Messages
		first := sent[0].Content
		if first[0] != protocol.ContentBlock(protocol.TextContent{Text: "question 0"}) || len(first) != 2 {
			t.Errorf("the first message is %+v", first)
		}
		opened, err := f.task.Open(t.Context(), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := opened.Messages[len(opened.Messages)-1].Body.(protocol.ModelMessage)
		if last.LeftOut == nil || last.LeftOut.Messages != 23-len(sent) || last.LeftOut.Messages == 0 {
			t.Errorf("left out is %+v, %d were sent", last.LeftOut, len(sent))
		}
		if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: id, Text: strings.Repeat("long ", 10_000)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if opened, err = f.task.Open(t.Context(), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		if last := opened.Messages[len(opened.Messages)-1].Body.(protocol.ModelMessage); last.End.Reason != protocol.ModelEndFailed || !strings.Contains(last.End.Detail, "M accepts about 4000") {
			t.Errorf("the end is %+v", last.End)
		}
		f.close(t)
	})
}

// Failed messages are left out of the next request. Stopped messages are not.
func TestFailedMessagesAreNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{answer: func(_ context.Context, attempt int, _ *protocol.McpSamplingRequest) (*model.Completion, error) {
			if attempt == 1 {
				return &model.Completion{Text: "Half an ans"}, model.ErrFailed
			}
			return &model.Completion{Text: "Whole.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{})
		for _, text := range []string{"One?", "Two?", "Three?"} {
			if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: f.task.Info().ID, Text: text}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		var got []string
		for _, m := range m.got[2].Messages {
			got = append(got, m.Content[0].(protocol.TextContent).Text)
		}
		if diff := cmp.Diff([]string{"One?", "Two?", "Whole.", "Three?"}, got); diff != "" {
			t.Errorf("the model got (-want +got):\n%s", diff)
		}
		f.close(t)
	})
}

// If a conversation exceeds every context, its newest part and the person's first message stay in
// memory.
func TestAConversationThatIsTooLongForAnyModel(t *testing.T) {
	chat.LimitHistory(t, 32<<10)
	synctest.Test(t, func(t *testing.T) {
		m := &models{facts: protocol.ModelFacts{ContextTokens: 1 << 40}, answer: func(context.Context, int, *protocol.McpSamplingRequest) (*model.Completion, error) {
			return &model.Completion{Text: "Hello.", StopReason: "endTurn"}, nil
		}}
		f := newFixture(t, m, &servers{})
		const count = 40
		for i := range count {
			text := fmt.Sprintf("%d %s", i, strings.Repeat("x", 1<<10-10))
			if _, err := f.task.Say(protocol.UserMessage{Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		f.task.EndTurn()
		if _, err := f.SendChat(t.Context(), &protocol.SendChatParams{TaskID: f.task.Info().ID, Text: "Now?"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		sent := m.got[0].Messages
		opened, err := f.task.Open(t.Context(), 0, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		out := opened.Messages[0].Body.(protocol.ModelMessage).LeftOut
		if out == nil || out.Messages == 0 || out.Messages != count+1-len(sent) || len(sent) < 30 {
			t.Errorf("of %d messages %d were sent, and %+v said to be left out", count+1, len(sent), out)
		}
		for i, want := range map[int]string{0: "0 x", 1: fmt.Sprintf("%d x", count+2-len(sent)), len(sent) - 1: "Now?"} {
			if text := sent[i].Content[0].(protocol.TextContent).Text; !strings.HasPrefix(text, want) {
				t.Errorf("the message %d begins with %.10q, want %q", i, text, want)
			}
		}
		f.close(t)
	})
}
