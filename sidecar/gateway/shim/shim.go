// Package shim carries a host's frames to the daemon and back, and outlives the daemon.
//
// Hosts do not restart a stdio server that exits, so `assent gateway` must not exit when the daemon does. A shim passes
// on each message unchanged. It stores the state that a new daemon needs: the handshake, the subscriptions, and the
// requests without an answer. When the connection breaks, it opens a new one, repeats the handshake without the host,
// and sends requests again if they may be repeated. A call of a tool that the daemon may have read may not: its host gets
// an error that says so.
//
// A host that closes its pipe may still read, as when a person pipes requests into a server. So a shim ends once it has
// answered the requests that it has read, or a minute later; at once if the host does not read either.
//
// A shim is one [Run], which waits for its goroutines, but not for a pipe on which the host keeps it waiting.
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
	"strings"
	"sync"
	"time"

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
	// Unread returns when the pipe to the host has lost its readers, or when ctx ends. Run calls it once the
	// host has closed its own pipe. nil means that this cannot be seen.
	Unread func(ctx context.Context)
	Log    zerolog.Logger
}

// patience is how long requests may still take when their host has closed its pipe. A person may be answering one of them.
const patience = time.Minute

// lastWrite is how long a shim that ends waits for a host that does not read.
const lastWrite = time.Second

// maxFutile bounds the connections in a row that break before any data.
const maxFutile = 5

// The reasons for which a shim ends without an error.
var (
	errHostGone = errors.New("the host has gone")
	errWaited   = errors.New("the host has closed its pipe, and its requests take too long")
)

// Run carries frames between a host's pipes and the daemon. It ends without an error when the host has closed its pipe
// and has its answers, or reads no more; with one when ctx ends or no daemon can be reached. A pending read or write of
// the host's pipes may outlive Run, because the process is about to end.
func Run(ctx context.Context, fromHost io.Reader, toHost io.Writer, opts Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &shim{
		toHost: toHost, unwritable: func() { cancel(errHostGone) }, connected: make(chan struct{}),
		open: map[string]*request{}, subscribed: map[string][]byte{},
		closing: closing{asked: map[string]bool{}, idle: make(chan struct{})},
	}
	closed := make(chan error, 1)
	go func() { closed <- s.readHost(ctx, fromHost, cmp.Or(opts.MaxFrame, mcpserver.DefaultMaxFrame)) }() // see above
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel(nil)
	waiting.Go(func() { cancel(s.awaitEnd(ctx, closed, opts.Unread)) })
	ended := make(chan error, 1)
	go func() { ended <- s.connect(ctx, opts) }() // see above
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lastWrite):
		return reasonOf(ctx)
	}
}

// reasonOf returns the error of a shim after its context has ended. It is nil if the host has left.
func reasonOf(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, errHostGone) && !errors.Is(err, errWaited) {
		return err
	}
	return nil
}

// awaitEnd waits until there is nothing more to do for the host, and returns why.
func (s *shim) awaitEnd(ctx context.Context, closed <-chan error, unread func(context.Context)) error {
	select {
	case err := <-closed:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return nil
	}
	s.hostClosed()
	ctx, cancel := context.WithTimeout(ctx, patience)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	gone := make(chan struct{})
	if unread != nil {
		watching.Go(func() {
			unread(ctx)
			close(gone)
		})
	}
	select {
	case <-s.closing.idle:
	case <-gone:
	case <-ctx.Done():
		return errWaited
	}
	return errHostGone
}

// connect serves one connection to the daemon after the other, until ctx ends or there is no daemon.
func (s *shim) connect(ctx context.Context, opts Options) error {
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
			if errors.Is(context.Cause(ctx), errWaited) {
				s.fail(func(*request) bool { return true }, waitedMessage)
			}
			return reasonOf(ctx)
		}
		opts.Log.Info().Err(err).Msg("the daemon has gone; the shim connects again")
		s.lost()
	}
}

// request is a request of the host that has no answer.
type request struct {
	method string
	line   []byte
	// isSent says that the daemon may have read it.
	isSent bool
}

// shim is the state of a conversation.
type shim struct {
	writing    sync.Mutex // held while a line is written to the host
	toHost     io.Writer
	unwritable func() // called when a line cannot be written

	mu sync.Mutex // guards the fields below; held while a line is written to the daemon
	// daemon is nil while there is no connection. During that time, requests of the host wait in open, and
	// notifications about requests are dropped.
	daemon    io.ReadWriteCloser
	connected chan struct{} // closed with the first connection
	// initialize is the host's request, and initialized is set once it was answered.
	initialize  []byte
	initialized bool
	// replayed is the id of the repeated handshake, which the host does not know of, or "".
	replayed string
	replays  int
	level    []byte              // the last logging/setLevel
	open     map[string]*request // by id
	order    []string            // the ids of open, in the order of their arrival
	closing  closing
	// subscribed holds the subscription requests by the URI of the resource.
	subscribed map[string][]byte
}

// closing is for the time when the host sends no more.
type closing struct {
	// asked are the ids of the daemon's requests that the host has not answered.
	asked map[string]bool
	// isInvalid says that the host has sent a message that the daemon refuses without an id.
	isInvalid bool
	// isClosed says that the host sends no more. idle is closed once it also has all answers.
	isClosed bool
	idle     chan struct{}
}

// message has the members of a frame that a shim reads.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Error   json.RawMessage `json:"error"`
}

// readHost passes the host's lines on until the host closes its pipe. A line that is too long for the daemon is not kept.
// The last line may lack its end. The first one waits for a connection, because the daemon must get every line.
func (s *shim) readHost(ctx context.Context, from io.Reader, maxFrame int) error {
	in := bufio.NewReader(from)
	for {
		line, err := mcpserver.ReadLine(in, maxFrame)
		if len(line) > 0 {
			select {
			case <-s.connected:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case errors.Is(err, mcpserver.ErrTooLong):
			text, _ := json.Marshal(mcpserver.TooLong(maxFrame))
			if err := s.tellHost(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":%s}`, text)); err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			for _, message := range mcpserver.Messages(line) {
				if json.Valid(message) { // else the host has died while it wrote
					s.fromHost(message)
				}
			}
			return nil
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
	err := jsonscan.Unmarshal(line, &m) // the daemon reports invalid messages
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(m.ID)
	var r *request
	switch {
	case err == nil && m.Method != "" && isID(m.ID):
		r = s.request(id, m.Method, line)
	case err == nil && m.JSONRPC == "2.0" && (s.closing.asked[id] || m.Method != "" && m.ID == nil):
		delete(s.closing.asked, id)
	default:
		s.closing.isInvalid = true
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
		delete(s.open, string(requestID(m.Params))) // there may be no answer
	}
	if s.daemon != nil && s.replayed == "" {
		isSent := s.toDaemon(line)
		if r != nil {
			r.isSent = isSent
		}
	}
}

// request notes a request that the daemon has to answer. mu must be held.
func (s *shim) request(id, method string, line []byte) *request {
	r := &request{method: method, line: line}
	s.open[id] = r
	s.order = append(s.order, id)
	return r
}

// isID reports whether an answer can have an id: the daemon refuses requests with another one, under the id null.
func isID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// requestID returns the id of the request that a cancellation is about.
func requestID(params json.RawMessage) json.RawMessage {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = jsonscan.Unmarshal(params, &p) // then it is about none
	return p.RequestID
}

// hostClosed notes that the host sends no more. Open requests of the daemon get an error.
func (s *shim) hostClosed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing.isClosed = true
	for id := range s.closing.asked {
		s.cannotAnswer(id)
	}
	if s.closing.isInvalid { // the answer to one more request comes after the errors of invalid messages
		s.replays++
		id := fmt.Sprintf(`"assent-shim-%d"`, s.replays)
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
		s.request(id, "ping", line)
		if s.daemon != nil && s.replayed == "" {
			s.toDaemon(line)
		}
	}
	s.restLocked()
}

// cannotAnswer answers a request of the daemon in the host's place. mu must be held.
func (s *shim) cannotAnswer(id string) {
	delete(s.closing.asked, id)
	if s.daemon != nil {
		s.toDaemon(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the host has closed its output and cannot answer"}}`, id))
	}
}

// rest notes that an answer was written. If the host sends no more and has all answers, idle is closed.
func (s *shim) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restLocked()
}

func (s *shim) restLocked() {
	for _, r := range s.open {
		if r.method != "subscriptions/listen" { // it has no answer until the host ends it
			return
		}
	}
	select {
	case <-s.closing.idle:
	default:
		if s.closing.isClosed {
			close(s.closing.idle)
		}
	}
}

// toDaemon writes a line to the daemon, and reports whether the daemon may have read it. An error also reaches the reader
// of the connection. mu must be held.
func (s *shim) toDaemon(line []byte) (isSent bool) {
	n, _ := s.daemon.Write(append(line[:len(line):len(line)], '\n'))
	return n > 0
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
		if line = bytes.TrimSpace(line); len(line) > 0 && !s.isOwn(line) {
			if err := s.tellHost(line); err != nil {
				return heard, err
			}
		}
		s.rest()
	}
}

// begin begins a connection: with the host's earlier handshake, or with the host's lines since then.
func (s *shim) begin(daemon io.ReadWriteCloser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemon = daemon
	select {
	case <-s.connected:
	default:
		close(s.connected)
	}
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
			r.isSent = s.toDaemon(r.line)
		}
	}
}

// isOwn records an answer of the daemon, and reports whether it is for the shim itself.
func (s *shim) isOwn(line []byte) bool {
	var m message
	if jsonscan.Unmarshal(line, &m) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(m.ID)
	switch {
	case m.Method == "notifications/cancelled":
		delete(s.closing.asked, string(requestID(m.Params)))
		return false
	case m.ID == nil:
		return false
	case m.Method != "" && s.closing.isClosed:
		s.cannotAnswer(id)
		return true
	case m.Method != "":
		s.closing.asked[id] = true
		return false
	}
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
	if strings.HasPrefix(id, ownPrefix) {
		delete(s.open, id)
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

// lost notes that the daemon has gone. Requests that may not be repeated get an error, because it is unknown whether they
// ran.
func (s *shim) lost() {
	s.mu.Lock()
	s.daemon, s.replayed = nil, ""
	clear(s.closing.asked)
	s.mu.Unlock()
	s.fail(func(r *request) bool { return r.method == "tools/call" && r.isSent }, lostMessage)
	s.rest()
}

// fail answers open requests with an error.
func (s *shim) fail(isOne func(*request) bool, message string) {
	s.mu.Lock()
	var answers [][]byte
	for id, r := range s.open {
		if isOne(r) {
			delete(s.open, id)
			answers = append(answers, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, id, message))
		}
	}
	s.mu.Unlock()
	for _, line := range answers {
		_ = s.tellHost(line) // if the host is gone, its own pipe ends the shim
	}
}

// The messages are for the host's model.
const (
	lostMessage = "Assent was restarted during the call. Whether the tool did its work is not known, and it was not called again. " +
		"Check before you call it again."
	waitedMessage = "The input ended a minute ago, and Assent waits no longer. If this was a call of a tool, whether it did its " +
		"work is not known."
)

// tellHost writes a line to the host.
func (s *shim) tellHost(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.toHost.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		s.unwritable()
		return fmt.Errorf("write to the host: %w", err)
	}
	return nil
}
