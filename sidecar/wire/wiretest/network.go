package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/tools/txtar"
)

// Serve plays NAME of a transcript over the network for the rest of the test, and returns the URL. The
// transport is named by mcp.json's "type": http, sse or ws. Each session plays the transcript from its
// beginning; without sessions there is one.
//
// Over HTTP, every call is answered with a stream. Other messages of the server go into the stream of
// the oldest open call, or else into that of the client's GET. With "!exit" it leaves every stream as
// it is.
func Serve(t *testing.T, transport, transcript, name string) string {
	t.Helper()
	n := &network{t: t, archive: txtar.Parse([]byte(transcript)), name: name, sessions: map[string]*conversation{}}
	handlers := map[string]http.HandlerFunc{"http": n.streamable, "sse": n.sse, "ws": n.webSocket}
	server := httptest.NewServer(handlers[transport])
	t.Cleanup(func() {
		n.leave()
		server.CloseClientConnections()
		server.Close()
	})
	if transport == "ws" {
		return strings.Replace(server.URL, "http", "ws", 1)
	}
	return server.URL
}

// network is a server and its sessions.
type network struct {
	t       *testing.T
	archive *txtar.Archive
	name    string

	mu       sync.Mutex // guards the fields below
	last     int
	sessions map[string]*conversation // a client without a session has ""
}

// conversation is one session of the transcript.
type conversation struct {
	in   *io.PipeWriter
	gone chan struct{} // closed when the server or the client has left

	mu      sync.Mutex // guards the fields below
	streams []*stream  // open, the oldest first
	early   []string   // messages from before the first stream
	left    bool
}

// stream is a response stream of the client.
type stream struct {
	// id is the id of the call that it answers, or empty.
	id    string
	lines chan string // closed after the answer
}

// roomy is more than the lines of any transcript.
const roomy = 1000

func (n *network) begin() *conversation {
	in, out := io.Pipe()
	c := &conversation{in: out, gone: make(chan struct{})}
	p := newPlayer(n.name, in, os.Stderr, c.say)
	p.exit = func(int) { c.leave() }
	played := make(chan struct{})
	go func() {
		defer close(played)
		if err := p.play(n.archive); err != nil && !errors.Is(err, io.EOF) { // the client may leave at any time
			n.t.Log(err) // the client notices the end
			c.leave()
		}
	}()
	n.t.Cleanup(func() {
		c.leave()
		<-played
	})
	return c
}

func (n *network) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.sessions {
		c.leave()
	}
}

func (c *conversation) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left {
		c.left = true
		close(c.gone)
		_ = c.in.Close() // closing a pipe cannot fail
	}
}

// hear passes the client's message to the player.
func (c *conversation) hear(message []byte) { _, _ = c.in.Write(append(message, '\n')) } // or it has left

// say sends a line on the stream that the client reads.
func (c *conversation) say(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) == 0 {
		c.early = append(c.early, line)
		return nil
	}
	id, answer := idOf([]byte(line))
	for i, s := range c.streams {
		if answer && s.id == id {
			s.lines <- line
			close(s.lines)
			c.streams = append(c.streams[:i:i], c.streams[i+1:]...)
			return nil
		}
	}
	to := c.streams[0]
	for _, s := range c.streams {
		if s.id != "" {
			to = s
			break
		}
	}
	to.lines <- line
	return nil
}

// open adds a stream.
func (c *conversation) open(id string) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stream{id, make(chan string, roomy)}
	for _, line := range c.early {
		s.lines <- line
	}
	c.early = nil
	c.streams = append(c.streams, s)
	return s
}

// close removes a stream that the client has left.
func (c *conversation) close(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.streams {
		if other == s {
			c.streams = append(c.streams[:i:i], c.streams[i+1:]...)
			return
		}
	}
}

// idOf returns the id of a message, and whether it is an answer.
func idOf(message []byte) (id string, answer bool) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(message, &m) != nil {
		return "", false
	}
	return string(m.ID), m.Method == ""
}

// session returns the conversation of a request. It begins one for the first request, and for each
// initialize.
func (n *network) session(r *http.Request, message []byte) (c *conversation, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id = r.Header.Get("Mcp-Session-Id"); id != "" {
		return n.sessions[id], id
	}
	c = n.sessions[""]
	if c == nil {
		c = n.begin()
		n.sessions[""] = c
	}
	if strings.Contains(string(message), `"method":"initialize"`) {
		delete(n.sessions, "")
		n.last++
		id = fmt.Sprint(n.last)
		n.sessions[id] = c
	}
	return c, id
}

func (n *network) streamable(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	c, session := n.session(r, message)
	if c == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	if session != "" {
		w.Header().Set("Mcp-Session-Id", session)
	}
	switch id, answer := idOf(message); {
	case r.Method == http.MethodDelete:
		c.leave()
	case r.Method == http.MethodGet && session == "":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet:
		c.write(w, r, c.open(""))
	case id == "" || answer:
		c.hear(message)
		w.WriteHeader(http.StatusAccepted)
	default:
		s := c.open(id)
		c.hear(message)
		c.write(w, r, s)
	}
}

// write sends a stream to its end.
func (c *conversation) write(w http.ResponseWriter, r *http.Request, s *stream) {
	defer c.close(s)
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		if flush.Flush() != nil {
			return
		}
		line, ok, left := s.next(r.Context(), c.gone)
		switch {
		case left:
			panic(http.ErrAbortHandler)
		case !ok:
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", line)
	}
}

func (n *network) sse(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("session")
	if id != "" {
		n.mu.Lock()
		c := n.sessions[id]
		n.mu.Unlock()
		message, err := io.ReadAll(r.Body)
		if err != nil || c == nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		c.hear(message)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	c := n.begin()
	n.mu.Lock()
	n.last++
	id = fmt.Sprint(n.last)
	n.sessions[id] = c
	n.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: endpoint\ndata: /?session=%s\n\n", id)
	c.write(w, r, c.open(""))
}

func (n *network) webSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
	if err != nil {
		n.t.Error(err)
		return
	}
	defer conn.CloseNow()
	c := n.begin()
	s := c.open("")
	go func() {
		defer c.leave()
		for {
			_, message, err := conn.Read(r.Context())
			if err != nil {
				return // the client left
			}
			c.hear(message)
		}
	}()
	for {
		line, ok, _ := s.next(r.Context(), c.gone)
		if !ok || conn.Write(r.Context(), websocket.MessageText, []byte(line)) != nil {
			return
		}
	}
}

// next returns the next line of a stream, or reports that the server left before. Earlier lines are
// still sent.
func (s *stream) next(ctx context.Context, gone <-chan struct{}) (line string, ok, left bool) {
	select {
	case line, ok = <-s.lines:
	case <-ctx.Done():
	case <-gone:
		select {
		case line, ok = <-s.lines:
		default:
			left = true
		}
	}
	return line, ok, left
}
