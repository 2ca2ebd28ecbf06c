// Package shim carries a host's frames to the daemon and back, and outlives the daemon.
//
// Hosts do not restart a stdio server that exits, so `assent gateway` must not exit when the daemon does. A shim passes
// each line on as it is. It remembers what a new daemon has to know: the handshake, the subscriptions, and the requests
// without an answer. When the connection breaks it opens a new one, does the handshake again without a word to the
// host, and sends again what can be sent twice. A call of a tool cannot: its host gets an error that says so.
//
// A shim is one [Run], which waits for all of its goroutines.
package shim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/jsonscan"
)

// Options configure [Run].
type Options struct {
	// Dial opens a connection to the daemon, and starts the daemon if there is none. Run calls it again whenever the
	// connection breaks. Its error ends the shim.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
	Log  zerolog.Logger
}

// maxFutile is how many connections in a row can break before anything came over them.
const maxFutile = 5

// errHostGone is the reason for the end of a shim whose host closed its pipe.
var errHostGone = errors.New("the host has gone")

// Run carries frames between a host's pipes and the daemon until the host closes its pipe, which is no error, the context
// ends, or there is no daemon to be had. A read of the host's pipe that waits goes on after Run has returned: the
// process is to end.
func Run(ctx context.Context, fromHost io.Reader, toHost io.Writer, opts Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &shim{toHost: toHost, open: map[string]*request{}, subscribed: map[string][]byte{}}
	go func() { // ends with the process; see above
		cancel(s.readHost(fromHost))
	}()
	for futile := 0; ; futile++ {
		daemon, err := opts.Dial(ctx)
		if err == nil {
			var heard bool
			if heard, err = s.serve(ctx, daemon); heard {
				futile = 0
			}
		}
		if ctx.Err() == nil && (daemon == nil || futile == maxFutile) {
			return err
		}
		if ctx.Err() != nil {
			if err := context.Cause(ctx); !errors.Is(err, errHostGone) {
				return err
			}
			return nil
		}
		opts.Log.Info().Err(err).Msg("the daemon has gone; the shim connects again")
		s.lost()
	}
}

// request is a request of the host without an answer.
type request struct {
	method string
	line   []byte
}

// shim is what is known of a conversation.
type shim struct {
	writing sync.Mutex // held while a line is written to the host
	toHost  io.Writer

	mu sync.Mutex // guards what follows, and is held while a line is written to the daemon
	// daemon is nil while there is no connection. Lines of the host wait in open, or are lost like those notifications
	// that only concern a request.
	daemon io.ReadWriteCloser
	// initialize is the host's request, and initialized that it has its answer.
	initialize  []byte
	initialized bool
	// replayed is the id of the handshake that the host does not know of, or "".
	replayed string
	replays  int
	level    []byte              // the last logging/setLevel
	open     map[string]*request // by id
	order    []string            // the ids of open, in the order in which they came
	// subscribed are the requests that subscribed to a resource, by its URI.
	subscribed map[string][]byte
}

// message is what a shim reads of a frame.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`
}

// readHost passes the host's lines on until the host closes its pipe.
func (s *shim) readHost(from io.Reader) error {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && err == nil {
			s.fromHost(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return errHostGone
		case err != nil:
			return fmt.Errorf("read from the host: %w", err)
		}
	}
}

// fromHost notes a line of the host and passes it on.
func (s *shim) fromHost(line []byte) {
	var m message
	_ = jsonscan.Unmarshal(line, &m) // the daemon says what is wrong with a line that is no message
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method != "" && m.ID != nil {
		s.open[string(m.ID)] = &request{m.Method, line}
		s.order = append(s.order, string(m.ID))
	}
	var params struct {
		URI string `json:"uri"`
	}
	switch m.Method {
	case "initialize":
		s.initialize, s.initialized = line, false
	case "logging/setLevel":
		s.level = line
	case "resources/subscribe":
		if jsonscan.Unmarshal(m.Params, &params) == nil {
			s.subscribed[params.URI] = line
		}
	case "resources/unsubscribe":
		if jsonscan.Unmarshal(m.Params, &params) == nil {
			delete(s.subscribed, params.URI)
		}
	case "notifications/cancelled":
		s.cancelled(m.Params)
	}
	if s.daemon != nil && s.replayed == "" {
		s.toDaemon(line)
	}
}

// cancelled forgets a request that the host gave up: there may be no answer. It is called with mu held.
func (s *shim) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if jsonscan.Unmarshal(params, &p) == nil {
		delete(s.open, string(p.RequestID))
	}
}

// toDaemon writes a line to the daemon. It is called with mu held. An error is that of the connection, which the reader
// of the connection gets, too.
func (s *shim) toDaemon(line []byte) {
	_, _ = s.daemon.Write(append(line[:len(line):len(line)], '\n'))
}

// serve carries frames over one connection until it breaks or the context ends. It returns why, and whether anything came.
func (s *shim) serve(ctx context.Context, daemon io.ReadWriteCloser) (heard bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = daemon.Close() }) // which ends the reading below
	defer stop()
	defer func() { _ = daemon.Close() }()
	s.begin(daemon)
	in := bufio.NewReader(daemon)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return heard, err
		}
		heard = true
		if line = bytes.TrimSpace(line); len(line) == 0 || s.isOwn(line) {
			continue
		}
		if err := s.tellHost(line); err != nil {
			return heard, err
		}
	}
}

// begin begins a connection: with the handshake that the host has done before, or with what the host sent meanwhile.
func (s *shim) begin(daemon io.ReadWriteCloser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemon = daemon
	if !s.initialized {
		s.resend()
		return
	}
	s.replays++
	s.replayed = fmt.Sprintf(`"assent-shim-%d"`, s.replays)
	var m map[string]json.RawMessage
	_ = json.Unmarshal(s.initialize, &m) // the daemon before has read it
	m["id"] = json.RawMessage(s.replayed)
	line, _ := json.Marshal(m) // these are raw parts of a message
	s.toDaemon(line)
}

// resend sends what the new daemon does not know. It is called with mu held.
func (s *shim) resend() {
	for _, id := range s.order {
		if r := s.open[id]; r != nil {
			s.toDaemon(r.line)
		}
	}
}

// isOwn notes an answer of the daemon, and reports whether it is not for the host.
func (s *shim) isOwn(line []byte) bool {
	var m message
	if jsonscan.Unmarshal(line, &m) != nil || m.Method != "" || m.ID == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(m.ID)
	if id == s.replayed && id != "" {
		s.replayed = ""
		s.toDaemon([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
		s.again(s.level)
		for _, line := range s.subscribed {
			s.again(line)
		}
		s.resend()
		return true
	}
	if len(id) > len(ownPrefix) && id[:len(ownPrefix)] == ownPrefix {
		return true
	}
	if r := s.open[id]; r != nil {
		delete(s.open, id)
		s.forgetOrder()
		if r.method == "initialize" && m.Error == nil {
			s.initialized = true
		}
	}
	return false
}

// ownPrefix begins the ids of requests of the shim itself.
const ownPrefix = `"assent-shim-`

// again sends a request of the host once more under an id of the shim's. The line may be nil. It is called with mu held.
func (s *shim) again(line []byte) {
	if line == nil {
		return
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || s.open[string(m["id"])] != nil {
		return // the host still waits for its answer, and so it is sent again anyway
	}
	s.replays++
	m["id"] = fmt.Appendf(nil, `"assent-shim-%d"`, s.replays)
	changed, _ := json.Marshal(m)
	s.toDaemon(changed)
}

// forgetOrder drops the ids of requests that have their answer, now and then. It is called with mu held.
func (s *shim) forgetOrder() {
	if len(s.order) < 2*len(s.open)+16 {
		return
	}
	kept := s.order[:0]
	for _, id := range s.order {
		if s.open[id] != nil {
			kept = append(kept, id)
		}
	}
	s.order = kept
}

// lost answers the requests that must not be sent twice: nobody knows how far they got.
func (s *shim) lost() {
	s.mu.Lock()
	s.daemon, s.replayed = nil, ""
	var answers [][]byte
	for id, r := range s.open {
		if r.method == "tools/call" {
			delete(s.open, id)
			answers = append(answers, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, id, lostMessage))
		}
	}
	s.mu.Unlock()
	for _, line := range answers {
		_ = s.tellHost(line) // a host that has gone ends the shim by its own pipe
	}
}

// lostMessage is for the host's model.
const lostMessage = "Assent was restarted during the call. Whether the tool did its work is not known, and it was not called again. " +
	"Check before you call it again."

// tellHost writes a line to the host.
func (s *shim) tellHost(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.toHost.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		return fmt.Errorf("write to the host: %w", err)
	}
	return nil
}
