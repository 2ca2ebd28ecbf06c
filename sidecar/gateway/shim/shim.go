// Package shim carries a host's frames to the daemon and back, and outlives the daemon.
//
// Hosts do not restart a stdio server that exits, so `assent gateway` must not exit when the daemon does. A shim passes
// on each message unchanged. It stores the state that a new daemon needs: the handshake, the subscriptions, and the
// requests without an answer. When the connection breaks, it opens a new one, repeats the handshake without the host,
// and sends requests again if they may be repeated. A call of a tool may not: its host gets an error that says so.
//
// A shim is one [Run], which waits for all of its goroutines.
package shim

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rs/zerolog"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/gateway/mcpserver"
)

// Options configure [Run].
type Options struct {
	// Dial opens a connection to the daemon, and starts the daemon if there is none. Run calls it again whenever the
	// connection breaks. Its error ends the shim.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
	// MaxFrame is the greatest frame that a host may send, in bytes. 0 means [mcpserver.DefaultMaxFrame], as for the daemon.
	MaxFrame int
	Log      zerolog.Logger
}

// maxFutile bounds the connections in a row that break before any data.
const maxFutile = 5

// errHostGone ends a shim after its host closed its pipe.
var errHostGone = errors.New("the host has gone")

// Run carries frames between a host's pipes and the daemon. It ends without an error when the host closes its pipe, and
// with one when ctx ends or no daemon can be reached. A pending read of the host's pipe may outlive Run, because the
// process is about to end.
func Run(ctx context.Context, fromHost io.Reader, toHost io.Writer, opts Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &shim{toHost: toHost, open: map[string]*request{}, subscribed: map[string][]byte{}}
	go func() { // ends with the process; see above
		cancel(s.readHost(fromHost, cmp.Or(opts.MaxFrame, mcpserver.DefaultMaxFrame)))
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

// request is a request of the host that has no answer.
type request struct {
	method string
	line   []byte
}

// shim is the state of a conversation.
type shim struct {
	writing sync.Mutex // held while a line is written to the host
	toHost  io.Writer

	mu sync.Mutex // guards the fields below; held while a line is written to the daemon
	// daemon is nil while there is no connection. During that time, requests of the host wait in open, and
	// notifications about requests are dropped.
	daemon io.ReadWriteCloser
	// initialize is the host's request, and initialized is set once it was answered.
	initialize  []byte
	initialized bool
	// replayed is the id of the repeated handshake, which the host does not know of, or "".
	replayed string
	replays  int
	level    []byte              // the last logging/setLevel
	open     map[string]*request // by id
	order    []string            // the ids of open, in the order of their arrival
	// subscribed holds the subscription requests by the URI of the resource.
	subscribed map[string][]byte
}

// message has the members of a frame that a shim reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`
}

// readHost passes the host's lines on until the host closes its pipe. A line that is too long for the daemon is not kept.
func (s *shim) readHost(from io.Reader, maxFrame int) error {
	in := bufio.NewReader(from)
	for {
		line, err := mcpserver.ReadLine(in, maxFrame)
		switch {
		case errors.Is(err, mcpserver.ErrTooLong):
			text, _ := json.Marshal(mcpserver.TooLong(maxFrame))
			if err := s.tellHost(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":%s}`, text)); err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			return errHostGone
		case err != nil:
			return fmt.Errorf("read from the host: %w", err)
		default:
			for _, message := range mcpserver.Messages(line) {
				s.fromHost(message)
			}
		}
	}
}

// fromHost records a message of the host and passes it on as a line.
func (s *shim) fromHost(line []byte) {
	var m message
	_ = jsonscan.Unmarshal(line, &m) // the daemon reports invalid messages
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

// cancelled removes a request that the host cancelled, because there may be no answer. mu must be held.
func (s *shim) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if jsonscan.Unmarshal(params, &p) == nil {
		delete(s.open, string(p.RequestID))
	}
}

// toDaemon writes a line to the daemon. An error also reaches the reader of the connection. mu must be held.
func (s *shim) toDaemon(line []byte) {
	_, _ = s.daemon.Write(append(line[:len(line):len(line)], '\n'))
}

// serve carries frames over one connection until it breaks or ctx ends. It returns the reason, and whether any data
// arrived.
func (s *shim) serve(ctx context.Context, daemon io.ReadWriteCloser) (heard bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = daemon.Close() }) // ends the reading below
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

// begin begins a connection: with the host's earlier handshake, or with the host's lines since then.
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
	_ = json.Unmarshal(s.initialize, &m) // the earlier daemon has read it
	m["id"] = json.RawMessage(s.replayed)
	line, _ := json.Marshal(m) // these are raw parts of a message
	s.toDaemon(line)
}

// resend sends the state that the new daemon does not have. mu must be held.
func (s *shim) resend() {
	for _, id := range s.order {
		if r := s.open[id]; r != nil {
			s.toDaemon(r.line)
		}
	}
}

// isOwn records an answer of the daemon, and reports whether it is for the shim itself.
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

// ownPrefix is the prefix of the ids of the shim's own requests.
const ownPrefix = `"assent-shim-`

// again repeats a request of the host under an id of the shim. The line may be nil. mu must be held.
func (s *shim) again(line []byte) {
	if line == nil {
		return
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || s.open[string(m["id"])] != nil {
		return // the host still waits for the answer, so it is sent again anyway
	}
	s.replays++
	m["id"] = fmt.Appendf(nil, `"assent-shim-%d"`, s.replays)
	changed, _ := json.Marshal(m)
	s.toDaemon(changed)
}

// forgetOrder removes the ids of answered requests from time to time. mu must be held.
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

// lost answers the requests that may not be repeated, because it is unknown whether they ran.
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
		_ = s.tellHost(line) // if the host is gone, its own pipe ends the shim
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
