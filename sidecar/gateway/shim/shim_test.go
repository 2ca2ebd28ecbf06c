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
	"time"

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

// A host may write several messages in one line. The shim answers each of its requests.
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

const buy = `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"buy"}}`

// A call that no daemon has read is sent to the next one.
func TestACallThatWaitsForADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := begin(t)
		first := <-daemons
		host.send(initialize)
		first.want(initialize)
		first.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		host.want(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		_ = first.pipe.Close()
		second := <-daemons
		second.want(`{"id":"assent-shim-1","jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		host.send(buy) // it waits for the end of the handshake
		synctest.Wait()
		_ = second.pipe.Close()
		third := <-daemons
		third.want(`{"id":"assent-shim-2","jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		third.send(`{"jsonrpc":"2.0","id":"assent-shim-2","result":{}}`)
		third.want(initialized)
		third.want(buy)
		_ = host.pipe.Close()
		_ = third.pipe.Close() // the call is not repeated for a host that has gone
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// gone is the connection to a daemon that has gone. Its end is not read before it is closed.
type gone struct{ net.Conn }

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestACallThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, pipe := net.Pipe()
		first, connection := net.Pipe()
		second, next := net.Pipe()
		connections := make(chan io.ReadWriteCloser, 2)
		connections <- gone{connection}
		connections <- next
		ended := make(chan error, 1)
		go func() {
			ended <- shim.Run(t.Context(), pipe, pipe, shim.Options{
				Dial: func(context.Context) (io.ReadWriteCloser, error) { return <-connections, nil }, Log: zerolog.Nop(),
			})
		}()
		newEnd(t, host).send(buy)
		synctest.Wait()
		_ = first.Close()
		daemon := newEnd(t, second)
		daemon.want(buy)
		daemon.send(`{"jsonrpc":"2.0","id":"c","result":{}}`)
		newEnd(t, host).want(`{"jsonrpc":"2.0","id":"c","result":{}}`)
		_ = host.Close()
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

// halves is a host that closes its two pipes one by one.
type halves struct {
	*end // reads what the shim writes
	in   net.Conn
}

func (h *halves) send(lines string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, lines); err != nil {
		h.t.Fatal(err)
	}
}

// beginHalves starts a shim with two pipes. Unread returns when the pipe from the shim is closed.
func beginHalves(t *testing.T, ctx context.Context) (host *halves, daemons <-chan *end, ended <-chan error) {
	t.Helper()
	in, fromHost := net.Pipe()
	out, toHost := net.Pipe()
	connections, done, unread := make(chan *end, 10), make(chan error, 1), make(chan struct{})
	out = &noticed{out, unread}
	go func() {
		done <- shim.Run(ctx, fromHost, toHost, shim.Options{
			Dial: func(context.Context) (io.ReadWriteCloser, error) {
				daemon, connection := net.Pipe()
				connections <- newEnd(t, daemon)
				return connection, nil
			},
			Unread: func(ctx context.Context) {
				select {
				case <-unread:
				case <-ctx.Done():
				}
			},
			Log: zerolog.Nop(),
		})
	}()
	return &halves{newEnd(t, out), in}, connections, done
}

// noticed is a pipe that tells when it is closed.
type noticed struct {
	net.Conn
	closed chan struct{}
}

func (n *noticed) Close() error {
	close(n.closed)
	return n.Conn.Close()
}

const (
	initializeResult = `{"jsonrpc":"2.0","id":0,"result":{}}`
	call             = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy"}}`
	callResult       = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	listen           = `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{}}}`
)

// People try a server with printf and a pipe: its input ends right behind the requests, and they want the answers.
func TestAHostThatSendsNoMoreGetsItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := beginHalves(t, t.Context())
		host.send(initialize + "\n" + listen + "\n" + call) // the last line has no end
		daemon := <-daemons
		for _, line := range []string{initialize, listen} {
			daemon.want(line)
		}
		daemon.send(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
		host.want(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
		_ = host.in.Close()

		// What the host was asked, and is asked now, has an answer: it cannot give one.
		const cannot = `"error":{"code":-32603,"message":"the host has closed its output and cannot answer"}}`
		daemon.want(call)
		daemon.want(`{"jsonrpc":"2.0","id":7,` + cannot)
		daemon.send(`{"jsonrpc":"2.0","id":8,"method":"elicitation/create"}`)
		daemon.want(`{"jsonrpc":"2.0","id":8,` + cannot)
		daemon.send(initializeResult)
		host.want(initializeResult)
		daemon.send(callResult)
		host.want(callResult)
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		_ = host.pipe.Close()
	})
}

// What the daemon says of a message that it cannot read has the id null. It is an answer, too.
func TestAHostThatSendsNoMoreHearsOfItsInvalidMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := beginHalves(t, t.Context())
		host.send("hello\n")
		_ = host.in.Close()
		daemon := <-daemons
		daemon.want("hello")
		daemon.want(`{"jsonrpc":"2.0","id":"assent-shim-1","method":"ping"}`)
		const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON"}}`
		daemon.send(refusal)
		host.want(refusal)
		daemon.send(`{"jsonrpc":"2.0","id":"assent-shim-1","result":{}}`)
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		_ = host.pipe.Close()
	})
}

// A question to a person may be open for days. It does not keep the process of a host that sends no more for ever.
func TestAHostThatSendsNoMoreIsNotServedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := beginHalves(t, t.Context())
		host.send(call)
		began := time.Now()
		_ = host.in.Close()
		(<-daemons).want(call)
		host.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The input ended a minute ago, and Assent waits no longer. ` +
			`If this was a call of a tool, whether it did its work is not known."}}`)
		if err := <-ended; err != nil || time.Since(began) != time.Minute {
			t.Errorf("Run: %v, after %v", err, time.Since(began))
		}
		_ = host.pipe.Close()
	})
}

// A host that has died has closed both pipes, and its answers go nowhere.
func TestAHostThatReadsNoMoreHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := beginHalves(t, t.Context())
		host.send(call)
		_ = host.in.Close()
		daemon := <-daemons
		daemon.want(call)
		began := time.Now()
		_ = host.pipe.Close()
		if err := <-ended; err != nil || time.Since(began) != 0 {
			t.Errorf("Run: %v, after %v", err, time.Since(began))
		}
		if line, err := daemon.lines.ReadString('\n'); err == nil {
			t.Errorf("the daemon got %s", line)
		}
	})
}

// A host may close the pipe from the shim first. The shim does not take that for the daemon's end.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, daemons, ended := beginHalves(t, t.Context())
		host.send(initialize + "\n")
		daemon := <-daemons
		daemon.want(initialize)
		_ = host.pipe.Close()
		daemon.send(initializeResult)
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if len(daemons) > 0 {
			t.Error("the shim connected again")
		}
		_ = host.in.Close()
	})
}

// A host that does not read keeps a shim that is to end for a second.
func TestAHostThatDoesNotReadAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		host, daemons, ended := beginHalves(t, ctx)
		host.send(initialize + "\n")
		daemon := <-daemons
		daemon.want(initialize)
		daemon.send(initializeResult)
		synctest.Wait() // the shim writes
		began := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("Run: %v, after %v", err, time.Since(began))
		}
		_, _ = host.in.Close(), host.pipe.Close()
	})
}
