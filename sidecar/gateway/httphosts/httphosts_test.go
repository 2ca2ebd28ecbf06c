package httphosts_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/sidecar/gateway/httphosts"
)

// open returns a server that tells each host its name.
func open(t *testing.T, file string) *httphosts.Server {
	t.Helper()
	s := httphosts.New(httphosts.Options{
		File: file, Log: zerolog.New(zerolog.NewTestWriter(t)),
		Serve: func(w http.ResponseWriter, _ *http.Request, h httphosts.Host) {
			_, _ = w.Write([]byte(h.Name + string(h.Uses)))
		},
	})
	s.Begin()
	t.Cleanup(s.Close)
	return s
}

// get returns what a request brings.
func get(t *testing.T, address string, change func(*http.Request)) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	r.Close = true // no connection is used twice: the server may have ended
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	if err := response.Write(&text); err != nil {
		t.Fatal(err)
	}
	_, body, _ = strings.Cut(text.String(), "\r\n\r\n")
	return response.StatusCode, body
}

func TestAHostIsKnownByItsToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts.json")
	s := open(t, file)
	address, token, err := s.Add("Goose", json.RawMessage(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), token) {
		t.Errorf("the file has the token: %s, %v", text, err)
	}
	if _, _, err := s.Add("Goose", nil); err == nil {
		t.Error("two hosts have one name")
	}
	with := func(token string, more ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			for i := 0; i < len(more); i += 2 {
				r.Header.Set(more[i], more[i+1])
			}
			r.Host = r.Header.Get("Host")
		}
	}
	origin := strings.TrimSuffix(address, "/mcp")
	for _, test := range []struct {
		name, address string
		change        func(*http.Request)
		want          int
	}{
		{"its token", address, with(token), http.StatusOK},
		{"our own page", address, with(token, "Origin", origin), http.StatusOK},
		{"a slash behind the address", address + "/", with(token), http.StatusOK},
		{"no token", address, func(*http.Request) {}, http.StatusUnauthorized},
		{"a wrong token", address, with(token + "x"), http.StatusUnauthorized},
		{"a basic login", address, func(r *http.Request) { r.SetBasicAuth("Goose", token) }, http.StatusUnauthorized},
		{"a name that was rebound", address, with(token, "Host", "evil.example"), http.StatusForbidden},
		{"another page", address, with(token, "Origin", "https://evil.example"), http.StatusForbidden},
		{"another port's page", address, with(token, "Origin", "http://127.0.0.1:1"), http.StatusForbidden},
		{"another path", address + "/x", with(token), http.StatusNotFound},
	} {
		if status, body := get(t, test.address, test.change); status != test.want || status == http.StatusOK && body != `Goose{"a":1}` {
			t.Errorf("%s: %d %s, want %d", test.name, status, body, test.want)
		}
	}
	// The next daemon has the same hosts at the same address.
	s.Close()
	s = open(t, file)
	if status, _ := get(t, address, with(token)); status != http.StatusOK {
		t.Errorf("after a restart: %d", status)
	}
	if removed, err := s.Remove("Goose"); !removed || err != nil {
		t.Errorf("Remove = %v, %v", removed, err)
	}
	if status, _ := get(t, address, with(token)); status != http.StatusUnauthorized {
		t.Errorf("a host that was removed: %d", status)
	}
	if removed, err := s.Remove("Goose"); removed || err != nil {
		t.Errorf("Remove once more = %v, %v", removed, err)
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts.json")
	s := open(t, file)
	address, _, err := s.Add("Goose", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	other, err := net.Listen("tcp", strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s = open(t, file)
	if got := s.Hosts(); len(got) != 1 {
		t.Errorf("the hosts are %v", got)
	}
	if _, _, err := s.Add("Cursor", nil); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("Add = %v, want that it cannot listen", err)
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, file)
	if _, _, err := s.Add("Goose", nil); err == nil {
		t.Error("a host was added to a file that cannot be read")
	}
	if text, err := os.ReadFile(file); err != nil || cmp.Diff("{", string(text)) != "" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// A host that is removed loses its open requests at once. One of the same name that is added later is another.
func TestARemovedHostLosesItsRequests(t *testing.T) {
	begun, ended := make(chan string, 2), make(chan string, 2)
	removed := make(chan string, 1)
	s := httphosts.New(httphosts.Options{
		File: filepath.Join(t.TempDir(), "hosts.json"), Log: zerolog.Nop(),
		Serve: func(w http.ResponseWriter, r *http.Request, h httphosts.Host) {
			begun <- h.Name
			<-r.Context().Done()
			ended <- h.Name
		},
		Removed: func(h httphosts.Host) { removed <- h.TokenHash },
	})
	s.Begin()
	t.Cleanup(s.Close)
	answers := make(chan struct{}, 2)
	for _, name := range []string{"Goose", "Other"} {
		address, token, err := s.Add(name, json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, address, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			if response, err := http.DefaultClient.Do(r); err == nil {
				_ = response.Body.Close()
			}
			answers <- struct{}{}
		}()
		<-begun
	}
	before := s.Hosts()
	if ok, err := s.Remove("Goose"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if name := <-ended; name != "Goose" {
		t.Errorf("the request of %s has ended", name)
	}
	if hash := <-removed; hash != before[0].TokenHash {
		t.Errorf("removed was %s", hash)
	}
	if ok, err := s.Remove("Goose"); ok || err != nil || len(removed) > 0 {
		t.Errorf("removed twice: %v, %v", ok, err)
	}
	if _, _, err := s.Add("Goose", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	if now := s.Hosts(); now[1].TokenHash == before[0].TokenHash {
		t.Error("the same credential again")
	}
	if len(ended) > 0 {
		t.Error("the other host's request has ended")
	}
	s.Close()
	<-answers
	<-answers
}
