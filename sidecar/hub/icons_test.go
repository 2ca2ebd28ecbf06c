package hub_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
)

// dot returns a PNG picture, and the data: URI of it.
func dot(t *testing.T, width int) (picture []byte, uri string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// iconServer is an HTTP server in which everything has an icon in itself. The server has a better one at /server.png, too. It
// counts the requests for that.
func iconServer(t *testing.T, tools func() string) (_ *httptest.Server, fetched *atomic.Int32) {
	t.Helper()
	fetched = &atomic.Int32{}
	picture, uri := dot(t, 1)
	icons := `"icons":[{"src":"` + uri + `"}]`
	mux := http.NewServeMux()
	mux.HandleFunc("/server.png", func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		_, _ = w.Write(picture)
	})
	var at string
	serve := legacy(noSession, func(w http.ResponseWriter, _ *http.Request, m rpc) {
		result(w, m.ID, map[string]string{
			"tools/list":               `{"tools":[{"name":"tool","inputSchema":{"type":"object"},` + tools() + `}]}`,
			"resources/list":           `{"resources":[{"uri":"a:b","name":"r",` + icons + `}]}`,
			"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"t",` + icons + `}]}`,
			"prompts/list":             `{"prompts":[{"name":"prompt",` + icons + `}]}`,
		}[m.Method])
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		serve(answer, r)
		for name := range answer.Header() {
			w.Header().Set(name, answer.Header().Get(name))
		}
		w.WriteHeader(answer.Code)
		introduced := `"capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"icons":[{"src":"` + at + `/server.png","sizes":["any"]},{"src":"` + uri + `"}],`
		_, _ = strings.NewReplacer(`"capabilities":{"tools":{}},"serverInfo":{`, introduced).WriteString(w, answer.Body.String())
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	at = s.URL
	return s, fetched
}

// revision returns the newest [protocol.Server.IconsRevision] that front ends were told.
func (f *fixture) revision() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[len(f.states)-1].IconsRevision
}

func TestIconsOfAnHTTPServer(t *testing.T) {
	_, uri := dot(t, 1)
	_, other := dot(t, 2)
	tool := uri
	s, fetched := iconServer(t, func() string { return `"icons":[{"src":"` + tool + `"}]` })
	f := newFixtureWith(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: s.URL + "/mcp"})
	icons := func() *protocol.ListIconsResult {
		t.Helper()
		got, err := f.Icons("s")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(&protocol.ListIconsResult{}, icons()); diff != "" {
		t.Errorf("before the first connection (-want +got):\n%s", diff)
	}
	if state := f.Servers()[0].State; state != protocol.ServerStopped {
		t.Errorf("the server is %s", state)
	}
	if _, err := f.Start(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if n := f.revision(); n != 1 {
		t.Errorf("at the start, the revision is %d", n)
	}
	first := protocol.Icons{}
	if diff := cmp.Diff(&protocol.ListIconsResult{Images: []string{uri}, Server: &first}, icons()); diff != "" {
		t.Errorf("before the lists were read (-want +got):\n%s", diff)
	}
	f.list(t)
	if n := f.revision(); n != 5 {
		t.Errorf("after the lists were read, the revision is %d", n)
	}
	all := &protocol.ListIconsResult{
		Images: []string{uri}, Server: &first,
		Tools: map[string]protocol.Icons{"tool": first}, Resources: map[string]protocol.Icons{"a:b": first},
		ResourceTemplates: map[string]protocol.Icons{"a:{b}": first}, Prompts: map[string]protocol.Icons{"prompt": first},
	}
	if diff := cmp.Diff(all, icons()); diff != "" {
		t.Errorf("after the lists were read (-want +got):\n%s", diff)
	}
	f.list(t) // they are the same
	if n := f.revision(); n != 5 {
		t.Errorf("after the lists were read again, the revision is %d", n)
	}
	tool = other
	f.list(t)
	if n := f.revision(); n != 6 {
		t.Errorf("after a tool got another icon, the revision is %d", n)
	}
	if _, err := f.Stop("s"); err != nil {
		t.Fatal(err)
	}
	all.Images, all.Tools["tool"] = []string{uri, other}, protocol.Icons{Light: 1, Dark: 1}
	if diff := cmp.Diff(all, icons()); diff != "" {
		t.Errorf("after the server has ended (-want +got):\n%s", diff)
	}
	if n := fetched.Load(); n != 0 {
		t.Errorf("an icon was fetched %d times", n)
	}
}

// list reads all lists of the server "s".
func (f *fixture) list(t *testing.T) {
	t.Helper()
	_, err := f.Tools(t.Context(), "s")
	if err == nil {
		_, err = f.Resources(t.Context(), "s")
	}
	if err == nil {
		_, err = f.ResourceTemplates(t.Context(), "s")
	}
	if err == nil {
		_, err = f.Prompts(t.Context(), "s")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAProcessHasNoIconsOnTheNetwork(t *testing.T) {
	var fetched atomic.Int32
	picture, uri := dot(t, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		_, _ = w.Write(picture)
	}))
	t.Cleanup(s.Close)
	f := newFixture(t, strings.Replace(discovery("s", `{"tools":{}}`), `"capabilities":{"tools":{}}}}`,
		`"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1","icons":[{"src":"`+uri+`"},{"src":"`+s.URL+`/a.png"}]}}}}`, 1)+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`+"\n"+
		serverSays(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"tool","inputSchema":{"type":"object"},"icons":[{"src":"`+s.URL+`/b.png"},{"src":"file:///b.png"}]}]}}`), "s")
	if _, err := f.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	got, err := f.Icons("s")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&protocol.ListIconsResult{Images: []string{uri}, Server: &protocol.Icons{}}, got); diff != "" {
		t.Errorf("icons (-want +got):\n%s", diff)
	}
	if n := fetched.Load(); n != 0 {
		t.Errorf("%d icons were fetched", n)
	}
}
