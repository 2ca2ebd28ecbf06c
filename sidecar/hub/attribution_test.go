package hub_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/policy"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

// TestEveryAnswerReachesItsOwnCall has 20 tasks call 8 servers, of both eras, over every kind of transport,
// with a connection for each task or one for all, concurrently. Each call asks for its number, by a server
// that speaks raw JSON-RPC. The person answers in a random order, and assigns the unattributed questions.
func TestEveryAnswerReachesItsOwnCall(t *testing.T) {
	const tasks, calls, sharedCalls = 20, 8, 2
	servers := []config.Server{
		{Name: "stdio", Transport: protocol.TransportStdio, Command: os.Args[0], Env: map[string]*string{elicitorEnv: new("legacy")}},
		{Name: "stdio, modern", Transport: protocol.TransportStdio, Command: os.Args[0], Env: map[string]*string{elicitorEnv: new("modern")}},
		{Name: "http", Transport: protocol.TransportHTTP, URL: serveElicitor(t, &overStreams{})},
		{Name: "http, modern", Transport: protocol.TransportHTTP, URL: serveElicitor(t, http.HandlerFunc(overPosts))},
		{Name: "ws", Transport: protocol.TransportWS, URL: strings.Replace(serveElicitor(t, http.HandlerFunc(overWebSocket)), "http", "ws", 1)},
	}
	for _, s := range []config.Server{servers[0], servers[2], servers[4]} {
		s.Name, s.Shared = s.Name+", shared", true
		servers = append(servers, s)
	}
	for i := range servers {
		servers[i].Source = "test"
	}
	log := zerolog.New(io.Discard)
	person := &person{asked: make(chan protocol.TaskEventParams, tasks*calls*len(servers))}
	registry := task.NewRegistry(task.Options{
		OpenStore: store.OpenMemory, Events: person, Log: log, NewID: func() string { return uuid.NewString() },
	})
	owner := map[int64]string{} // of a call's number, the task
	var placed atomic.Int32
	shown := func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{Elicitation: true} }
	h := hub.New(hub.Options{
		Options: session.Options{
			Changed:      func(protocol.Server) {},
			Capabilities: shown,
			Client:       protocol.Implementation{Name: "assent", Version: "test"},
			Environment:  config.Environment{Environ: environ()},
			Log:          log,
		},
		Broker: broker.New(broker.Options{
			Policy: policy.New(policy.Options{FrontEnd: shown, Settings: manyOpen}),
			Queue: assigner(func(_ context.Context, r *attribution.Request) (err error) {
				placed.Add(1)
				a := placeByNumber(t, owner, r)
				if a.Task, err = registry.Get(a.TaskID); err == nil {
					r.Assign(a)
				}
				return err
			}),
			FrontEnd: shown, Log: log,
		}),
		Task:        func(id string) (attribution.Task, error) { return registry.Get(id) },
		ListChanged: func(string, protocol.ListKind) {},
	})
	t.Cleanup(func() {
		h.Close()
		if err := registry.Close(); err != nil {
			t.Error(err)
		}
	})
	h.Configure(servers)

	var ids []string
	for range tasks {
		info, err := registry.Create("t")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, info.ID)
	}
	var wg sync.WaitGroup
	var started []func()
	number := int64(0)
	for round := range calls {
		for _, id := range ids {
			for _, s := range servers {
				if s.Shared && round >= sharedCalls { // more than a person is shown candidates
					continue
				}
				number++
				n := number
				owner[n] = id
				started = append(started, func() {
					arguments := json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
					result := h.CallTool(t.Context(), id, s.Name, "ask", arguments, hub.Hooks{MessageID: n})
					got, ok := result.(protocol.ToolResult)
					if !ok || len(got.Content) != 1 || got.Content[0] != (protocol.TextContent{Text: strconv.FormatInt(n, 10)}) {
						t.Errorf("call %d of %q returned %+v", n, s.Name, result)
					}
				})
			}
		}
	}
	rand.Shuffle(len(started), func(i, j int) { started[i], started[j] = started[j], started[i] })
	for _, call := range started {
		wg.Go(call)
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	if answered := person.answerAll(t, registry, owner, done); answered != len(started) {
		t.Errorf("%d questions were asked, want %d", answered, len(started))
	}
	if placed.Load() == 0 {
		t.Error("nothing was unproven, although twenty tasks shared a connection")
	}
}

// placeByNumber assigns a question to the call that caused it, as a person would who started that call.
func placeByNumber(t *testing.T, owner map[int64]string, u *attribution.Request) *attribution.Assignment {
	t.Helper()
	n, err := strconv.ParseInt(u.Text, 10, 64)
	if err != nil {
		t.Error(err)
	}
	if u.Origin.ServerName != "stdio, shared" && u.Origin.ServerName != "ws, shared" {
		t.Errorf("nothing is said to prove whose call %d of %q is", n, u.Origin.ServerName)
	}
	if !slices.ContainsFunc(u.Candidates(), func(c protocol.AskCandidate) bool {
		return c.TaskID == owner[n] && c.MessageID == n && c.ToolName == "ask" && c.State == protocol.CandidateInFlight
	}) {
		t.Errorf("call %d of %q is not among the candidates", n, u.Origin.ServerName)
	}
	return &attribution.Assignment{TaskID: owner[n], MessageID: n, By: "a test", Asked: func(int64, string) {}}
}

// manyOpen lets any number of questions wait.
func manyOpen() policy.Settings {
	return policy.Settings{Elicitation: protocol.ElicitationSettings{MaxOpen: new(int64(10_000))}}
}

// person answers questions in a random order.
type person struct {
	asked chan protocol.TaskEventParams
}

func (p *person) TaskEvent(_ context.Context, e *protocol.TaskEventParams) error {
	if added, ok := e.Event.(protocol.MessageAdded); ok {
		if _, ok := added.Message.Body.(protocol.Ask); ok {
			p.asked <- *e
		}
	}
	return nil
}

func (*person) McpSamplingProgress(context.Context, *protocol.McpSamplingProgressParams) error {
	return nil
}
func (*person) ChatProgress(context.Context, *protocol.ChatProgressParams) error   { return nil }
func (*person) CallProgress(context.Context, *protocol.CallProgressParams) error   { return nil }
func (*person) StorageFailed(context.Context, *protocol.StorageFailedParams) error { return nil }

func (*person) StorageRecovered(context.Context, *protocol.StorageRecoveredParams) error { return nil }

// answerAll answers until done, and returns the number of answers. It checks that each question is asked
// in the task of its call, and names that call if only one can have asked.
func (p *person) answerAll(t *testing.T, registry *task.Registry, owner map[int64]string, done <-chan struct{}) (answered int) {
	t.Helper()
	var open []protocol.TaskEventParams
	for {
		if len(open) == 0 {
			select {
			case e := <-p.asked:
				open = append(open, e)
			case <-done:
				return answered
			}
		}
		for more := true; more; { // any question that is open now may be answered first
			select {
			case e := <-p.asked:
				open = append(open, e)
			default:
				more = false
			}
		}
		i := rand.IntN(len(open))
		e := open[i]
		open[i] = open[len(open)-1]
		open = open[:len(open)-1]
		ask := e.Event.(protocol.MessageAdded).Message.Body.(protocol.Ask)
		question := ask.Question.(protocol.McpElicitation)
		n, err := strconv.ParseInt(question.ElicitationRequest.Message, 10, 64)
		if err != nil || owner[n] != e.TaskID {
			t.Errorf("%q of %q was asked in another task", question.ElicitationRequest.Message, question.ServerName)
		}
		if at := question.MessageID; at != 0 && at != n {
			t.Errorf("what call %d of %q asks is said to be of call %d", n, question.ServerName, at)
		}
		name, _, _ := strings.Cut(question.ServerName, ", shared")
		if (name != "stdio" && name != "ws" || question.PlacedBy != "") && question.MessageID == 0 {
			t.Errorf("it is not said which call %q is of, although it came in that call's own answer", question.ServerName)
		}
		tk, err := registry.Get(e.TaskID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tk.Answer(t.Context(), &protocol.AskResponseParams{
			AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
		}, "a test")
		if err != nil {
			t.Error(err)
		}
		answered++
	}
}

// elicitorEnv makes this test binary a server on stdio, of the era that it names.
const elicitorEnv = "ASSENT_TEST_ELICITOR"

// frame is a JSON-RPC message of either side.
type frame struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		Arguments struct {
			N int64 `json:"n"`
		} `json:"arguments"`
		InputResponses map[string]elicited `json:"inputResponses"`
	} `json:"params"`
	Result elicited `json:"result"`
	Error  struct {
		Code int64 `json:"code"`
	} `json:"error"`
}

type elicited struct {
	Content struct {
		N int64 `json:"n"`
	} `json:"content"`
}

const elicitation = `{"message":"%d","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`

func response(id json.RawMessage, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func said(n int64) string {
	return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":"%d"}]}`, n)
}

// Special numbers for an elicitor. Any other negative number is the length of the answer.
const (
	// deepest is for an answer that is nested deeper than anything reads.
	deepest = -1 - iota
	// longQuestion is for a question that is too long, and deepQuestion for one that is nested too deep.
	longQuestion
	deepQuestion
)

// questionOf returns the question for a number.
func questionOf(n int64) string {
	switch n {
	case longQuestion:
		return fmt.Sprintf(`{"message":"%s"}`, strings.Repeat("x", 17<<20))
	case deepQuestion:
		return fmt.Sprintf(`{"message":%s}`, nested)
	default:
		return fmt.Sprintf(elicitation, n)
	}
}

var nested = strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)

// saidAtOnce is the result of a call that asks no question.
func saidAtOnce(n int64) string {
	if n == deepest {
		return fmt.Sprintf(`{"resultType":"complete","structuredContent":%s}`, nested)
	}
	return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":"%s"}]}`, strings.Repeat("x", int(-n)))
}

// modernElicitor answers a request of the modern era.
func modernElicitor(f frame) string {
	given, answered := f.Params.InputResponses["q"]
	switch {
	case f.Method == "server/discover":
		return response(f.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case f.Method == "initialize": // it was slow to answer the probe
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID)
	case answered:
		return response(f.ID, said(given.Content.N))
	case f.Params.Arguments.N < 0:
		return response(f.ID, saidAtOnce(f.Params.Arguments.N))
	default:
		asked := fmt.Sprintf(elicitation, f.Params.Arguments.N)
		return response(f.ID, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":`+asked+`}}}`)
	}
}

// legacyElicitor is one connection, or session, of a legacy server.
type legacyElicitor struct {
	mu      sync.Mutex // guards the fields below
	last    int
	waiting map[string]chan int64 // for the answers to its questions, by id
}

// take serves a message. It calls send for its answers, now and later.
func (e *legacyElicitor) take(f frame, send func(string)) {
	switch f.Method {
	case "":
		e.mu.Lock()
		answer := e.waiting[string(f.ID)]
		delete(e.waiting, string(f.ID))
		e.mu.Unlock()
		if answer != nil {
			answer <- cmp.Or(f.Error.Code, f.Result.Content.N)
		}
	case "initialize":
		send(response(f.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"elicitor","version":"1"}}`))
	case "tools/call":
		if n := f.Params.Arguments.N; n < 0 && n != longQuestion && n != deepQuestion {
			send(response(f.ID, saidAtOnce(f.Params.Arguments.N)))
			return
		}
		e.mu.Lock()
		e.last++
		id := strconv.Itoa(e.last)
		if e.waiting == nil {
			e.waiting = map[string]chan int64{}
		}
		answer := make(chan int64, 1)
		e.waiting[id] = answer
		e.mu.Unlock()
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":%s}`, id, questionOf(f.Params.Arguments.N)))
		send(response(f.ID, said(<-answer)))
	default:
		if f.ID != nil {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID))
		}
	}
}

// elicitOverStdio is the server's process.
func elicitOverStdio(era string) {
	var mu sync.Mutex
	send := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(line)
	}
	legacy := &legacyElicitor{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var f frame
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			os.Exit(1)
		}
		if era == "modern" {
			if f.ID != nil {
				send(modernElicitor(f))
			}
			continue
		}
		go legacy.take(f, send) // the process ends with its input
	}
}

func serveElicitor(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// overPosts answers each request of the modern era by itself.
func overPosts(w http.ResponseWriter, r *http.Request) {
	var f frame
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&f) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, modernElicitor(f)) // or the client has gone
}

// overStreams is Streamable HTTP of the legacy era: what a call asks comes in the call's own stream.
type overStreams struct {
	mu       sync.Mutex // guards sessions
	sessions map[string]*legacyElicitor
}

func (o *overStreams) session(id string) (*legacyElicitor, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sessions == nil {
		o.sessions = map[string]*legacyElicitor{}
	}
	id = cmp.Or(id, strconv.Itoa(len(o.sessions)+1))
	if o.sessions[id] == nil {
		o.sessions[id] = &legacyElicitor{}
	}
	return o.sessions[id], id
}

func (o *overStreams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var f frame
	switch {
	case r.Method == http.MethodDelete:
		return
	case r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&f) != nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if f.Method == "server/discover" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	session, id := o.session(r.Header.Get("Mcp-Session-Id"))
	w.Header().Set("Mcp-Session-Id", id)
	if f.ID == nil || f.Method == "" {
		session.take(f, func(string) {})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	session.take(f, func(line string) {
		fmt.Fprintf(w, "data: %s\n\n", line)
		_ = stream.Flush() // or the client has gone
	})
}

// overEvents is HTTP with SSE, of one session.
type overEvents struct {
	legacyElicitor
	answers chan string // has room for all
}

func (o *overEvents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		var f frame
		if json.NewDecoder(r.Body).Decode(&f) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		go o.take(f, func(line string) { o.answers <- line }) // ends with the answer to its question
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	fmt.Fprint(w, "event: endpoint\ndata: /\n\n")
	fmt.Fprint(w, "event: endpoint\ndata: /elsewhere\n\nevent: other\ndata: x\n\n") // an event that no client handles
	for stream.Flush() == nil {
		select {
		case line := <-o.answers:
			fmt.Fprintf(w, "data: %s\n\n", line)
		case <-r.Context().Done():
			return
		}
	}
}

// overWebSocket is a legacy server at a WebSocket.
func overWebSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	legacy := &legacyElicitor{}
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return // the client has gone, and was told everything before
		}
		var f frame
		if json.Unmarshal(data, &f) != nil {
			return
		}
		wg.Go(func() {
			legacy.take(f, func(line string) { _ = conn.Write(r.Context(), websocket.MessageText, []byte(line)) })
		})
	}
}
