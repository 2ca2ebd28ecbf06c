package attach_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"assent/protocol"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/terminal/attach"
	"assent/sidecar/workspace/rpc/rpctest"
)

// editor is a front end that answers input prompts and ignores everything else.
type editor struct {
	protocol.FrontEnd // nil: other calls fail with an error
	prompt            func(context.Context, *protocol.PromptInputParams) (*protocol.PromptInputResult, error)
	failed            func(message string)
}

func (e editor) PromptInput(ctx context.Context, params *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
	return e.prompt(ctx, params)
}

func (e editor) StorageFailed(_ context.Context, params *protocol.StorageFailedParams) error {
	e.failed(params.Message)
	return nil
}

func (editor) ServerChanged(context.Context, *protocol.Server) error { return nil }

func (editor) ServersChanged(context.Context, *protocol.ServersChangedParams) error { return nil }

// attached is a workspace with one server, which cannot start without its input.
func attached(t *testing.T, e editor) *attach.Sidecar {
	t.Helper()
	before := goleak.IgnoreCurrent()
	program, err := os.Executable() // any existing program: it is never started
	if err != nil {
		t.Fatal(err)
	}
	open := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	ours, theirs := net.Pipe()
	served, data := make(chan error, 1), t.TempDir() // removed after the Cleanup below
	go func() {
		served <- open.Attach(context.Background(), workspaces.Place{DataDir: data}, theirs)
	}()
	s := attach.New(context.Background(), ours, e, zerolog.Nop())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Attach: %v", err)
		}
		open.Close()
		goleak.VerifyNone(t, before)
	})
	_, err = s.Initialize(context.Background(), &protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: "a test", Version: "1"},
		Capabilities:    protocol.FrontEndCapabilities{Inputs: true},
		Configuration: protocol.Configuration{
			Servers: json.RawMessage(fmt.Sprintf(`{"s": {"command": %q, "args": ["${input:i}"]}}`, program)),
			Inputs:  json.RawMessage(`[{"id": "i", "type": "promptString", "description": "An input"}]`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARefusalKeepsItsCode(t *testing.T) {
	s := attached(t, editor{})
	_, err := s.StartServer(context.Background(), &protocol.ServerParams{ServerName: "another"})
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Code == protocol.CodeInternalError || refusal.Message == "" {
		t.Errorf("got %#v", err)
	}
}

func TestACallThatIsCancelledReturns(t *testing.T) {
	asked := make(chan struct{})
	s := attached(t, editor{prompt: func(ctx context.Context, _ *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
		close(asked)
		<-ctx.Done() // Close ends a start that is under way
		return nil, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := s.StartServer(ctx, &protocol.ServerParams{ServerName: "s"})
		done <- err
	}()
	<-asked
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAPanicOfTheFrontEndIsAnError(t *testing.T) {
	s := attached(t, editor{prompt: func(context.Context, *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
		panic("this is only a test")
	}})
	if _, err := s.StartServer(context.Background(), &protocol.ServerParams{ServerName: "s"}); err == nil {
		t.Error("there is no error")
	}
	if list, err := s.ListServers(context.Background()); err != nil || len(list.Servers) != 1 {
		t.Errorf("afterwards: %v, %v", list, err)
	}
}

// TestCloseWaitsForTheOtherEnd uses a connection with directions that can be closed separately.
func TestCloseWaitsForTheOtherEnd(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, before)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var serving sync.WaitGroup
	serving.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
			t.Errorf("the other end read %q, %v", rest, err)
		}
		last := `{"jsonrpc":"2.0","method":"storage/failed","params":{"message":"a last word"}}`
		if _, err := io.WriteString(conn, rpctest.Frame(last)); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	heard := ""
	s := attach.New(t.Context(), conn, editor{failed: func(message string) { heard = message }}, zerolog.Nop())
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if heard != "a last word" {
		t.Errorf("when Close returned, the front end had heard %q", heard)
	}
	serving.Wait()
}

func TestCloseEndsWhatIsAsked(t *testing.T) {
	asked := make(chan struct{})
	s := attached(t, editor{prompt: func(ctx context.Context, _ *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	done := make(chan error, 1)
	go func() {
		_, err := s.StartServer(context.Background(), &protocol.ServerParams{ServerName: "s"})
		done <- err
	}()
	<-asked
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("the server was started")
	}
	if _, err := s.ListServers(context.Background()); err == nil {
		t.Error("a sidecar that has ended answers")
	}
}
