package auth_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

// newWindows returns the authorizers of windows that share the world's secrets and a folder.
func newWindows(w *world, n int) []*auth.Authorizer {
	folder := filepath.Join(w.t.TempDir(), "logins")
	var windows []*auth.Authorizer
	for range n {
		windows = append(windows, w.authorizer(oneFolder(folder)))
	}
	return windows
}

// oneFolder makes windows share a folder, and wait without a bound for a grant that another one kept.
func oneFolder(folder string) func(*auth.Options) {
	return func(o *auth.Options) {
		o.Folder = folder
		o.SetArrivalTimeout(time.Hour)
	}
}

// counts returns how many logins and refreshes there were.
func (i *issuer) counts() string {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	refreshes := 0
	for _, r := range i.tokenRequests {
		if r.Get("grant_type") == "refresh_token" {
			refreshes++
		}
	}
	return fmt.Sprintf("%d logins, %d refreshes", len(i.logins), refreshes)
}

func assertCounts(t *testing.T, i *issuer, want string) {
	t.Helper()
	if got := i.counts(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWindowsRenewALoginOnce(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.DetectsReuse = true
	windows := newWindows(w, 3)
	for _, a := range windows {
		w.mustPost(w.connect(a), "/mcp")
	}
	assertCounts(t, i, "1 logins, 0 refreshes")
	for _, test := range []struct {
		order []int
		want  string
	}{
		{[]int{0, 1, 2}, "1 logins, 1 refreshes"},
		{[]int{2, 0, 1}, "1 logins, 2 refreshes"},
	} {
		w.with(i.endTokens)
		for _, n := range test.order {
			w.mustPost(w.connect(windows[n]), "/mcp")
		}
		assertCounts(t, i, test.want)
	}

	w.with(i.endTokens)
	var posting sync.WaitGroup
	for _, a := range windows {
		c := w.connect(a)
		posting.Go(func() {
			if got, err := w.post(c, "/mcp"); err != nil || got != "200 hello" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	posting.Wait()
	assertCounts(t, i, "1 logins, 3 refreshes")

	w.with(i.endTokens)
	w.mustPost(w.connect(windows[0]), "/mcp")
	w.with(i.endTokens)
	w.mustPost(w.connect(windows[1]), "/mcp") // the grant that it takes has ended, too
	assertCounts(t, i, "1 logins, 5 refreshes")
	assertNoSecrets(t, w.log.String())
}

func TestWindowsRenewEarlyOnce(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.DetectsReuse, i.ExpiresIn = true, 1 // less than how early a token is renewed
	windows := newWindows(w, 2)
	w.mustPost(w.connect(windows[0]), "/mcp")
	w.mustPost(w.connect(windows[1]), "/mcp")
	w.with(func() { i.ExpiresIn = 3600 })
	w.mustPost(w.connect(windows[0]), "/mcp") // renews it for an hour
	before := i.counts()
	w.mustPost(w.connect(windows[1]), "/mcp")
	assertCounts(t, i, before)
}

func TestAWindowTakesTheLoginOfAnother(t *testing.T) {
	w := newWorld(t)
	windows := newWindows(w, 2)
	first, second := w.connect(windows[0]), w.connect(windows[1])
	if got, err := w.postCtx(auth.Unattended(t.Context()), second, "/mcp"); err != nil || !strings.HasPrefix(got, "401") {
		t.Fatalf("%q, %v; want the refusal", got, err) // nothing was kept when it looked
	}
	w.mustPost(first, "/mcp")
	w.mustPost(second, "/mcp")
	assertCounts(t, w.issuers[0], "1 logins, 0 refreshes")
}

func TestASignOutInAnotherWindow(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	folder := t.TempDir()
	w.mustPost(w.connect(w.authorizer(oneFolder(folder))), "/mcp")
	c := w.connect(w.authorizer(oneFolder(folder), func(o *auth.Options) { o.SetArrivalTimeout(time.Nanosecond) }))
	w.mustPost(c, "/mcp")
	w.with(i.endTokens)
	for _, key := range w.secrets.keys() {
		if err := w.secrets.Set(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.mustPost(c, "/mcp")
	assertCounts(t, i, "2 logins, 0 refreshes")
}

// A process whose folder has no locks renews beside others.
func TestOnlyTheGrantThatWasRefusedIsRemoved(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	first := w.authorizer()
	w.mustPost(w.connect(first), "/mcp")
	key := "oauth/token/" + i.url() + "#as1-client-1#" + w.url()
	kept := func() *protocol.Secret {
		value, err := w.secrets.Get(t.Context(), key)
		if err != nil || value == nil {
			t.Fatalf("%s: %v, %v", key, value, err)
		}
		return value
	}
	older := kept()
	w.with(i.endTokens)
	w.mustPost(w.connect(first), "/mcp")
	newer := kept()
	if err := w.secrets.Set(t.Context(), key, older); err != nil {
		t.Fatal(err)
	}
	second := newWindows(w, 1)[0]
	w.with(func() {
		i.Refreshing = func() { // what the first window did is kept only now
			if err := w.secrets.Set(t.Context(), key, newer); err != nil {
				t.Error(err)
			}
		}
	})
	w.mustPost(w.connect(second), "/mcp")
	assertCounts(t, i, "1 logins, 2 refreshes")
	if got := kept(); *got != *newer {
		t.Error("the newer grant was changed")
	}
}

func TestAGrantOnItsWayIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.DetectsReuse = true
	folder := t.TempDir()
	first := w.authorizer(oneFolder(folder))
	late := &lateSecrets{secrets: w.secrets}
	second := w.authorizer(oneFolder(folder), func(o *auth.Options) { o.Secrets = late })
	w.mustPost(w.connect(first), "/mcp")
	w.mustPost(w.connect(second), "/mcp")
	w.with(i.endTokens)
	late.hold(4)
	w.mustPost(w.connect(first), "/mcp")
	w.mustPost(w.connect(second), "/mcp")
	assertCounts(t, i, "1 logins, 1 refreshes")
}

// lateSecrets are the secrets of a window in which the values of another window arrive late, as in VS Code.
type lateSecrets struct {
	*secrets

	mu   sync.Mutex // guards the fields below
	held map[string]string
	// reads counts the reads that still return held values.
	reads int
}

// hold makes the next reads return the present values.
func (s *lateSecrets) hold(reads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.reads = map[string]string{}, reads
	for _, key := range s.keys() {
		value, _ := s.secrets.Get(context.Background(), key)
		s.held[key] = value.Secret
	}
}

func (s *lateSecrets) Get(ctx context.Context, key string) (*protocol.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads > 0 {
		s.reads--
		return &protocol.Secret{Secret: s.held[key]}, nil
	}
	return s.secrets.Get(ctx, key)
}

func TestARenewalEndsWithoutAWaiter(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	c := w.connect(newWindows(w, 1)[0])
	w.mustPost(c, "/mcp")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	w.with(func() {
		i.endTokens()
		i.Refreshing = func() { // the token is spent, and who wanted the new one is gone before it comes
			cancel()
			<-gone
		}
	})
	if got, err := w.postCtx(ctx, c, "/mcp"); err == nil {
		t.Errorf("%q, want it to be cancelled", got)
	}
	close(gone)
	w.mustPost(c, "/mcp")
	assertCounts(t, i, "1 logins, 1 refreshes")
}

func TestAFolderThatCannotBe(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.connect(w.authorizer(func(o *auth.Options) { o.Folder = filepath.Join(file, "logins") }))
	w.mustPost(c, "/mcp")
	w.with(i.endTokens)
	w.mustPost(c, "/mcp")
	assertCounts(t, i, "1 logins, 1 refreshes")
	if !strings.Contains(w.log.String(), "not locked against other windows") {
		t.Error("the log does not say so")
	}
}
