package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"assent/sidecar/base/deadline"
	"assent/sidecar/wire/auth"
)

func TestLogin(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *world, i *issuer)
		server func(w *world, s *auth.Server)
		// want is the client, its way to say who it is, and the scopes that were asked for.
		client, method, scope string
	}{
		{name: "registered, with the metadata where the header says", client: "as1-client-1", method: "none", scope: "files:list"},
		{
			name:   "metadata at the path",
			change: func(w *world, _ *issuer) { w.MetadataAt = "path" },
			client: "as1-client-1", method: "none", scope: "files:list",
		},
		{
			name: "metadata at the root, of the whole host",
			change: func(w *world, _ *issuer) {
				w.MetadataAt, w.Resource = "root", w.server.URL
			},
			client: "as1-client-1", method: "none", scope: "files:list",
		},
		{
			name:   "no metadata, as before 2025-06-18",
			change: func(w *world, _ *issuer) { w.MetadataAt = "" },
			client: "as1-client-1", method: "none", scope: "",
		},
		{
			name: "OpenID's metadata of an issuer with a path",
			change: func(_ *world, i *issuer) {
				i.Path, i.MetadataAt = "/tenant", "/tenant/.well-known/openid-configuration"
			},
			client: "as1-client-1", method: "none", scope: "files:list",
		},
		{
			name: "a secret in the header",
			change: func(_ *world, i *issuer) {
				i.More["token_endpoint_auth_methods_supported"] = []string{"client_secret_post", "client_secret_basic"}
			},
			client: "as1-client-1", method: "client_secret_basic", scope: "files:list",
		},
		{
			name: "a secret in the body",
			change: func(_ *world, i *issuer) {
				i.More["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
			},
			client: "as1-client-1", method: "client_secret_post", scope: "files:list",
		},
		{
			name: "a metadata document",
			change: func(_ *world, i *issuer) {
				i.More["client_id_metadata_document_supported"] = true
				i.Clients["https://assent.example/client.json"] = ""
			},
			server: func(_ *world, s *auth.Server) { s.ClientMetadataURL = "https://assent.example/client.json" },
			client: "https://assent.example/client.json", method: "none", scope: "files:list",
		},
		{
			name: "a metadata document that the server cannot read",
			server: func(_ *world, s *auth.Server) {
				s.ClientMetadataURL = "https://assent.example/client.json"
			},
			client: "as1-client-1", method: "none", scope: "files:list",
		},
		{
			name: "a client of the configuration, before all others",
			change: func(_ *world, i *issuer) {
				i.More["client_id_metadata_document_supported"] = true
				i.Clients["mine"] = "shh"
			},
			server: func(_ *world, s *auth.Server) {
				s.ClientID, s.ClientSecret.Secret, s.ClientMetadataURL = "mine", "shh", "https://assent.example/client.json"
			},
			client: "mine", method: "client_secret_basic", scope: "files:list",
		},
		{
			name:   "a client of the configuration, without a secret",
			change: func(_ *world, i *issuer) { i.Clients["mine"] = "" },
			server: func(w *world, s *auth.Server) { s.ClientID, s.Issuer = "mine", w.issuers[0].url()+"/" },
			client: "mine", method: "none", scope: "files:list",
		},
		{
			name:   "scopes of the challenge, before those of the metadata",
			change: func(w *world, _ *issuer) { w.Challenged = "files:read files:stat" },
			client: "as1-client-1", method: "none", scope: "files:read files:stat",
		},
		{
			name:   "scopes of the configuration, and of the challenge",
			change: func(w *world, _ *issuer) { w.Challenged = "files:read" },
			server: func(_ *world, s *auth.Server) { s.Scopes = []string{"mine"} },
			client: "as1-client-1", method: "none", scope: "mine files:read",
		},
		{
			name:   "a refresh token where it can be asked for",
			change: func(_ *world, i *issuer) { i.More["scopes_supported"] = []string{"offline_access"} },
			client: "as1-client-1", method: "none", scope: "files:list offline_access",
		},
		{
			name: "an issuer in the answer, announced",
			change: func(_ *world, i *issuer) {
				i.More["authorization_response_iss_parameter_supported"] = true
			},
			client: "as1-client-1", method: "none", scope: "files:list",
		},
		{
			name: "an issuer in the answer, not announced",
			change: func(_ *world, i *issuer) {
				iss := i.url()
				i.Iss = &iss
			},
			client: "as1-client-1", method: "none", scope: "files:list",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			i := w.issuers[0]
			if test.change != nil {
				test.change(w, i)
			}
			c := w.connect(w.authorizer(), func(s *auth.Server) {
				if test.server != nil {
					test.server(w, s)
				}
			})
			w.mustPost(c, "/mcp")
			w.mustPost(c, "/mcp")
			w.browsing.Wait()
			if len(i.logins) != 1 || len(i.tokenRequests) != 1 {
				t.Fatalf("%d logins and %d token requests, want one each", len(i.logins), len(i.tokenRequests))
			}
			login, token := i.logins[0], i.tokenRequests[0]
			resource := or(w.Resource, w.url())
			got := []string{login.Get("client_id"), i.tokenAuths[0], login.Get("scope"), login.Get("resource"), token.Get("resource"), login.Get("response_type"), login.Get("tenant")}
			want := []string{test.client, test.method, test.scope, resource, resource, "code", "1"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if _, asked := login["scope"]; asked != (test.scope != "") {
				t.Errorf("scope was asked for: %v", asked)
			}
			p := w.pages[0]
			if p.err != nil || p.status != http.StatusOK || !strings.Contains(p.body, "close this window") || !strings.HasPrefix(p.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("the browser ended at %+v", p)
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

func TestRegistrationSaysWhatAssentIs(t *testing.T) {
	w := newWorld(t)
	w.mustPost(w.connect(w.authorizer()), "/mcp")
	i := w.issuers[0]
	got := i.registrations[0]
	if uri := i.logins[0].Get("redirect_uri"); !cmp.Equal(got["redirect_uris"], []any{uri}) || !strings.HasPrefix(uri, "http://127.0.0.1:") {
		t.Errorf("registered %v, and sent back to %v", got["redirect_uris"], uri)
	}
	delete(got, "redirect_uris")
	want := map[string]any{
		"client_name": "Assent", "software_version": "1", "application_type": "native", "token_endpoint_auth_method": "none",
		"grant_types": []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	other := "https://evil.example"
	tests := []struct {
		name   string
		change func(w *world, i *issuer)
		server func(w *world, s *auth.Server)
		want   string
		// logins is how many pages were opened, tokens how many codes were shown to a token endpoint.
		logins, tokens int
	}{
		{
			name:   "metadata of another resource",
			change: func(w *world, _ *issuer) { w.Resource = "https://evil.example/mcp" },
			want:   `is of "https://evil.example/mcp"`,
		},
		{
			name:   "metadata of a neighbour whose path begins alike",
			change: func(w *world, _ *issuer) { w.Resource = w.server.URL + "/mc" },
			want:   "/mc\", not of ",
		},
		{
			name:   "metadata of a server that has too many requests",
			change: func(w *world, _ *issuer) { w.MetadataAt, w.IsBusy = "root", true },
			want:   "status 429",
		},
		{
			name:   "metadata of another issuer",
			change: func(_ *world, i *issuer) { i.Says = other },
			want:   "does not match issuer",
		},
		{
			name:   "a name that is too long to be shown",
			change: func(_ *world, i *issuer) { i.Says = other + "/" + strings.Repeat("x", 1<<18) },
			want:   "…",
		},
		{
			name: "a login page that is too far away",
			change: func(_ *world, i *issuer) {
				i.More["authorization_endpoint"] = i.server.URL + "/" + strings.Repeat("x", 1<<18)
			},
			want: "has no login page that can be opened",
		},
		{
			name:   "a token that is too large",
			change: func(_ *world, i *issuer) { i.Grants = strings.Repeat("x", 1<<18) },
			want:   "the token is too large to be one", logins: 1, tokens: 1,
		},
		{
			name:   "no PKCE",
			change: func(_ *world, i *issuer) { i.More["code_challenge_methods_supported"] = []string{"plain"} },
			want:   "does not support PKCE with S256",
		},
		{
			name:   "an endpoint that anybody can read along",
			change: func(_ *world, i *issuer) { i.More["token_endpoint"] = "http://evil.example/token" },
			want:   "does not use HTTPS",
		},
		{
			name:   "no way to be known",
			change: func(_ *world, i *issuer) { i.More["registration_endpoint"] = nil },
			want:   "put the id into oauth.clientId",
		},
		{
			name:   "a client of another issuer",
			change: func(_ *world, i *issuer) { i.Clients["mine"] = "" },
			server: func(_ *world, s *auth.Server) { s.ClientID, s.Issuer = "mine", other },
			want:   `the client "mine" is of https://evil.example`,
		},
		{
			name: "an answer of another issuer, whose error is not shown",
			change: func(_ *world, i *issuer) {
				i.Iss, i.Denies = &other, "not_to_be_shown"
			},
			want: "the answer is from https://evil.example", logins: 1,
		},
		{
			name: "an issuer that is only nearly the same",
			change: func(_ *world, i *issuer) {
				nearly := i.url() + "/"
				i.Iss = &nearly
			},
			want: "the answer is from http://127.0.0.1", logins: 1,
		},
		{
			name: "an answer that should name its issuer",
			change: func(_ *world, i *issuer) {
				i.More["authorization_response_iss_parameter_supported"] = true
				none := ""
				i.Iss = &none
			},
			want: "the answer does not say that it is from http://127.0.0.1", logins: 1,
		},
		{
			name:   "an error",
			change: func(_ *world, i *issuer) { i.Denies = "invalid_scope" },
			want:   "because I say so (invalid_scope)", logins: 1,
		},
		{
			name:   "a wrong secret",
			change: func(_ *world, i *issuer) { i.Clients["mine"] = "shh" },
			server: func(_ *world, s *auth.Server) { s.ClientID, s.ClientSecret.Secret = "mine", "s3cret" },
			want:   "the token endpoint says so (invalid_client)", logins: 1, tokens: 1,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			i := w.issuers[0]
			test.change(w, i)
			c := w.connect(w.authorizer(), func(s *auth.Server) {
				if test.server != nil {
					test.server(w, s)
				}
			})
			got, err := w.post(c, "/mcp")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `logging in to "files"`) {
				t.Errorf("%q, %v; want an error with %q", got, err, test.want)
			}
			if err != nil {
				if len(err.Error()) > 5000 {
					t.Errorf("the error has %d bytes", len(err.Error()))
				}
				assertNoSecrets(t, err.Error())
				if strings.Contains(err.Error(), "not_to_be_shown") {
					t.Errorf("shows what another issuer says: %v", err)
				}
			}
			if len(i.logins) != test.logins || len(i.tokenRequests) != test.tokens {
				t.Errorf("%d logins and %d token requests, want %d and %d", len(i.logins), len(i.tokenRequests), test.logins, test.tokens)
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

func TestAnAnswerWithAnotherStateIsNotTheLogin(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	strays := 0
	w.Open = func(page string) (bool, error) {
		u, err := url.Parse(page)
		if err != nil {
			return false, err
		}
		redirect := u.Query().Get("redirect_uri")
		for _, stray := range []string{redirect, redirect + "?state=guess&code=theirs", strings.Replace(redirect, "/callback", "/other", 1) + "?state=" + u.Query().Get("state")} {
			response, err := http.Get(stray)
			if err != nil {
				return false, err
			}
			response.Body.Close()
			if response.StatusCode < 400 {
				t.Errorf("%s was taken: %s", stray, response.Status)
			}
			strays++
		}
		w.browse(page)
		return true, nil
	}
	w.mustPost(w.connect(w.authorizer()), "/mcp")
	if strays != 3 || len(i.tokenRequests) != 1 || i.tokenRequests[0].Get("code") == "theirs" {
		t.Errorf("%d strays, token requests %v", strays, i.tokenRequests)
	}
}

func TestRefusedByThePerson(t *testing.T) {
	tests := []struct {
		name, want string
		refuse     func(w *world)
	}{
		{"at the consent", "you did not open the page", func(w *world) {
			w.Open = func(string) (bool, error) { return false, nil }
		}},
		{"on the page", `you did not sign in to "files": you declined on the page. `, func(w *world) {
			w.issuers[0].Denies, w.issuers[0].Because = "access_denied", "-"
		}},
		{"by the authorization server", `you did not sign in to "files": the page answered: User is not assigned. (access_denied). `, func(w *world) {
			w.issuers[0].Denies, w.issuers[0].Because = "access_denied", "User\nis not\u202eassigned."
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			a := w.authorizer()
			asked := 0
			count := func() {
				w.with(func() {
					open := w.Open
					w.Open = func(url string) (bool, error) {
						asked++
						if open != nil {
							return open(url)
						}
						w.browse(url)
						return true, nil
					}
				})
			}
			test.refuse(w)
			count()
			c := w.connect(a)
			for range 2 { // the second is no use of its own: the connection was never let in
				_, err := w.post(c, "/mcp")
				refused, ok := errors.AsType[*auth.RefusedError](err)
				if !ok || refused.ServerName != "files" || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("%v, want a refusal: %s", err, test.want)
				}
			}
			if asked != 1 {
				t.Errorf("asked %d times, want once", asked)
			}

			w.with(func() { w.Open, w.issuers[0].Denies = nil, "" })
			count()
			again := w.connect(a)
			w.mustPost(again, "/mcp")

			w.with(func() {
				w.Open = nil
				w.issuers[0].endTokens()
				clear(w.issuers[0].refreshTokens)
			})
			w.with(func() { test.refuse(w) })
			count()
			for want := 3; want <= 4; want++ { // each call asks again once the connection was let in
				if _, err := w.post(again, "/mcp"); !errors.As(err, new(*auth.RefusedError)) {
					t.Fatalf("%v, want a refusal", err)
				}
				if asked != want {
					t.Errorf("asked %d times, want %d", asked, want)
				}
			}
			if response, err := again.Get(w.url()); !errors.As(err, new(*auth.RefusedError)) {
				t.Errorf("%v, %v: a stream that is opened again must not ask again", response, err)
			}
			if asked != 4 {
				t.Errorf("asked %d times, want 4", asked)
			}
		})
	}
}

func TestOneLoginForAll(t *testing.T) {
	w := newWorld(t)
	const many = 10
	refused := make(chan struct{}, 2*many)
	w.Waiting = func() { refused <- struct{}{} }
	w.Open = func(url string) (bool, error) {
		for range many { // all of them know that they need a token
			select {
			case <-refused:
			case <-tooLate(t):
				t.Error("not every request was refused")
			}
		}
		w.browse(url)
		return true, nil
	}
	a := w.authorizer()
	var wg sync.WaitGroup
	for range many {
		c := w.connect(a)
		wg.Go(func() {
			if got, err := w.post(c, "/mcp"); err != nil || got != "200 hello" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if i := w.issuers[0]; len(i.logins) != 1 || len(i.registrations) != 1 {
		t.Errorf("%d logins and %d registrations, want one", len(i.logins), len(i.registrations))
	}
}

func TestALoginLastsWhileARequestWaits(t *testing.T) {
	w := newWorld(t)
	opened := make(chan string, 2)
	w.Open = func(url string) (bool, error) {
		opened <- url
		return true, nil
	}
	a := w.authorizer()
	c := w.connect(a)
	gaveUp := errors.New("the call was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := w.postCtx(ctx, c, "/mcp")
		done <- err
	}()
	first := <-opened
	cancel(gaveUp)
	if err := <-done; !errors.Is(err, gaveUp) && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, gaveUp)
	}
	// The next request opens a page of its own.
	go func() {
		_, err := w.post(c, "/mcp")
		done <- err
	}()
	second := <-opened
	if first == second {
		t.Error("the page of a login that nobody waits for was shown again")
	}
	w.browse(second)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestALoginThatIsEndingIsNotJoined(t *testing.T) {
	w := newWorld(t)
	opened, release := make(chan string, 2), make(chan struct{})
	w.Open = func(url string) (bool, error) {
		opened <- url
		<-release
		w.browse(url)
		return true, nil
	}
	a := w.authorizer()
	c := w.connect(a)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := w.postCtx(ctx, c, "/mcp")
		done <- err
	}()
	<-opened
	cancel()
	<-done
	refused := make(chan struct{}, 2)
	w.with(func() { w.Waiting = func() { refused <- struct{}{} } })
	go func() {
		_, err := w.post(c, "/mcp")
		done <- err
	}()
	<-refused
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAServersClockStandsDuringALogin(t *testing.T) {
	w := newWorld(t)
	const long = 500 * time.Millisecond
	slow := errors.New("slow")
	ctx, cancel := deadline.WithTimeout(t.Context(), long, slow)
	defer cancel()
	other, cancel := deadline.WithTimeout(t.Context(), long, slow)
	defer cancel()
	w.Open = func(url string) (bool, error) {
		<-other.Done() // as the first would be
		w.browse(url)
		return true, nil
	}
	if got, err := w.postCtx(ctx, w.connect(w.authorizer()), "/mcp"); err != nil || got != "200 hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestStepUp(t *testing.T) {
	tests := []struct {
		name, grants string
		want         string
		logins       int
	}{
		{"granted", "", "200 hello", 2},
		{"granted, which is not said", "-", "200 hello", 2},
		{"not granted", "files:list", "403 not with this token\n", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.Needed["/mcp/write"] = "files:write"
			i := w.issuers[0]
			i.Grants = test.grants
			c := w.connect(w.authorizer())
			w.mustPost(c, "/mcp")
			if got, err := w.post(c, "/mcp/write"); err != nil || got != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
			if len(i.logins) != test.logins {
				t.Fatalf("%d logins, want %d", len(i.logins), test.logins)
			}
			if got := i.logins[1].Get("scope"); got != "files:list files:write" {
				t.Errorf("asked for %q the second time, want what was granted before, too", got)
			}
		})
	}
}

func TestA403WithoutAChallengeIsTheAnswer(t *testing.T) {
	server := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusForbidden) })
	w := newWorld(t)
	w.server.Config.Handler = server
	if got, err := w.post(w.connect(w.authorizer()), "/mcp"); err != nil || got != "403 no\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAHeaderOfTheConfigurationIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	r, err := http.NewRequest(http.MethodPost, w.url(), strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Basic mine")
	response, err := w.connect(w.authorizer()).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized || len(w.issuers[0].logins) != 0 || w.requests[0].Header.Get("Authorization") != "Basic mine" {
		t.Errorf("%s, %d logins, header %q", response.Status, len(w.issuers[0].logins), w.requests[0].Header.Get("Authorization"))
	}
}

func TestNoLoginWithoutAPerson(t *testing.T) {
	w := newWorld(t)
	c := w.connect(w.authorizer())
	if got, err := w.postCtx(auth.Unattended(t.Context()), c, "/mcp"); err != nil || got != "401 who are you?\n" {
		t.Errorf("%q, %v; want the refusal as it is", got, err)
	}
	r, err := http.NewRequest(http.MethodDelete, w.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(w.issuers[0].logins) != 0 {
		t.Errorf("%d logins, want none", len(w.issuers[0].logins))
	}

	w.mustPost(c, "/mcp")
	w.with(w.issuers[0].endTokens)
	if got, err := w.postCtx(auth.Unattended(t.Context()), c, "/mcp"); err != nil || got != "200 hello" {
		t.Errorf("%q, %v; want a refresh, which needs nobody", got, err)
	}
}

func TestAFrontEndWithoutABrowser(t *testing.T) {
	w := newWorld(t)
	c := w.connect(w.authorizer(func(o *auth.Options) { o.OpenURL = nil }))
	if _, err := w.post(c, "/mcp"); err == nil || !strings.Contains(err.Error(), "the front end cannot open a browser") {
		t.Errorf("%v", err)
	}
}

func TestCloseEndsALogin(t *testing.T) {
	w := newWorld(t)
	opened := make(chan string, 1)
	w.Open = func(url string) (bool, error) {
		opened <- url
		return true, nil
	}
	a := w.authorizer()
	c := w.connect(a)
	done := make(chan error, 1)
	go func() {
		_, err := w.post(c, "/mcp")
		done <- err
	}()
	<-opened
	a.Close()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "Assent is closing") {
		t.Errorf("%v", err)
	}
	if _, err := w.post(c, "/mcp"); err == nil || !strings.Contains(err.Error(), "Assent is closing") {
		t.Errorf("after the end: %v", err)
	}
}

func TestAPageIsNotOpenForEver(t *testing.T) {
	w := newWorld(t)
	w.Open = func(string) (bool, error) { return true, nil }
	c := w.connect(w.authorizer(func(o *auth.Options) { o.Timeout = time.Millisecond }))
	if _, err := w.post(c, "/mcp"); !errors.As(err, new(*auth.RefusedError)) || !strings.Contains(err.Error(), "the page was open for 1ms") {
		t.Errorf("%v", err)
	}
}

// assertNoSecrets looks for what only secrets are.
func assertNoSecrets(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"s3cret", "sécret", "shh", "code_verifier", "code="} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in: %s", secret, text)
		}
	}
}

func TestAWebSocketLogsIn(t *testing.T) {
	w := newWorld(t)
	mcp := w.server.Config.Handler
	w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		letIn := false
		w.with(func() { _, letIn = w.issuers[0].tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] })
		if !letIn || r.Header.Get("Upgrade") == "" {
			mcp.ServeHTTP(rw, r)
			return
		}
		socket, err := websocket.Accept(rw, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		socket.Close(websocket.StatusNormalClosure, "hello")
	})
	c := w.connect(w.authorizer(), func(s *auth.Server) { s.URL.Scheme = "ws" })
	socket, _, err := websocket.Dial(t.Context(), strings.Replace(w.url(), "http", "ws", 1), &websocket.DialOptions{HTTPClient: c})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Error(err)
	}
	if n := len(w.issuers[0].logins); n != 1 {
		t.Errorf("%d logins, want one", n)
	}
}
