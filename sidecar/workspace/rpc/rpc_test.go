package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/workspace/rpc"
	"assent/sidecar/workspace/rpc/rpctest"
)

// serves is the handler of one end of a connection.
type serves = func(ctx context.Context, method string, params json.RawMessage) (any, error)

func nothing(context.Context, string, json.RawMessage) (any, error) {
	return nil, errors.New("nothing is served here")
}

// connect returns the two ends of a connection.
func connect(t testing.TB, left, right serves) (*rpc.Conn, *rpc.Conn) {
	t.Helper()
	a, b := net.Pipe()
	open := func(end net.Conn, serve serves) *rpc.Conn {
		c := rpc.New(t.Context(), end, end, rpc.Options{Serve: serve, Peer: "the peer", Log: zerolog.Nop()})
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		})
		return c
	}
	return open(a, left), open(b, right)
}

func TestParamsArriveAsTheyWereSent(t *testing.T) {
	const params = `{"z":1,"a":12345678901234567890,"b":{"y":[1.0,null],"x":"é"}}`
	got := make(chan string, 1)
	c, _ := connect(t, nothing, func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		got <- string(params)
		return json.RawMessage(`{"q":1,"b":2.50}`), nil
	})
	var result json.RawMessage
	if err := c.Call(t.Context(), "m", json.RawMessage(params), &result); err != nil {
		t.Fatal(err)
	}
	if got := <-got; got != params {
		t.Errorf("the params arrived as %s, want %s", got, params)
	}
	if want := `{"q":1,"b":2.50}`; string(result) != want {
		t.Errorf("the result arrived as %s, want %s", result, want)
	}
}

func TestAnErrorKeepsItsCodeAndItsData(t *testing.T) {
	problem := protocol.FieldProblem{Name: "nights", Message: "too many"}
	c, _ := connect(t, nothing, func(context.Context, string, json.RawMessage) (any, error) {
		err := protocol.Errorf(protocol.CodeInvalidAnswer, "it is not right")
		err.Data = protocol.InvalidAnswerData{Problems: []protocol.FieldProblem{problem}}
		return nil, err
	})
	err := c.Call(t.Context(), "m", struct{}{}, nil)
	var got *protocol.Error
	if !errors.As(err, &got) || got.Code != protocol.CodeInvalidAnswer {
		t.Fatalf("Call = %v", err)
	}
	if data, ok := got.Data.(protocol.InvalidAnswerData); !ok || len(data.Problems) != 1 || data.Problems[0] != problem {
		t.Errorf("its data are %+v", got.Data)
	}
}

func TestAPanicCostsOneRequest(t *testing.T) {
	c, _ := connect(t, nothing, func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		if method == "bad" {
			panic("oh")
		}
		return "well", nil
	})
	if err := c.Call(t.Context(), "bad", struct{}{}, nil); err == nil || !strings.Contains(err.Error(), "bad failed inside Assent") {
		t.Errorf("Call = %v", err)
	}
	var result string
	if err := c.Call(t.Context(), "good", struct{}{}, &result); err != nil || result != "well" {
		t.Errorf("Call = %q, %v", result, err)
	}
}

func TestARequestThatIsGivenUpIsCancelled(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	c, _ := connect(t, nothing, func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if err := c.Call(ctx, "m", struct{}{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Call = %v", err)
	}
	<-ended
}

// TestMessagesToABusyPeerStayInOrder sends more than the buffer holds, and large messages among small ones.
func TestMessagesToABusyPeerStayInOrder(t *testing.T) {
	const speakers, each = 8, 200
	filler := func(number int) string {
		if number == 100 {
			return strings.Repeat("y", 3<<19)
		}
		return strings.Repeat("x", 2000)
	}
	free := make(chan struct{})
	next := map[int]int{}
	var heard sync.WaitGroup
	heard.Add(speakers * each)
	c, _ := connect(t, nothing, func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		<-free
		var said struct {
			Speaker, Number int
			Filler          string
		}
		if err := json.Unmarshal(params, &said); err != nil {
			t.Error(err)
		}
		if said.Number != next[said.Speaker] {
			t.Errorf("speaker %d said %d, want %d", said.Speaker, said.Number, next[said.Speaker])
		}
		if said.Filler != filler(said.Number) {
			t.Errorf("the message %d has another filler, of %d bytes", said.Number, len(said.Filler))
		}
		next[said.Speaker]++
		heard.Done()
		return nil, nil
	})
	var speaking sync.WaitGroup
	for speaker := range speakers {
		speaking.Go(func() {
			for number := range each {
				params := struct {
					Speaker, Number int
					Filler          string
				}{speaker, number, filler(number)}
				if err := c.Notify(t.Context(), "said", params); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(free)
	speaking.Wait()
	heard.Wait()
}

func TestMessagesBeforeTheEndArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c := rpc.New(t.Context(), a, a, rpc.Options{Serve: nothing, Peer: "the peer", Log: zerolog.Nop()})
		go func() { _ = c.Notify(t.Context(), "first", nil) }()
		synctest.Wait() // the write blocks, because the peer does not read
		if err := c.Notify(t.Context(), "second", nil); err != nil {
			t.Fatal(err)
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		synctest.Wait()
		all, err := io.ReadAll(bufio.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		frame := func(method string) string {
			return rpctest.Frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
		}
		if want := frame("first") + frame("second"); string(all) != want {
			t.Errorf("there arrived %q, want %q", all, want)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close = %v", err)
		}
	})
}

func TestAPeerThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		c := rpc.New(t.Context(), a, a, rpc.Options{Serve: nothing, Peer: "the peer", Log: zerolog.Nop()})
		if err := c.Notify(t.Context(), "first", nil); err != nil {
			t.Errorf("Notify = %v", err)
		}
		synctest.Wait() // the write blocks, because the peer does not read
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("the end took %v", took)
		}
		if err := c.Notify(t.Context(), "second", nil); err == nil || err.Error() != "the peer has ended" {
			t.Errorf("Notify = %v", err)
		}
	})
}

func TestACallThatFailsByTheEndFailsAfterIt(t *testing.T) {
	for range 2000 {
		a, b := net.Pipe()
		c := rpc.New(t.Context(), a, a, rpc.Options{Serve: nothing, Peer: "the peer", Log: zerolog.Nop()})
		over := make(chan bool, 1)
		go func() {
			_ = c.Call(t.Context(), "m", nil, nil)
			select {
			case <-c.Done():
				over <- true
			default:
				over <- false
			}
		}()
		if _, err := b.Read(make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if !<-over {
			t.Error("a call failed before Done was closed")
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACallThatFailsByTheBacklogFailsAfterTheEnd(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			defer b.Close()
			c := rpc.New(t.Context(), a, a, rpc.Options{Serve: nothing, MaxBacklog: 1, Peer: "the peer", Log: zerolog.Nop()})
			for c.Notify(t.Context(), "m", nil) == nil {
				time.Sleep(time.Second)
			}
			if err := c.Call(t.Context(), "m", nil, nil); err == nil {
				t.Error("a peer that does not read was asked")
			}
			select {
			case <-c.Done():
			default:
				t.Error("a call failed before Done was closed")
			}
			if err := c.Close(); err == nil || !strings.Contains(err.Error(), "the peer does not read") {
				t.Errorf("Close = %v", err)
			}
		})
	}
}

// TestAPeerIsJudgedByItsProgress sends a frame as great as a server's greatest between small ones.
func TestAPeerIsJudgedByItsProgress(t *testing.T) {
	const most, great = 8 << 20, 15 << 20
	for _, tt := range []struct {
		name string
		// pause is before each read of so many bytes. The peer reads no more after so many reads; 0 means all.
		pause time.Duration
		bytes int
		reads int
		size  int // of the great frame
		stays bool
	}{
		{"it reads all the time", 0, 64 << 10, 0, great, true},
		{"it reads a little now and then", time.Second, 64 << 10, 0, great, true},
		{"it is busy for some seconds", 9 * time.Second, 1 << 20, 0, great, true},
		{"it never reads", 0, 1, 1, great, false},
		{"it stops in the middle", time.Second, 64 << 10, 20, great, false},
		{"it never reads, and little waits", time.Second, 1, 1, 1 << 20, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				c := rpc.New(t.Context(), ours, ours, rpc.Options{Serve: nothing, MaxBacklog: most, Peer: "the peer", Log: zerolog.Nop()})
				read := make(chan int, 1)
				go func() {
					all, buffer := 0, make([]byte, tt.bytes)
					for reads := 0; tt.reads == 0 || reads < tt.reads; reads++ {
						time.Sleep(tt.pause)
						n, err := theirs.Read(buffer)
						all += n
						if err != nil {
							break
						}
					}
					read <- all
				}()
				sent := 0
				for i := range 20 {
					params := `"small"`
					if i == 10 {
						params = `"` + strings.Repeat("x", tt.size) + `"`
					}
					if err := c.Notify(t.Context(), "m", json.RawMessage(params)); err != nil {
						t.Fatalf("message %d: %v", i, err)
					}
					sent += len(rpctest.Frame(`{"jsonrpc":"2.0","method":"m","params":` + params + `}`))
				}
				time.Sleep(time.Hour)
				select {
				case <-c.Done():
					if tt.stays {
						t.Error("the connection was ended")
					}
				default:
					if !tt.stays {
						t.Error("the connection goes on")
					}
				}
				err := c.Close()
				if isEnded := err != nil && strings.Contains(err.Error(), "the peer does not read"); isEnded == tt.stays {
					t.Errorf("Close = %v", err)
				}
				_ = theirs.Close()
				if all := <-read; tt.reads == 0 && all != sent {
					t.Errorf("%d bytes arrived, want %d", all, sent)
				}
			})
		})
	}
}

// TestNothingIsServedAfterTheEnd ends the connection during a notification, with a second one in the buffer.
func TestNothingIsServedAfterTheEnd(t *testing.T) {
	for _, request := range []string{`{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","id":1,"method":"m"}`} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			a, b := net.Pipe()
			defer b.Close()
			served, goOn := 0, make(chan struct{})
			c := rpc.New(ctx, a, a, rpc.Options{
				Serve: func(context.Context, string, json.RawMessage) (any, error) {
					served++
					<-goOn
					return nil, nil
				},
				InOrder: []string{"m"}, Peer: "the peer", Log: zerolog.Nop(),
			})
			frame := rpctest.Frame(request)
			if _, err := io.WriteString(b, frame+frame); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			end()
			closed := make(chan error, 1)
			go func() { closed <- c.Close() }()
			synctest.Wait()
			select {
			case err := <-closed:
				t.Errorf("%s: Close = %v while it is being served", request, err)
				closed <- err
			default:
			}
			close(goOn)
			if err := <-closed; err != nil {
				t.Errorf("Close = %v", err)
			}
			synctest.Wait()
			if served != 1 {
				t.Errorf("%s: %d were served, want the first alone", request, served)
			}
		})
	}
}

// FuzzFrames sends each line as a frame. The next frame is always served, and each batch is refused.
func FuzzFrames(f *testing.F) {
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"m"}]` + "\n" + `{"jsonrpc":"2.0","id":2,"result":{}}`)
	f.Add(`[{"id":1,"method":"m"},{"id":2,"error":{}}]` + "\n" + `{"id":"x","error":{"code":1,"message":"m"}}`)
	f.Add(` [{"id":1,"result":null}]` + "\n[]\n" + `{"id":1,"method":"m"}`)
	f.Add(`{"id":{},"result":1}` + "\n" + `{"method":"m","error":null}` + "\n" + `{"id":1,"method":"m","result":1}`)
	f.Add(`{"method":"$/cancelRequest","params":{"id":1}}` + "\n[[]]\nnull\n1")
	f.Fuzz(func(t *testing.T, text string) {
		const last = `{"jsonrpc":"2.0","id":"the last","method":"the last"}`
		in, frames := "", strings.Split(text, "\n")
		for _, frame := range append(frames, last) {
			in += rpctest.Frame(frame)
		}
		served := make(chan struct{})
		var once sync.Once
		serve := func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "the last" {
				once.Do(func() { close(served) })
			}
			return nil, nil
		}
		var out bytes.Buffer
		// The last frame is served before the end of the input is read.
		c := rpc.New(t.Context(), strings.NewReader(in), &out, rpc.Options{
			Serve: serve, InOrder: []string{"the last"}, Peer: "the peer", Log: zerolog.Nop(),
		})
		<-c.Done()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-served:
		default:
			t.Error("the last frame was not served")
		}
		batches := 0
		for _, frame := range frames {
			if trimmed := strings.TrimSpace(frame); strings.HasPrefix(trimmed, "[") && json.Valid([]byte(frame)) {
				batches++
			}
		}
		if got := strings.Count(out.String(), "batches are not supported"); got < batches {
			t.Errorf("%d of %d batches were refused", got, batches)
		}
	})
}

// asked is an event of the size of an ask.
var asked = protocol.TaskEventParams{
	TaskID: "a-task",
	Event: protocol.MessageAdded{Message: protocol.Message{ID: 7, Time: 1, Body: protocol.Notice{
		Level: protocol.NoticeInfo, Text: strings.Repeat("what a server asks. ", 10),
	}}},
}

func BenchmarkNotify(b *testing.B) {
	c := rpc.New(b.Context(), blocked{b.Context()}, io.Discard, rpc.Options{Serve: nothing, Peer: "the peer", Log: zerolog.Nop()})
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Notify(b.Context(), "task/event", asked); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	answer := json.RawMessage(`{"taskId":"a-task","askId":12,"answer":{"type":"accept","content":{"format":"json","indent":2}}}`)
	c, _ := connect(b, nothing, func(_ context.Context, _ string, params json.RawMessage) (any, error) { return nil, nil })
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Call(b.Context(), "askResponse", answer, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// blocked is a reader that blocks until its context ends.
type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, io.EOF
}

// slowConn is a connection with a slow Close, which the test controls.
type slowConn struct {
	net.Conn
	goOn chan struct{}
}

func (c slowConn) Close() error {
	<-c.goOn
	return c.Conn.Close()
}

func TestCloseReturnsWhenTheConnectionIsClosedAlsoIfThePeerWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		slow := slowConn{a, make(chan struct{})}
		c := rpc.New(t.Context(), slow, io.Discard, rpc.Options{Serve: nothing, Peer: "the peer", Log: zerolog.Nop()})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("Close = %v before the connection was closed", err)
		default:
		}
		close(slow.goOn)
		if err := <-closed; err != nil {
			t.Errorf("Close = %v", err)
		}
	})
}
