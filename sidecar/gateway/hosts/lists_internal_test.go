package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/hub"
)

// fakeServer is a server with lists that a test changes.
type fakeServer struct {
	identity string
	tools    string
	err      error
	stopped  bool
	reads    int
}

func (f *fakeServer) Identity(string) (identity, command string) {
	return f.identity, ""
}

func (f *fakeServer) IsRunning(string) bool { return !f.stopped }

func (f *fakeServer) Introduction(context.Context, string) (hub.Introduction, error) {
	f.reads++
	return hub.Introduction{Info: json.RawMessage(`{"name":"s"}`), Instructions: json.RawMessage(`"` + f.identity + `"`)}, f.err
}

func (f *fakeServer) Pages(context.Context, string, protocol.ListKind) ([]json.RawMessage, error) {
	f.reads++
	return []json.RawMessage{json.RawMessage(f.tools)}, f.err
}

func TestListsForHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{identity: "1", tools: `["a", "<é>"]`}
		path := filepath.Join(t.TempDir(), "lists.json")
		var changed []string
		open := func() *serverLists {
			return newLists(path, s, func(server, list string) { changed = append(changed, server+" "+list) }, zerolog.New(zerolog.NewTestWriter(t)))
		}
		l := open()
		want := func(step, tools string, reads int, changes ...string) {
			t.Helper()
			pages, err := l.list(t.Context(), "s", "tools", 0)
			if err != nil || string(pages[0]) != tools {
				t.Errorf("%s: got %s, %v, want %s", step, pages, err, tools)
			}
			synctest.Wait()
			if s.reads != reads {
				t.Errorf("%s: the server was asked %d times, want %d", step, s.reads, reads)
			}
			if len(changed) != len(changes) {
				t.Errorf("%s: announced were %q, want %q", step, changed, changes)
			}
			s.reads, changed = 0, nil
		}
		want("the first time", `["a", "<é>"]`, 1)
		want("kept", `["a", "<é>"]`, 0)
		l.close()
		l = open()
		want("kept over a restart", `["a", "<é>"]`, 0)
		l.close()
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, bytes.Replace(data, []byte(`"format":2,`), nil, 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		l = open()
		want("kept by an earlier version", `["a", "<é>"]`, 1)

		s.tools = `["b"]`
		l.readAgain("s")
		synctest.Wait()
		want("it has changed", `["b"]`, 1, "s tools")
		l.readAgain("s")
		synctest.Wait()
		want("it is the same", `["b"]`, 1)
		s.stopped, s.tools = true, `["c"]`
		l.readAgain("s")
		synctest.Wait()
		want("a server that does not run is not started", `["b"]`, 0)

		time.Sleep(25 * time.Hour)
		want("a day later", `["b"]`, 1, "s tools")
		want("a day later, from then on", `["c"]`, 0)
		s.err, s.stopped = errors.New("it does not start"), false
		l.readAgain("s")
		synctest.Wait()
		want("a server that fails", `["c"]`, 1)

		s.identity, s.err, s.tools = "2", nil, `["d"]`
		want("another definition", `["d"]`, 1)
		l.close()
		l.readAgain("s")
		want("after the end", `["d"]`, 0)
	})
}
