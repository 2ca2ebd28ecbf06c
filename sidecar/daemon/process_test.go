package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFiftyClientsStartOneDaemon(t *testing.T) {
	o := startable(t, time.Hour)
	const clients = 50
	var mu sync.Mutex
	pids := map[int]int{}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			conn, w, err := Dial(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			wantEcho(t, conn)
			_ = conn.Close()
			mu.Lock()
			defer mu.Unlock()
			pids[w.PID]++
		})
	}
	all.Wait()
	if len(pids) != 1 {
		t.Errorf("the clients were served by %v, want one process", pids)
	}
}

// The launch lock is only an order between starters. The instance lock keeps daemons apart.
func TestManyDaemonsElectOne(t *testing.T) {
	o := startable(t, time.Hour)
	o.Program[4] = "1ms" // no daemon leaves here, so none is waited for
	for range 5 {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if err := o.start(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		before, err := StatusOf(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := Kill(t.Context(), o); err != nil || pid != before.PID {
			t.Fatalf("Kill() = %d, %v, want %d", pid, err, before.PID)
		}
	}
}

// A leaving daemon has no socket but holds the instance lock, so the next one waits for it.
func TestComingAsTheDaemonLeaves(t *testing.T) {
	o := startable(t, time.Hour)
	attached, leaving, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	result := mustServe(t, ServeOptions{Options: o, Attach: func(ctx context.Context, _ Hello, _ net.Conn) error {
		close(attached)
		<-ctx.Done()
		close(leaving)
		<-release
		return nil
	}})
	first, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	<-attached
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := Stop(t.Context(), o, func(string) {}); err != nil {
			t.Error(err)
		}
	})
	<-leaving
	all.Go(func() {
		if err := o.start(t.Context()); err != nil { // it waits for the instance lock, without the launch lock
			t.Error(err)
		}
	})
	for range 5 {
		all.Go(func() {
			conn, w, err := Dial(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			if w.PID == os.Getpid() {
				t.Error("the daemon that left served")
			}
			wantEcho(t, conn)
			_ = conn.Close()
		})
	}
	close(release)
	all.Wait()
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestANewDaemonAfterAKill(t *testing.T) {
	o := startable(t, time.Hour)
	var last int
	for range 5 {
		const clients = 10
		conns := make([]net.Conn, clients)
		var other atomic.Int64
		var all sync.WaitGroup
		var pids sync.Map
		for i := range conns {
			all.Go(func() {
				conn, w, err := Dial(t.Context(), o)
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = conn
				if _, seen := pids.LoadOrStore(w.PID, true); !seen {
					other.Add(1)
				}
			})
		}
		all.Wait()
		if t.Failed() || other.Load() != 1 {
			t.Fatalf("%d daemons served", other.Load())
		}
		pid, err := Kill(t.Context(), o) // leaves its socket behind
		if err != nil || pid == last {
			t.Fatalf("Kill() = %d, %v, after %d", pid, err, last)
		}
		last = pid
		for _, conn := range conns {
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("a killed daemon said something")
			}
			_ = conn.Close()
		}
	}
}

func TestTheLogTellsOfACrash(t *testing.T) {
	o := startable(t, time.Hour)
	o.Params = json.RawMessage(`"crash"`)
	conn, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the crashed daemon said something")
	}
	if lock, err := lockWithin(t.Context(), o.Address.Lock, time.Minute); err != nil || lock.Close() != nil { // it has ended
		t.Fatal(err)
	}
	log, err := os.ReadFile(o.Address.Log)
	if err != nil || !strings.Contains(string(log), "a crash on purpose") || !strings.Contains(string(log), "goroutine") {
		t.Errorf("the log is %s, %v", log, err)
	}
}

func TestADaemonWithoutItsFolder(t *testing.T) {
	o := startable(t, time.Hour)
	attached, release := make(chan struct{}), make(chan struct{})
	result := mustServe(t, ServeOptions{Options: o, Attach: func(ctx context.Context, _ Hello, _ net.Conn) error {
		close(attached)
		<-ctx.Done()
		<-release // it ends when the next one has started
		return nil
	}})
	window, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	<-attached
	if err := os.RemoveAll(o.Address.Folder); err != nil {
		t.Fatal(err)
	}
	conn, w, err := Dial(t.Context(), o)
	if err != nil || w.PID == os.Getpid() {
		t.Fatalf("%+v, %v", w, err)
	}
	defer conn.Close()
	wantEcho(t, conn)
	close(release)
	if err := <-result; err != nil {
		t.Error(err)
	}
	if _, err := window.Read(make([]byte, 1)); err == nil {
		t.Error("the daemon without a folder goes on")
	}
	if status, err := StatusOf(t.Context(), o); err != nil || status.PID != w.PID {
		t.Errorf("the status is %+v, %v", status, err)
	}
}

func TestStopDuringStarts(t *testing.T) {
	o := startable(t, time.Hour)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			conn, _, err := Dial(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		})
		all.Go(func() {
			if _, err := Stop(t.Context(), o, func(string) {}); err != nil && !errors.Is(err, ErrNone) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := Stop(t.Context(), o, func(string) {}); err != nil && !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := StatusOf(t.Context(), o); !errors.Is(err, ErrNone) {
		t.Errorf("in the end: %v", err)
	}
}

func TestWhyADaemonDoesNotStart(t *testing.T) {
	t.Run("no program", func(t *testing.T) {
		o := testOptions(t)
		_, _, err := Dial(t.Context(), o)
		wantError(t, err, "start the daemon", "missing")
	})
	t.Run("a program that is no daemon", func(t *testing.T) {
		o := startable(t, time.Hour)
		o.Program = []string{o.Program[0], "-test.run", "^$"}
		_, _, err := Dial(t.Context(), o)
		wantError(t, err, "start the daemon")
	})
	t.Run("a program that ends", func(t *testing.T) {
		o := startable(t, time.Hour)
		o.Program[3] = "no duration"
		_, _, err := Dial(t.Context(), o)
		wantError(t, err, "it ended at once", o.Address.Log)
	})
	t.Run("a folder in the socket's place", func(t *testing.T) {
		o := startable(t, time.Hour)
		if o.Address.SocketFolder == "" {
			return // a pipe is not in the file system
		}
		if err := os.Mkdir(o.Address.Socket, 0o700); err != nil {
			t.Fatal(err)
		}
		_, _, err := Dial(t.Context(), o)
		wantError(t, err, o.Address.Socket, "remove it")
	})
	t.Run("a file in the folder's place", func(t *testing.T) {
		o := startable(t, time.Hour)
		file := filepath.Join(o.Address.Folder, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		inFile, err := optionsIn(file)
		if err != nil {
			t.Fatal(err)
		}
		inFile.Program = o.Program
		inFile.Program[2] = file
		_, _, err = Dial(t.Context(), inFile)
		wantError(t, err, file, FolderVariable)
	})
}

// updatable runs a daemon of version 0.9.0 in this process, to which a window is attached. Options start 1.0.0.
func updatable(t *testing.T, busy func() string) (newer, old Options, window net.Conn) {
	t.Helper()
	newer = startable(t, time.Hour)
	old = newer
	old.Build, old.Program = "0.9.0", []string{"/missing"}
	mustServe(t, ServeOptions{Options: old, Busy: busy})
	window, _, err := Dial(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = window.Close() })
	wantEcho(t, window)
	return newer, old, window
}

func TestAnUpdate(t *testing.T) {
	newer, old, _ := updatable(t, func() string { return "" })
	conn, w, err := Dial(t.Context(), newer)
	if err != nil || w.Build != "1.0.0" || w.PID == os.Getpid() {
		t.Fatalf("%+v, %v", w, err)
	}
	wantEcho(t, conn)
	_ = conn.Close()
	// An older client is served, and nothing ends.
	conn, w, err = Dial(t.Context(), old)
	if err != nil || w.Build != "1.0.0" || w.Open != "" {
		t.Fatalf("the older client: %+v, %v", w, err)
	}
	wantEcho(t, conn)
	_ = conn.Close()
	if err := newer.update(t.Context()); err != nil { // it has no effect
		t.Error(err)
	}
	if status, err := StatusOf(t.Context(), newer); err != nil || status.PID != w.PID {
		t.Errorf("the new daemon is %+v, %v", status, err)
	}
}

func TestAnUpdateInTheMiddle(t *testing.T) {
	var open atomic.Value
	open.Store("a question is open")
	newer, old, window := updatable(t, func() string { return open.Load().(string) })
	// The older daemon keeps serving.
	conn, w, err := Dial(t.Context(), newer)
	if err != nil || w.Build != "0.9.0" || w.Open != "a question is open" {
		t.Fatalf("the newer client: %+v, %v", w, err)
	}
	defer conn.Close()
	wantEcho(t, conn)
	_, err = newer.stop(t.Context(), ReasonUpdate, func(string) {})
	if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Code != CodeBusy {
		t.Errorf("an update ended with %v", err)
	}
	wantError(t, err, "a question is open", "assent daemon stop", "0.9.0", "1.0.0")
	wantEcho(t, window)

	newer.timeouts.again = time.Millisecond
	updated := make(chan error, 1)
	go func() { updated <- Update(t.Context(), newer) }()
	open.Store("")
	if err := <-updated; err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the older daemon goes on")
	}
	next, w, err := Dial(t.Context(), old) // cannot start one
	if err != nil || w.Build != "1.0.0" {
		t.Fatalf("after the update: %+v, %v", w, err)
	}
	wantEcho(t, next)
	_ = next.Close()
}

func TestAnUpdateNow(t *testing.T) {
	newer, _, window := updatable(t, func() string { return "a question is open" })
	newer.Replace = true
	conn, w, err := Dial(t.Context(), newer)
	if err != nil || w.Build != "1.0.0" {
		t.Fatalf("%+v, %v", w, err)
	}
	wantEcho(t, conn)
	_ = conn.Close()
	if _, err := window.Read(make([]byte, 1)); err == nil {
		t.Error("the older daemon goes on")
	}
}

// While a newer client replaces the daemon, an older one does not start the older daemon again.
func TestAnOlderClientDuringAnUpdate(t *testing.T) {
	newer := startable(t, time.Hour) // starts 1.0.0
	older := newer
	older.Build, older.Program = "0.9.0", []string{"/missing"}
	attached, leaving, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	mustServe(t, ServeOptions{Options: older, Attach: func(ctx context.Context, _ Hello, _ net.Conn) error {
		close(attached)
		<-ctx.Done()
		close(leaving)
		<-release
		return nil
	}})
	window, _, err := Dial(t.Context(), older)
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	<-attached
	var all sync.WaitGroup
	for _, o := range []Options{newer, older, older} {
		all.Go(func() {
			conn, w, err := Dial(t.Context(), o)
			if err != nil || w.Build != "1.0.0" {
				t.Errorf("Assent %s met %+v, %v", o.Build, w, err)
				return
			}
			wantEcho(t, conn)
			_ = conn.Close()
		})
		<-leaving // the first client is replacing it
	}
	close(release)
	all.Wait()
}

// An update checks that the new version runs.
func TestAnUpdateThatStartsTheOldVersionAgain(t *testing.T) {
	o := startable(t, time.Hour) // always starts 1.0.0
	o.Build = "2.0.0"
	_, _, err := Dial(t.Context(), o)
	wantError(t, err, "does not serve", "older than Assent 2.0.0")
}
