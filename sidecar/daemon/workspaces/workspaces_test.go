package workspaces_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"assent/protocol"
	"assent/sidecar/daemon/workspaces"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/workspace/rpc"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		panic(err)
	}
	os.Exit(code)
}

// visitor is a front end that is attached to a workspace of a set.
type visitor struct {
	protocol.Sidecar
	conn   *rpc.Conn
	served chan error
	// others gets a value after the asks of other workspaces changed.
	others chan struct{}
}

func visit(t *testing.T, s *workspaces.Set, dir string) *visitor {
	t.Helper()
	return visitAs(t, s, workspaces.Place{DataDir: dir}, false)
}

func visitAs(t *testing.T, s *workspaces.Set, place workspaces.Place, passing bool) *visitor {
	t.Helper()
	return visitWith(t, s, place, passing, protocol.Configuration{})
}

func visitWith(t *testing.T, s *workspaces.Set, place workspaces.Place, passing bool, c protocol.Configuration) *visitor {
	t.Helper()
	ours, theirs := net.Pipe()
	v := &visitor{served: make(chan error, 1), others: make(chan struct{}, 1)}
	go func() { v.served <- s.Attach(context.Background(), place, theirs) }()
	v.conn = rpc.New(context.Background(), ours, ours, rpc.Options{
		Serve: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
			if method == "ask/othersChanged" {
				select {
				case v.others <- struct{}{}:
				default:
				}
			}
			return struct{}{}, nil
		},
		Peer: "the workspace",
	})
	v.Sidecar = protocol.NewSidecarClient(v.conn)
	if _, err := v.Initialize(context.Background(), &protocol.InitializeParams{
		ProtocolVersion: protocol.Version, ClientInfo: protocol.Implementation{Name: "a test", Version: "1"},
		Capabilities: protocol.FrontEndCapabilities{Elicitation: true}, Transient: passing, Configuration: c,
	}); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *visitor) leave(t *testing.T) {
	t.Helper()
	if err := v.conn.Close(); err != nil {
		t.Error(err)
	}
	if err := <-v.served; err != nil {
		t.Errorf("Attach = %v", err)
	}
}

func (v *visitor) titles(t *testing.T) string {
	t.Helper()
	list, err := v.ListTasks(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range list.Tasks {
		all = append(all, task.Title)
	}
	return strings.Join(all, " ")
}

func (v *visitor) create(t *testing.T, title string) {
	t.Helper()
	if _, err := v.CreateTask(context.Background(), &protocol.CreateTaskParams{Title: title}); err != nil {
		t.Fatal(err)
	}
}

func TestADataFolderIsOneWorkspace(t *testing.T) {
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	dir, other := t.TempDir(), t.TempDir()
	a, b, c := visit(t, s, dir), visit(t, s, dir+"/"), visit(t, s, other)
	a.create(t, "ours")
	if got := b.titles(t); got != "ours" {
		t.Errorf("the other window of the folder has the tasks %q", got)
	}
	if got := c.titles(t); got != "" {
		t.Errorf("another workspace has the tasks %q", got)
	}
	for _, v := range []*visitor{a, b, c} {
		v.leave(t)
	}
	s.Close()
	if err := s.Attach(context.Background(), workspaces.Place{DataDir: dir}, nil); err == nil {
		t.Error("a closed set attached a front end")
	}
}

func TestARelativeDataFolderIsRefused(t *testing.T) {
	s := workspaces.New(workspaces.Options{Log: io.Discard})
	defer s.Close()
	if err := s.Attach(context.Background(), workspaces.Place{DataDir: "data"}, nil); err == nil || !strings.Contains(err.Error(), `"data"`) {
		t.Errorf("Attach = %v", err)
	}
}

func TestAnIdleWorkspaceIsClosed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: &log})
		v := visit(t, s, dir)
		v.create(t, "kept")
		v.leave(t)
		time.Sleep(workspaces.DefaultIdleTime - time.Second)
		v = visit(t, s, dir) // in time
		time.Sleep(2 * time.Second)
		if got := v.titles(t); got != "kept" {
			t.Errorf("the tasks are %q", got)
		}
		v.leave(t)
		time.Sleep(workspaces.DefaultIdleTime + time.Second)
		synctest.Wait()
		if got := s.Open(); got != 0 {
			t.Errorf("after the idle time, %d workspaces are open", got)
		}
		v = visit(t, s, dir)
		if got := v.titles(t); got != "kept" {
			t.Errorf("opened again, the workspace has the tasks %q", got)
		}
		v.leave(t)
		s.Close()
	})
}

func TestAWindowWithAnotherEnvironmentStartsServersInIt(t *testing.T) {
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	defer s.Close()
	dir := t.TempDir()
	c := protocol.Configuration{Servers: json.RawMessage(`{"s":{"command":"${env:PROGRAM}"}}`)}
	start := func(v *visitor, want string) {
		t.Helper()
		if _, err := v.StartServer(context.Background(), &protocol.ServerParams{ServerName: "s"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the server was started in another environment: %v, want %q", err, want)
		}
	}
	window := func(environ ...string) *visitor {
		return visitWith(t, s, workspaces.Place{DataDir: dir, Environ: environ}, false, c)
	}
	first := window("PROGRAM=/nowhere/one", "VSCODE_PID=1")
	start(first, "/nowhere/one")
	beside := window("PROGRAM=/nowhere/two")
	start(beside, "/nowhere/one") // it does not end the servers of the first window
	first.leave(t)
	beside.leave(t)
	after := window("PROGRAM=/nowhere/two", "VSCODE_PID=2")
	start(after, "/nowhere/two")
	after.leave(t)
	command := visitWith(t, s, workspaces.Place{DataDir: dir, Folder: dir, Environ: []string{"PROGRAM=/nowhere/three"}}, true, c)
	start(command, "/nowhere/three")
	command.leave(t)
}

// A host over HTTP has its session as long as it is not idle for too long: neither time nor another host ends it.
func TestAWorkspaceWithASessionOverHTTPStaysOpen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: io.Discard})
		session := ""
		send := func(body string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session}}
			w := httptest.NewRecorder()
			s.ServeHost(w, r, workspaces.Place{DataDir: dir}, "token", hosts.Use{})
			session = w.Result().Header.Get("Mcp-Session-Id") + session
			return w.Code
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		time.Sleep(mcpserver.DefaultIdleTime - time.Second)
		visitWith(t, s, workspaces.Place{DataDir: dir, Environ: []string{"PATH=/another"}}, true, protocol.Configuration{}).leave(t)
		if got := send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); got != http.StatusOK {
			t.Errorf("after another front end, the session answers %d", got)
		}
		time.Sleep(mcpserver.DefaultIdleTime + workspaces.DefaultIdleTime + time.Second)
		synctest.Wait()
		if got := s.Open(); got != 0 {
			t.Errorf("after the session, %d workspaces are open", got)
		}
		s.Close()
	})
}

func TestAWorkspaceInWhichSomethingGoesOnStaysOpen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: io.Discard, IdleTime: time.Millisecond})
		v := visit(t, s, dir)
		task, err := v.CreateTask(context.Background(), &protocol.CreateTaskParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.SendChat(context.Background(), &protocol.SendChatParams{TaskID: task.ID, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		v.leave(t)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if open, busy := s.Open(), s.Busy(); open != 1 || busy != "a model is at work" {
			t.Errorf("while the model writes, %d workspaces are open, and busy is %q", open, busy)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if open, busy := s.Open(), s.Busy(); open != 0 || busy != "" {
			t.Errorf("after the model has ended, %d workspaces are open, and busy is %q", open, busy)
		}
		s.Close()
	})
}

func TestAWorkspaceWithChangesThatAreNotSavedStaysOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: io.Discard})
		v := visit(t, s, dir)
		v.create(t, "kept")
		if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil { // it cannot be written again
			t.Fatal(err)
		}
		v.create(t, "owed")
		v.leave(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		if open, busy := s.Open(), s.Busy(); open != 1 || busy != "changes are not saved" {
			t.Errorf("while the disk fails, %d workspaces are open, and busy is %q", open, busy)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if open, busy := s.Open(), s.Busy(); open != 0 || busy != "" {
			t.Errorf("once all is saved, %d workspaces are open, and busy is %q", open, busy)
		}
		v = visit(t, s, dir)
		if got := v.titles(t); got != "owed kept" {
			t.Errorf("the tasks are %q", got)
		}
		v.leave(t)
		s.Close()
	})
}

// slowLog is a log that blocks at the first line with a word.
type slowLog struct {
	word          string
	once          sync.Once
	reached, free chan struct{}
}

func (l *slowLog) Write(line []byte) (int, error) {
	if strings.Contains(string(line), l.word) {
		l.once.Do(func() {
			close(l.reached)
			<-l.free
		})
	}
	return len(line), nil
}

func TestASlowWorkspaceHoldsUpNoOther(t *testing.T) {
	slow, quick := filepath.Join(t.TempDir(), "slow"), t.TempDir()
	log := &slowLog{word: "slow", reached: make(chan struct{}), free: make(chan struct{})}
	// The opening of a workspace logs an error if the folder for runs cannot be created.
	noFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(noFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := workspaces.New(workspaces.Options{Version: "test", Log: log, RunsDir: noFolder})
	visitors := make(chan *visitor, 2)
	come := func() { visitors <- visit(t, s, slow) }
	go come()
	<-log.reached
	go come() // waits for the same workspace at any time
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Attach(impatient, workspaces.Place{DataDir: slow}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait has %v", err)
	}
	v := visit(t, s, quick)
	v.create(t, "quick")
	if busy := s.Busy(); busy != "" {
		t.Errorf("busy is %q", busy)
	}
	v.leave(t)
	close(log.free)
	a, b := <-visitors, <-visitors
	a.create(t, "shared")
	if got := b.titles(t); got != "shared" {
		t.Errorf("who waited has the tasks %q", got)
	}
	a.leave(t)
	b.leave(t)
	s.Close()
}

// A task is locked while it is written to its disk.
func TestAWorkspaceThatWaitsForItsDiskHoldsUpNoOther(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	log := &slowLog{word: "storage failed", reached: make(chan struct{}), free: make(chan struct{})}
	s := workspaces.New(workspaces.Options{Version: "test", Log: log})
	a, b := visitAs(t, s, workspaces.Place{DataDir: slow}, true), visitAs(t, s, workspaces.Place{DataDir: slow}, true)
	task, err := a.CreateTask(context.Background(), &protocol.CreateTaskParams{})
	if err != nil {
		t.Fatal(err)
	}
	// The store is deleted, and cannot be written again.
	if err := os.RemoveAll(slow); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := a.RenameTask(context.Background(), &protocol.RenameTaskParams{TaskID: task.ID, Title: "Unsaved"}); err != nil {
			t.Error(err)
		}
	})
	<-log.reached
	quick := visit(t, s, t.TempDir())
	s.Hurry(time.Nanosecond)
	for range 2 { // the second finds the first one waiting
		if got, want := s.Busy(), `the workspace "no folder" does not answer`; !strings.Contains(got, want) {
			t.Errorf("Busy = %q, want it to say %q", got, want)
		}
	}
	list, err := quick.ListOpenAsks(context.Background())
	if err != nil || strings.Join(list.NotAnswering, ", ") != "no folder" {
		t.Errorf("ListOpenAsks = %+v, %v", list, err)
	}
	quick.create(t, "quick")
	close(log.free)
	<-quick.others // it answers by now
	waiting.Wait()
	s.Hurry(time.Hour)
	if list, err := quick.ListOpenAsks(context.Background()); err != nil || len(list.NotAnswering) > 0 {
		t.Errorf("once it answers, ListOpenAsks = %+v, %v", list, err)
	}
	if list, err := quick.ListMcpTasks(context.Background()); err != nil || len(list.NotAnswering) > 0 {
		t.Errorf("once it answers, ListMcpTasks = %+v, %v", list, err)
	}
	for _, v := range []*visitor{a, b, quick} {
		v.leave(t)
	}
	s.Close()
}

// A timer may expire just before a front end attaches, and its function may run after that front
// end has left.
func TestATimerOfAnEarlierRestClosesNothing(t *testing.T) {
	dir := t.TempDir()
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	defer s.Close()
	visit(t, s, dir).leave(t)
	visit(t, s, dir).leave(t)
	s.Rested(dir, 1)
	same := visit(t, s, dir) // would wait until it is closed
	if s.Rests(dir) != 2 {
		t.Error("the timer of the first rest closed the workspace in its second")
	}
	same.leave(t)
	s.Rested(dir, 3)
	again := visit(t, s, dir) // waits until it is closed
	if s.Rests(dir) != 0 {
		t.Error("the timer of the third rest did not close the workspace")
	}
	again.leave(t)
}

func TestAWorkspaceOfVisitorsIsClosedAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	defer s.Close()
	place := workspaces.Place{DataDir: dir}
	a, b := visitAs(t, s, place, true), visitAs(t, s, place, true)
	a.create(t, "kept")
	a.leave(t)
	if got := s.Open(); got != 1 {
		t.Errorf("with another visitor, %d workspaces are open", got)
	}
	b.leave(t) // waits
	if got := s.Open(); got != 0 {
		t.Errorf("after the last visitor, %d workspaces are open", got)
	}
	window := visit(t, s, dir)
	command := visitAs(t, s, place, true)
	if got := command.titles(t); got != "kept" {
		t.Errorf("the tasks are %q", got)
	}
	window.leave(t)
	command.leave(t)
	if got := s.Open(); got != 1 {
		t.Errorf("after a window that may come back, %d workspaces are open", got)
	}
}

func TestAWorkspaceOfAVisitorStaysOpenForWhatGoesOn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: io.Discard})
		v := visitAs(t, s, workspaces.Place{DataDir: dir}, true)
		task, err := v.CreateTask(context.Background(), &protocol.CreateTaskParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.SendChat(context.Background(), &protocol.SendChatParams{TaskID: task.ID, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		v.leave(t)
		if open, busy := s.Open(), s.Busy(); open != 1 || busy != "a model is at work" {
			t.Errorf("while the model writes, %d workspaces are open, and busy is %q", open, busy)
		}
		s.Close()
	})
}

func TestATemporaryFolderIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assent-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := workspaces.New(workspaces.Options{Version: "test", Unwatched: true, Log: io.Discard})
		v := visitAs(t, s, workspaces.Place{DataDir: dir, Temporary: true}, true)
		task, err := v.CreateTask(context.Background(), &protocol.CreateTaskParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.SendChat(context.Background(), &protocol.SendChatParams{TaskID: task.ID, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		v.leave(t) // while the model writes
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is there: %v", err)
		}
		s.Close()
	})
}

func TestAllNamesOfADataFolderAreOneWorkspace(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	defer s.Close()
	// The data folder does not exist yet.
	byLink, direct := filepath.Join(home, "link", "data"), filepath.Join(home, "real", "data")
	a, b := visit(t, s, byLink), visit(t, s, direct)
	a.create(t, "ours")
	c := visit(t, s, byLink) // by now it exists
	for _, v := range []*visitor{b, c} {
		if got := v.titles(t); got != "ours" {
			t.Errorf("by another name, the folder has the tasks %q", got)
		}
	}
	if got, want := (workspaces.Place{DataDir: byLink}).Name(), (workspaces.Place{DataDir: direct}).Name(); got != want {
		t.Errorf("in the log, the names are %q and %q", got, want)
	}
	for _, v := range []*visitor{a, b, c} {
		v.leave(t)
	}
}

func TestAForeignFolderIsNotTemporary(t *testing.T) {
	s := workspaces.New(workspaces.Options{Version: "test", Log: io.Discard})
	defer s.Close()
	home := t.TempDir()
	file := func(parts ...string) (dir string) {
		t.Helper()
		path := filepath.Join(append([]string{home}, parts...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	full, project := file("assent-full", "thesis.txt"), file("project", "thesis.txt")
	empty := filepath.Join(home, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "assent-link")
	if err := os.Symlink("empty", link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{full, project, empty, link, filepath.Join(home, "assent-none")} {
		err := s.Attach(t.Context(), workspaces.Place{DataDir: dir, Temporary: true}, nil)
		if err == nil {
			t.Errorf("%s is taken for a temporary folder", dir)
		}
	}
	for _, path := range []string{filepath.Join(full, "thesis.txt"), filepath.Join(project, "thesis.txt"), empty} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if got := s.Open(); got != 0 {
		t.Errorf("%d workspaces are open", got)
	}
	// A front end that does not want it removed can use it.
	visit(t, s, full).leave(t)
}
