package shim_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"assent/sidecar/gateway/shim"
)

// end is one end of a conversation in lines.
type end struct {
	t     *testing.T
	pipe  net.Conn
	lines *bufio.Reader
}

func newEnd(t *testing.T, pipe net.Conn) *end { return &end{t, pipe, bufio.NewReader(pipe)} }

func (e *end) send(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.pipe, line+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

func (e *end) want(want string) {
	e.t.Helper()
	line, err := e.lines.ReadString('\n')
	if got := strings.TrimSpace(line); err != nil || got != want {
		e.t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
}

// begin starts a shim, and returns the connections that it opens.
func begin(t *testing.T) (host *end, daemons <-chan *end, ended <-chan error) {
	t.Helper()
	in, out := net.Pipe()
	connections, done := make(chan *end), make(chan error, 1)
	go func() {
		done <- shim.Run(t.Context(), out, out, shim.Options{
			Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
				daemon, connection := net.Pipe()
				select {
				case connections <- newEnd(t, daemon):
					return connection, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			},
			Log: zerolog.Nop(),
		})
	}()
	return newEnd(t, in), connections, done
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func TestTheDaemonIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := begin(t)
		first := <-daemons
		for _, line := range []string{
			initialize, initialized,
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a:1"}}`,
			`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"buy"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":4,"method":"prompts/list"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`,
		} {
			host.send(line)
			first.want(line)
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":0,"result":{"x":1.50}}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"result":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		} {
			first.send(line)
			host.want(line)
		}
		if err := first.pipe.Close(); err != nil {
			t.Fatal(err)
		}

		// The call is not repeated. The list is, after a handshake that the host does not see.
		host.want(`{"jsonrpc":"2.0","id":"c","error":{"code":-32603,"message":"Assent was restarted during the call. ` +
			`Whether the tool did its work is not known, and it was not called again. Check before you call it again."}}`)
		second := <-daemons
		second.want(`{"id":"assent-shim-1","jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		host.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`) // before the handshake has ended
		second.send(`{"jsonrpc":"2.0","id":"assent-shim-1","result":{"x":2}}`)
		second.want(initialized)
		second.want(`{"id":"assent-shim-2","jsonrpc":"2.0","method":"logging/setLevel","params":{"level":"debug"}}`)
		second.want(`{"id":"assent-shim-3","jsonrpc":"2.0","method":"resources/subscribe","params":{"uri":"a:1"}}`)
		second.want(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		second.want(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		second.send(`{"jsonrpc":"2.0","id":"assent-shim-3","result":{}}`)
		second.send(`{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}`)
		host.want(`{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}`)

		if err := host.pipe.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// What a host writes in one line are several messages for the shim, too: each of its requests gets an answer.
func TestABatchAndAByteOrderMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := begin(t)
		first := <-daemons
		host.send("\ufeff" + initialize)
		first.want(initialize)
		first.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		host.want(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		const call, list = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		host.send("[" + call + ", " + list + "]")
		first.want(call)
		first.want(list)
		if err := first.pipe.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := host.lines.ReadString('\n'); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":`) {
			t.Errorf("the call got %s (%v)", got, err)
		}
		second := <-daemons
		second.want(`{"id":"assent-shim-1","jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		second.send(`{"jsonrpc":"2.0","id":"assent-shim-1","result":{}}`)
		second.want(initialized)
		second.want(list)
		if err := host.pipe.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestADaemonThatGoesBeforeTheHandshake sends the host's own lines again.
func TestADaemonThatGoesBeforeTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := begin(t)
		first := <-daemons
		host.send(initialize)
		first.want(initialize)
		_ = first.pipe.Close()
		second := <-daemons
		second.want(initialize)
		second.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		host.want(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		_ = host.pipe.Close()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestNoDaemonToBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, pipe := net.Pipe()
		defer host.Close()
		none := errors.New("the disk is full")
		err := shim.Run(t.Context(), pipe, pipe, shim.Options{
			Dial: func(context.Context) (io.ReadWriteCloser, error) { return nil, none }, Log: zerolog.Nop(),
		})
		if !errors.Is(err, none) {
			t.Errorf("Run: %v", err)
		}
		_ = pipe.Close()
	})
}

// TestADaemonThatAlwaysEnds checks that the shim gives up.
func TestADaemonThatAlwaysEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := begin(t)
		for {
			select {
			case daemon := <-daemons:
				_ = daemon.pipe.Close()
				continue
			case err := <-ended:
				if !errors.Is(err, io.EOF) {
					t.Errorf("Run: %v", err)
				}
			}
			break
		}
		_ = host.pipe.Close()
	})
}

// endless is a host that sends a line without an end, and counts the bytes that were read.
type endless struct{ left, most int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	e.left -= n
	e.most = max(e.most, len(p))
	for i := range p[:n] {
		p[i] = 'x'
	}
	if e.left == 0 {
		p[n-1] = '\n'
	}
	return n, nil
}

// A line that is too long is answered, and not kept: the shim never asks for more than a small part of it.
func TestALineThatIsTooLong(t *testing.T) {
	for _, length := range []int{100, 101, 5000, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			daemon, connection := net.Pipe()
			got := make(chan string, 10)
			go func() {
				lines := bufio.NewScanner(daemon)
				lines.Buffer(nil, 2<<20)
				for lines.Scan() {
					got <- "daemon " + lines.Text()[:1]
				}
			}()
			in, host := net.Pipe()
			go func() {
				lines := bufio.NewScanner(in)
				for lines.Scan() {
					got <- "host " + lines.Text()
				}
			}()
			line := &endless{left: length + 1}
			err := shim.Run(t.Context(), line, host, shim.Options{
				MaxFrame: 101, Log: zerolog.Nop(),
				Dial: func(context.Context) (io.ReadWriteCloser, error) { return connection, nil },
			})
			if err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if length > 100 {
				if said := <-got; said != `host {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message has at most 101 bytes"}}` {
					t.Errorf("%d bytes: %s", length, said)
				}
			}
			if len(got) > 0 && length > 100 || line.most > 64<<10 {
				t.Errorf("%d bytes: %d more messages, and %d bytes at once", length, len(got), line.most)
			}
			_, _, _ = in.Close(), host.Close(), daemon.Close()
		})
	}
}
