package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestMain is a daemon that echoes, if the program is started as one: FOLDER, IDLE-TIME and GRACE follow. Grace
// is how long it waits for a leaving daemon.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "-be-a-daemon" {
		if err := beDaemon(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func beDaemon(folder, idle, leave string) error {
	idleTime, err := time.ParseDuration(idle)
	if err != nil {
		return err
	}
	o, err := optionsIn(folder)
	if err != nil {
		return err
	}
	if o.timeouts.leave, err = time.ParseDuration(leave); err != nil {
		return err
	}
	return Serve(context.Background(), ServeOptions{
		Options: o, Attach: echoOrCrash, IdleTime: idleTime, Ready: os.Stdout, Log: zerolog.New(NewLog(o.Address.Log)),
	})
}

func echoOrCrash(ctx context.Context, h Hello, conn net.Conn) error {
	if string(h.Params) == `"crash"` {
		done := make(chan struct{})
		go func() {
			defer close(done)
			panic("a crash on purpose") // not recovered
		}()
		<-done
	}
	return echo(ctx, h, conn)
}

func echo(ctx context.Context, _ Hello, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, err := io.Copy(conn, conn)
	return err
}

// optionsIn returns options for a daemon in a folder, of version 1.0.0, that cannot be started.
func optionsIn(folder string) (Options, error) {
	p, err := here()
	if err != nil {
		return Options{}, err
	}
	p.override = folder
	a, err := p.address()
	return Options{Address: a, Build: "1.0.0", Program: []string{filepath.Join(folder, "missing")}}, err
}

// testOptions returns options with a short path to a folder. The test ends its daemon.
func testOptions(t *testing.T) Options {
	t.Helper()
	folder, err := os.MkdirTemp("", "assent-daemon-")
	if err != nil {
		t.Fatal(err)
	}
	o, err := optionsIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, err := os.ReadFile(o.Address.Log)
			t.Logf("the log: %v\n%s", err, log)
		}
		if _, err := Kill(context.Background(), o); err != nil && !errors.Is(err, ErrNone) {
			t.Error(err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return o
}

// startable returns options with which this program is started as the daemon.
func startable(t *testing.T, idle time.Duration) Options {
	t.Helper()
	o := testOptions(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Program = []string{self, "-be-a-daemon", o.Address.Folder, idle.String(), "1m"}
	return o
}

// inProcess runs a daemon, and waits until it listens or has failed. Result gets the result of Serve.
func inProcess(t *testing.T, o ServeOptions) (result <-chan error, ready error) {
	t.Helper()
	if o.Attach == nil {
		o.Attach = echo
	}
	read, write := io.Pipe()
	o.Ready = write
	ctx, cancel := context.WithCancel(context.Background())
	done, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		done <- Serve(ctx, o)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return done, readReport(read)
}

func mustServe(t *testing.T, o ServeOptions) <-chan error {
	t.Helper()
	result, err := inProcess(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantEcho fails if a connection does not echo.
func wantEcho(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := echoes(conn); err != nil {
		t.Error(err)
	}
}

func echoes(conn net.Conn) error {
	if _, err := conn.Write([]byte("hello\n")); err != nil {
		return err
	}
	got := make([]byte, 6)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello\n" {
		return fmt.Errorf("%q came back, %w", got, err)
	}
	return nil
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, and should have %q", err, part)
		}
	}
}

func TestTheSecondDaemonLeavesAndTheFirstServes(t *testing.T) {
	o := testOptions(t)
	begun := make(chan struct{})
	mustServe(t, ServeOptions{Options: o, Begin: func() { close(begun) }})
	<-begun
	second := mustServe(t, ServeOptions{Options: o, Begin: func() { t.Error("the second daemon begins") }, Attach: func(context.Context, Hello, net.Conn) error {
		t.Error("the second daemon has a client")
		return nil
	}})
	if err := <-second; err != nil {
		t.Errorf("the second daemon failed: %v", err)
	}
	conn, w, err := Dial(t.Context(), o)
	if err != nil || w.PID != os.Getpid() || w.Build != "1.0.0" || w.Protocol != Protocol {
		t.Fatalf("%+v, %v", w, err)
	}
	defer conn.Close()
	wantEcho(t, conn)
}

func TestStrangersAreRefused(t *testing.T) {
	o := testOptions(t)
	mustServe(t, ServeOptions{Options: o, Busy: func() string { return "a question is open" }})
	good, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	for _, tt := range []struct{ name, line, code, says string }{
		{"garbage", "GET / HTTP/1.1\r\n", CodeHello, "not a hello"},
		{"a flood", strings.Repeat("x", maxHello+1) + "\n", CodeHello, "longer than"},
		{"of another kind", `{"build":"1.0.0","protocol":1,"client":"robot"}`, CodeHello, "robot"},
		{"newer, of another protocol", `{"build":"999.0.0","protocol":2,"client":"frontEnd"}`, CodeOlder, "daemon stop"},
		{"of another protocol", `{"build":"1.0.0","protocol":-1,"client":"frontEnd"}`, CodeProtocol, "update Assent here"},
		{"of a wrong type", `{"build":1}`, CodeHello, "not a hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := connect(t.Context(), o.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var writing sync.WaitGroup
			writing.Go(func() { _, _ = io.WriteString(conn, tt.line+"\n") }) // the daemon may close before it has read everything
			p := &peer{conn, bufio.NewReader(conn)}
			var w Welcome
			if err := p.readLine(&w); err != nil {
				t.Fatal(err)
			}
			if w.OK || w.Error == nil || w.Error.Code != tt.code || !strings.Contains(w.Error.Message, tt.says) || w.Build != "1.0.0" {
				t.Errorf("the daemon said %+v %+v", w, w.Error)
			}
			writing.Wait()
			wantEcho(t, good)
		})
	}
	conn, err := connect(t.Context(), o.Address) // sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	wantEcho(t, other)
}

func TestAPanicCostsOneConnection(t *testing.T) {
	o := testOptions(t)
	var log strings.Builder
	var mu sync.Mutex
	mustServe(t, ServeOptions{
		Options: o, Log: zerolog.New(writerFunc(func(b []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return log.Write(b)
		})),
		Attach: func(ctx context.Context, h Hello, conn net.Conn) error {
			if string(h.Params) == `"panic"` {
				panic("on purpose")
			}
			return echo(ctx, h, conn)
		},
	})
	good, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	o.Params = json.RawMessage(`"panic"`)
	bad, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	if _, err := bad.Read(make([]byte, 1)); err == nil {
		t.Error("the connection of the panic goes on")
	}
	wantEcho(t, good)
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(log.String(), "on purpose") || !strings.Contains(log.String(), "serve_test.go") {
		t.Errorf("the log does not tell of the panic and its place: %s", &log)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestStatusAndStop(t *testing.T) {
	o := testOptions(t)
	if _, err := StatusOf(t.Context(), o); !errors.Is(err, ErrNone) {
		t.Errorf("before the start: %v", err)
	}
	if _, err := Stop(t.Context(), o, func(string) {}); !errors.Is(err, ErrNone) {
		t.Errorf("Stop before the start: %v", err)
	}
	if _, err := Kill(t.Context(), o); !errors.Is(err, ErrNone) {
		t.Errorf("Kill before the start: %v", err)
	}
	attached, released := make(chan struct{}), make(chan struct{})
	result := mustServe(t, ServeOptions{
		Options: o, Busy: func() string { return "a question is open" },
		Attach: func(ctx context.Context, _ Hello, _ net.Conn) error {
			close(attached)
			<-ctx.Done()
			close(released)
			return nil
		},
	})
	conn, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	<-attached
	status, err := StatusOf(t.Context(), o)
	if err != nil || status.PID != os.Getpid() || status.Build != "1.0.0" || status.Busy != "a question is open" || status.Since.IsZero() ||
		len(status.Attached) != 1 || status.Attached[0].PID != os.Getpid() || status.Attached[0].Client != FrontEnd || status.Log != o.Address.Log ||
		status.Goroutines < 2 {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if status, err := Stop(t.Context(), o, func(string) {}); err != nil || status.PID != os.Getpid() {
		t.Errorf("Stop: %+v, %v", status, err)
	}
	<-released
	if err := <-result; err != nil {
		t.Errorf("the daemon failed: %v", err)
	}
	if held, err := taken(o.Address); held || err != nil {
		t.Errorf("after Stop, the instance lock is taken: %v, %v", held, err)
	}
}

func TestADaemonThatHangs(t *testing.T) {
	o := testOptions(t)
	o.timeouts = timeouts{hello: 20 * time.Millisecond, launch: time.Minute, start: time.Minute, leave: 20 * time.Millisecond, moment: 20 * time.Millisecond}
	instance, releaseStart, err := becomeInstance(t.Context(), o)
	if err := errors.Join(err, releaseStart()); err != nil {
		t.Fatal(err)
	}
	listener, err := listen(o.Address) // its connections are not accepted
	if err != nil {
		t.Fatal(err)
	}
	who := fmt.Sprintf("process %d, Assent 1.0.0", os.Getpid())
	_, _, err = Dial(t.Context(), o)
	wantError(t, err, who, "does not answer", "assent daemon stop --force")
	_, err = StatusOf(t.Context(), o)
	wantError(t, err, who)
	_, err = Stop(t.Context(), o, func(string) {})
	wantError(t, err, who)
	_, err = inProcess(t, ServeOptions{Options: o})
	wantError(t, err, who)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Stop(t.Context(), o, func(string) {}) // it holds the lock, without a socket
	wantError(t, err, who)
	_, err = StatusOf(t.Context(), o)
	wantError(t, err, who)
	_, err = inProcess(t, ServeOptions{Options: o})
	wantError(t, err, who)
	if err := instance.leave(); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersOfOtherPrograms(t *testing.T) {
	for _, tt := range []struct{ name, line, says string }{
		{"another program", "220 ready\n", "is not Assent's daemon"},
		{"JSON of another program", "{}\n", "is not Assent's daemon"},
		{"one that ends", "", "start the daemon"}, // not a daemon, and cannot be started here
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t)
			if err := keepPrivate(o.Address.Folder); err != nil {
				t.Fatal(err)
			}
			listener, err := listen(o.Address)
			if err != nil {
				t.Fatal(err)
			}
			var serving sync.WaitGroup
			serving.Go(func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					_, _ = bufio.NewReader(conn).ReadString('\n')
					_, _ = io.WriteString(conn, tt.line)
					_ = conn.Close()
				}
			})
			_, _, err = Dial(t.Context(), o)
			wantError(t, err, tt.says)
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
			serving.Wait()
		})
	}
}

func TestKillEndsOnlyWhatIsProven(t *testing.T) {
	o := testOptions(t)
	o.timeouts.moment = time.Millisecond
	instance, releaseStart, err := becomeInstance(t.Context(), o)
	if err := errors.Join(err, releaseStart()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := instance.leave(); err != nil {
			t.Error(err)
		}
	}()
	h, err := readHolder(o.Address)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*holder){
		"another start": func(h *holder) { h.Start += "0" },
		"another boot":  func(h *holder) { h.Boot += "x" },
		"no start":      func(h *holder) { h.Start = "" },
		"an ended one":  func(h *holder) { h.PID = 1 << 30 },
	} {
		changed := h
		change(&changed)
		data, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.Address.Holder, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Kill(t.Context(), o) // would kill this process without the check
		if err == nil || !strings.Contains(err.Error(), "none was ended") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
