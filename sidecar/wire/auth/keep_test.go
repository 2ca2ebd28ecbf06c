package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

func TestALoginIsKept(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	first := w.authorizer()
	w.mustPost(w.connect(first), "/mcp")
	first.Close()
	want := []string{
		"oauth/client/" + i.url(),
		"oauth/server/" + w.url() + "#",
		"oauth/token/" + i.url() + "#as1-client-1#" + w.url(),
	}
	if diff := cmp.Diff(want, w.secrets.keys()); diff != "" {
		t.Errorf("keys (-want +got)\n%s", diff)
	}

	second := w.authorizer()
	if got := second.KnownSecrets(); len(got) != 0 {
		t.Errorf("held before a use: %v", got)
	}
	w.mustPost(w.connect(second), "/mcp")
	held := []auth.KnownSecret{
		{ServerName: "files", What: "access token", Value: protocol.Secret{Secret: "as1-access-s3cret-1"}},
		{ServerName: "files", What: "refresh token", Value: protocol.Secret{Secret: "as1-refresh-s3cret-1"}},
	}
	if diff := cmp.Diff(held, second.KnownSecrets()); diff != "" {
		t.Errorf("held (-want +got)\n%s", diff)
	}
	second.Close()
	if len(i.logins) != 1 || len(i.tokenRequests) != 1 {
		t.Errorf("%d logins and %d token requests, want those of the first process alone", len(i.logins), len(i.tokenRequests))
	}

	w.with(i.endTokens)
	third := w.authorizer()
	w.mustPost(w.connect(third), "/mcp")
	if len(i.logins) != 1 || len(i.tokenRequests) != 2 {
		t.Fatalf("%d logins and %d token requests, want a refresh", len(i.logins), len(i.tokenRequests))
	}
	got := i.tokenRequests[1]
	if diff := cmp.Diff(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"as1-refresh-s3cret-1"}, "resource": {w.url()}, "client_id": {"as1-client-1"}}, got); diff != "" {
		t.Errorf("refresh (-want +got)\n%s", diff)
	}
	assertNoSecrets(t, w.log.String())
}

func TestALoginThatIsForgotten(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	a := w.authorizer()
	c := w.connect(a)
	w.mustPost(c, "/mcp")
	forget := func() {
		t.Helper()
		for _, key := range w.secrets.keys() { // the front end did
			if err := w.secrets.Set(t.Context(), key, nil); err != nil {
				t.Error(err)
			}
		}
		if err := a.Forget(t.Context()); err != nil {
			t.Errorf("Forget = %v", err)
		}
		if got := a.KnownSecrets(); len(got) != 0 {
			t.Errorf("held after it: %v", got)
		}
	}
	forget()
	w.mustPost(c, "/mcp")
	if len(i.logins) != 2 {
		t.Errorf("%d logins, want one more after the first was forgotten", len(i.logins))
	}

	refreshing, answer := make(chan struct{}), make(chan struct{})
	w.with(func() {
		i.endTokens()
		i.Refreshing = func() {
			i.Refreshing = nil
			close(refreshing)
			w.mu.Unlock()
			<-answer
			w.mu.Lock()
		}
	})
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		if got, err := w.post(c, "/mcp"); err != nil || got != "200 hello" {
			t.Errorf("the request that renews the login: %q, %v", got, err)
		}
	}()
	<-refreshing
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := a.Forget(over); err == nil || err.Error() != "enough" {
		t.Errorf("during a renewal, Forget = %v; want it to wait", err)
	}
	close(answer)
	<-posted
	forget()
}

func TestRefreshTokensRotate(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.ExpiresIn = 1 // less than how early a token is renewed: each request renews it
	i.More["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	c := w.connect(w.authorizer())
	for range 4 {
		w.mustPost(c, "/mcp")
	}
	var used []string
	for _, r := range i.tokenRequests {
		used = append(used, r.Get("refresh_token"))
	}
	want := []string{"", "as1-refresh-s3cret-1", "as1-refresh-s3cret-2", "as1-refresh-s3cret-3"}
	// The first request is made again with its new token, which is renewed before.
	if diff := cmp.Diff(append(want, "as1-refresh-s3cret-4"), used); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(i.logins) != 1 {
		t.Errorf("%d logins, want one", len(i.logins))
	}
	if diff := cmp.Diff([]string{"client_secret_basic", "client_secret_basic"}, i.tokenAuths[:2]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestARefreshThatFails(t *testing.T) {
	tests := []struct {
		name   string
		change func(i *issuer)
		err    string
		logins int
	}{
		{"for good", func(i *issuer) { clear(i.refreshTokens) }, "", 2},
		{"for now", func(i *issuer) { i.RefreshFails = http.StatusServiceUnavailable }, `renewing the login to "files": back soon (status 503)`, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			i := w.issuers[0]
			c := w.connect(w.authorizer())
			w.mustPost(c, "/mcp")
			w.with(func() {
				i.endTokens()
				test.change(i)
			})
			got, err := w.post(c, "/mcp")
			if test.err == "" && (err != nil || got != "200 hello") || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("%q, %v; want the error %q", got, err, test.err)
			}
			if len(i.logins) != test.logins {
				t.Errorf("%d logins, want %d", len(i.logins), test.logins)
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

func TestARegistrationIsUsedAgain(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	loginAnew := func() {
		t.Helper()
		w.with(func() {
			i.endTokens()
			clear(i.refreshTokens)
		})
		a := w.authorizer()
		w.mustPost(w.connect(a), "/mcp")
		a.Close()
	}
	loginAnew()
	loginAnew()
	if len(i.registrations) != 1 || i.logins[0].Get("redirect_uri") != i.logins[1].Get("redirect_uri") {
		t.Fatalf("%d registrations, redirects to %s and %s; want the same", len(i.registrations), i.logins[0].Get("redirect_uri"), i.logins[1].Get("redirect_uri"))
	}

	// Another process has its port now.
	registered, err := url.Parse(i.logins[0].Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", registered.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	loginAnew()
	if len(i.registrations) != 2 {
		t.Errorf("%d registrations, want another one for another port", len(i.registrations))
	}
}

func TestARegistrationThatIsKnownNoMore(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	a := w.authorizer()
	w.mustPost(w.connect(a), "/mcp")
	w.with(func() {
		i.endTokens()
		clear(i.refreshTokens)
		clear(i.Clients) // its page reports that, and does not redirect
	})
	opened := make(chan string, 1)
	w.with(func() {
		w.Open = func(url string) (bool, error) {
			w.browse(url)
			opened <- url
			return true, nil
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := w.postCtx(ctx, w.connect(a), "/mcp")
		done <- err
	}()
	<-opened
	cancel() // the person sees that it leads nowhere
	<-done
	w.with(func() { w.Open = nil })
	w.mustPost(w.connect(a), "/mcp")
	if len(i.registrations) != 2 {
		t.Errorf("%d registrations, want another one", len(i.registrations))
	}
}

func TestAnotherAuthorizationServer(t *testing.T) {
	w := newWorld(t)
	one, two := w.issuers[0], w.issuer("as2")
	a := w.authorizer()
	c := w.connect(a)
	w.mustPost(c, "/mcp")
	w.with(func() { w.Trusted = 1 })
	w.mustPost(c, "/mcp")
	if len(two.registrations) != 1 || len(two.logins) != 1 {
		t.Errorf("%d registrations and %d logins at the new one, want one", len(two.registrations), len(two.logins))
	}
	for _, r := range append(two.tokenRequests, two.logins...) {
		for name, values := range r {
			if strings.Contains(fmt.Sprint(values), "as1-") {
				t.Errorf("the new one saw %s=%v", name, values)
			}
		}
	}
	w.with(func() { w.Trusted = 0 })
	again := w.authorizer()
	w.mustPost(w.connect(again), "/mcp")
	if len(one.registrations) != 1 {
		t.Errorf("%d registrations at the old one, want the one that was kept", len(one.registrations))
	}
}

func TestAClientOfTheConfigurationStaysWithItsIssuer(t *testing.T) {
	w := newWorld(t)
	two := w.issuer("as2")
	w.issuers[0].Clients["mine"], two.Clients["mine"] = "shh", "shh"
	mine := func(s *auth.Server) { s.ClientID, s.ClientSecret.Secret = "mine", "shh" }
	a := w.authorizer()
	w.mustPost(w.connect(a, mine), "/mcp")
	a.Close()
	for _, key := range w.secrets.keys() {
		if value, _ := w.secrets.Get(t.Context(), key); strings.Contains(value.Secret, "shh") {
			t.Errorf("%s holds the configuration's secret", key)
		}
	}

	w.with(w.issuers[0].endTokens)
	a = w.authorizer()
	w.mustPost(w.connect(a, mine), "/mcp") // by a refresh, with the secret of the configuration
	a.Close()
	if n := len(w.issuers[0].logins); n != 1 {
		t.Errorf("%d logins, want one", n)
	}

	w.Trusted = 1
	a = w.authorizer()
	if _, err := w.post(w.connect(a, mine), "/mcp"); err == nil || !strings.Contains(err.Error(), "set oauth.issuer in its configuration") {
		t.Errorf("%v", err)
	}
	if len(two.logins) != 0 || len(two.tokenRequests) != 0 {
		t.Error("the new one got to see the client")
	}
	w.mustPost(w.connect(a, mine, func(s *auth.Server) { s.Issuer = two.url() }), "/mcp")
}

func TestACallbackPortOfTheConfiguration(t *testing.T) {
	w := newWorld(t)
	w.issuers[0].Clients["mine"] = ""
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	mine := func(s *auth.Server) { s.ClientID, s.CallbackPort = "mine", port }
	a := w.authorizer()
	if _, err := w.post(w.connect(a, mine), "/mcp"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("at port %d, see oauth.callbackPort", port)) {
		t.Errorf("%v", err)
	}
	taken.Close()
	w.mustPost(w.connect(a, mine), "/mcp")
	if got, want := w.issuers[0].logins[0].Get("redirect_uri"), fmt.Sprintf("http://127.0.0.1:%d/callback", port); got != want {
		t.Errorf("redirects to %s, want %s", got, want)
	}
}

func TestSecretsThatCannotBeKept(t *testing.T) {
	for name, s := range map[string]auth.Secrets{"none": nil, "broken": brokenSecrets{}, "of another program": &foreignSecrets{}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.connect(w.authorizer(func(o *auth.Options) { o.Secrets = s }))
			w.mustPost(c, "/mcp")
			w.mustPost(c, "/mcp")
			if len(w.issuers[0].logins) != 1 {
				t.Errorf("%d logins, want one", len(w.issuers[0].logins))
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

type brokenSecrets struct{}

func (brokenSecrets) Get(context.Context, string) (*protocol.Secret, error) {
	return nil, errors.New("the keyring is locked")
}

func (brokenSecrets) Set(context.Context, string, *protocol.Secret) error {
	return errors.New("the keyring is locked")
}

type foreignSecrets struct{ sync.Mutex }

func (*foreignSecrets) Get(context.Context, string) (*protocol.Secret, error) {
	return &protocol.Secret{Secret: "s3cret, and not JSON"}, nil
}

func (*foreignSecrets) Set(context.Context, string, *protocol.Secret) error { return nil }

func TestAHalfStoredLoginIsStoredAtTheNextRenewal(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	forgetful := &forgetfulSecrets{secrets: w.secrets, fails: 1}
	c := w.connect(w.authorizer(func(o *auth.Options) { o.Secrets = forgetful }))
	w.mustPost(c, "/mcp")
	w.with(i.endTokens)
	w.mustPost(c, "/mcp")
	w.mustPost(w.connect(w.authorizer()), "/mcp") // as after a restart
	assertCounts(t, i, "1 logins, 1 refreshes")
}

// forgetfulSecrets do not keep where a server's grant is, some times.
type forgetfulSecrets struct {
	*secrets

	mu    sync.Mutex // guards the field below
	fails int
}

func (s *forgetfulSecrets) Set(ctx context.Context, key string, value *protocol.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(key, "oauth/server/") && s.fails > 0 {
		s.fails--
		return errors.New("busy")
	}
	return s.secrets.Set(ctx, key, value)
}
