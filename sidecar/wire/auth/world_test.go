package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

func TestMain(m *testing.M) {
	code := m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is an MCP server that wants a token, the authorization servers that it trusts, and a person with
// a browser. Its exported fields are set before the first request, or with the lock held.
type world struct {
	t       *testing.T
	server  *httptest.Server
	issuers []*issuer
	secrets *secrets
	log     *syncBuffer

	mu sync.Mutex // guards everything below
	// MetadataAt is where the server describes itself: "header", "path", "root" or, as before 2025-06-18,
	// nowhere.
	MetadataAt string
	// IsBusy: requests for the metadata get the status 429.
	IsBusy bool
	// DescribedAt is the URL of its metadata in its challenge, if it is not its own. If MovedTo is set, its own URL
	// redirects there.
	DescribedAt, MovedTo string
	// Resource is the resource in its metadata, if that is false.
	Resource string
	// Trusted is the index of the authorization server that it trusts now.
	Trusted int
	// Challenged and Needed are the scopes in its 401, and those that each path needs.
	Challenged string
	Needed     map[string]string
	// Open is what becomes of a login page; nil opens it in a browser.
	Open func(url string) (bool, error)
	// Scheme is the one that its challenges name; "" is Bearer. Checks sees each request before it is answered, and reports
	// whether it answered.
	Scheme string
	Checks func(rw http.ResponseWriter, r *http.Request) bool
	// Waiting is told of each request that is refused.
	Waiting func()

	pages    []page
	requests []*http.Request
	browsing sync.WaitGroup
}

// page is what a browser ended at.
type page struct {
	status int
	header http.Header
	body   string
	err    error
}

// issuer is an authorization server. Its fields are guarded by its world's lock.
type issuer struct {
	w      *world
	server *httptest.Server
	name   string

	// MetadataAt is its well-known URI, or empty if it has none.
	MetadataAt string
	// Path is the issuer's.
	Path string
	// More is put into the metadata; nil removes.
	More map[string]any
	// Registered and Token are put into the answers to a registration and to a token request.
	Registered, Token map[string]any
	// URL is the issuer that the MCP server names, if that is false.
	URL string
	// Says is the issuer in its metadata, if that is false.
	Says string
	// Iss and State are those of its redirects, if they are false.
	Iss, State *string
	// Denies is the error of its redirects, and Because its description, with "-" there is none.
	Denies, Because string
	// Grants are the scopes that it gives in place of those asked for, with "-" it does not say which.
	Grants string
	// ExpiresIn is of its tokens, in seconds; 0 is not said.
	ExpiresIn int
	// Clients are those that it knows, by id, with their secrets.
	Clients map[string]string
	// DetectsReuse ends every token when a refresh token is used again.
	DetectsReuse bool
	// Refreshing is called before each refresh is answered.
	Refreshing func()
	// TokenType is that of its tokens; "" is Bearer. Checks sees each token request before it is answered, and reports
	// whether it answered.
	TokenType string
	Checks    func(rw http.ResponseWriter, r *http.Request) bool
	// RefreshFails is the status with which it answers a refresh.
	RefreshFails int

	codes         map[string]url.Values // the authorization request of each
	tokens        map[string]string     // scopes by access token
	refreshTokens map[string]string
	registrations []map[string]any
	logins        []url.Values
	tokenRequests []url.Values
	tokenAuths    []string
	count         int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, MetadataAt: "header", Needed: map[string]string{}, secrets: &secrets{}, log: &syncBuffer{}}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	w.issuer("as1")
	t.Cleanup(w.browsing.Wait)
	return w
}

// issuer adds an authorization server.
func (w *world) issuer(name string) *issuer {
	i := &issuer{
		w: w, name: name, MetadataAt: "/.well-known/oauth-authorization-server", Clients: map[string]string{},
		More: map[string]any{}, codes: map[string]url.Values{}, tokens: map[string]string{}, refreshTokens: map[string]string{},
	}
	i.server = httptest.NewServer(http.HandlerFunc(i.serve))
	w.t.Cleanup(i.server.Close)
	w.issuers = append(w.issuers, i)
	return i
}

func (w *world) url() string { return w.server.URL + "/mcp" }

// authorizer returns one that has the world's secrets and browser.
func (w *world) authorizer(change ...func(*auth.Options)) *auth.Authorizer {
	opts := auth.Options{
		Secrets: w.secrets,
		OpenURL: func(ctx context.Context, url, _ string) (bool, error) { return w.open(ctx, url) },
		Client:  protocol.Implementation{Name: "assent", Version: "1"},
		Log:     zerolog.New(w.log),
	}
	for _, c := range change {
		c(&opts)
	}
	a := auth.New(opts)
	w.t.Cleanup(a.Close)
	return a
}

// connect returns a connection to the server.
func (w *world) connect(a *auth.Authorizer, change ...func(*auth.Server)) *http.Client {
	u, err := url.Parse(w.url())
	if err != nil {
		w.t.Fatal(err)
	}
	s := auth.Server{Name: "files", URL: u}
	for _, c := range change {
		c(&s)
	}
	base := &http.Transport{}
	w.t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: a.Transport(s, base)}
}

// post makes a request and returns the response's body, or the error.
func (w *world) post(c *http.Client, path string) (string, error) {
	return w.postCtx(w.t.Context(), c, path)
}

func (w *world) postCtx(ctx context.Context, c *http.Client, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+path, strings.NewReader("hello"))
	if err != nil {
		return "", err
	}
	response, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s", response.StatusCode, body), err
}

// mustPost fails unless the server took the request.
func (w *world) mustPost(c *http.Client, path string) {
	w.t.Helper()
	got, err := w.post(c, path)
	if err != nil || got != "200 hello" {
		w.t.Fatalf("POST %s: %q, %v; want it taken\n%s", path, got, err, w.log)
	}
}

func (w *world) open(_ context.Context, url string) (bool, error) {
	w.mu.Lock()
	open := w.Open
	w.mu.Unlock()
	if open != nil {
		return open(url)
	}
	w.browse(url)
	return true, nil
}

// browse shows a page as a browser does, on its own.
func (w *world) browse(url string) {
	w.browsing.Go(func() {
		var p page
		response, err := http.Get(url)
		if p.err = err; err == nil {
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			p = page{response.StatusCode, response.Header, string(body), err}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pages = append(w.pages, p)
	})
}

// with runs f with the lock held.
func (w *world) with(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// serve is the MCP server.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	w.mu.Lock()
	defer w.mu.Unlock()
	metadata := map[string]any{
		"resource":              or(w.Resource, w.url()),
		"authorization_servers": []string{w.issuers[w.Trusted].url()},
		"scopes_supported":      []string{"files:list"},
	}
	switch at := r.URL.Path; {
	case w.IsBusy && strings.HasPrefix(at, wellKnown):
		rw.WriteHeader(http.StatusTooManyRequests)
		return
	case at == "/described-here" && w.MovedTo != "":
		http.Redirect(rw, r, w.MovedTo, http.StatusFound)
		return
	case at == "/described-here" && w.MetadataAt == "header",
		at == wellKnown+"/mcp" && w.MetadataAt == "path",
		at == wellKnown && w.MetadataAt == "root":
		writeJSON(rw, http.StatusOK, metadata)
		return
	case strings.HasPrefix(at, "/.well-known/"):
		if i := w.issuers[w.Trusted]; w.MetadataAt == "" && i.MetadataAt == at {
			writeJSON(rw, http.StatusOK, i.metadata())
			return
		}
		http.NotFound(rw, r)
		return
	}
	w.requests = append(w.requests, r.Clone(context.Background()))
	if w.Checks != nil && w.Checks(rw, r) {
		return
	}
	describe := ""
	if w.MetadataAt == "header" {
		describe = fmt.Sprintf(`, resource_metadata="%s"`, or(w.DescribedAt, w.server.URL+"/described-here"))
	}
	if w.Challenged != "" {
		describe += fmt.Sprintf(", scope=%q", w.Challenged)
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), or(w.Scheme, "Bearer")+" ")
	scopes, known := w.issuers[w.Trusted].tokens[token]
	needed := w.Needed[r.URL.Path]
	switch {
	case !known:
		if w.Waiting != nil {
			w.Waiting()
		}
		rw.Header().Set("WWW-Authenticate", or(w.Scheme, "Bearer")+` error="invalid_token"`+describe)
		http.Error(rw, "who are you?", http.StatusUnauthorized)
	case needed != "" && !slices.Contains(strings.Fields(scopes), needed):
		rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, needed)+strings.Split(describe, ", scope")[0])
		http.Error(rw, "not with this token", http.StatusForbidden)
	default:
		body, _ := io.ReadAll(r.Body)
		_, _ = rw.Write(body)
	}
}

func (i *issuer) url() string { return or(i.URL, i.server.URL+i.Path) }

func (i *issuer) metadata() map[string]any {
	base := i.server.URL
	m := map[string]any{
		"issuer":                           or(i.Says, i.url()),
		"authorization_endpoint":           base + "/authorize?tenant=1",
		"token_endpoint":                   base + "/token",
		"registration_endpoint":            base + "/register",
		"response_types_supported":         []string{"code"},
		"code_challenge_methods_supported": []string{"S256"},
	}
	if i.w.MetadataAt == "" {
		m["issuer"] = or(i.Says, i.w.server.URL)
	}
	for name, value := range i.More {
		if m[name] = value; value == nil {
			delete(m, name)
		}
	}
	return m
}

func (i *issuer) serve(rw http.ResponseWriter, r *http.Request) {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	switch {
	case r.URL.Path == i.MetadataAt && r.Method == http.MethodGet:
		writeJSON(rw, http.StatusOK, i.metadata())
	case r.URL.Path == "/register" && r.Method == http.MethodPost:
		i.register(rw, r)
	case r.URL.Path == "/authorize":
		i.authorize(rw, r)
	case r.URL.Path == "/token" && r.Method == http.MethodPost:
		i.token(rw, r)
	default:
		http.NotFound(rw, r)
	}
}

func (i *issuer) register(rw http.ResponseWriter, r *http.Request) {
	var m map[string]any
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		i.w.t.Errorf("registration: %v", err)
	}
	i.registrations = append(i.registrations, m)
	id := fmt.Sprintf("%s-client-%d", i.name, len(i.registrations))
	answer := map[string]any{"client_id": id, "redirect_uris": m["redirect_uris"], "token_endpoint_auth_method": m["token_endpoint_auth_method"]}
	i.Clients[id] = ""
	if m["token_endpoint_auth_method"] != "none" {
		i.Clients[id] = "sécret of " + id
		answer["client_secret"] = i.Clients[id]
	}
	maps.Copy(answer, i.Registered)
	writeJSON(rw, http.StatusCreated, answer)
}

func (i *issuer) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.logins = append(i.logins, q)
	if _, known := i.Clients[q.Get("client_id")]; !known {
		http.Error(rw, "no such client", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	switch {
	case i.Denies != "":
		answer.Set("error", i.Denies)
		if i.Because != "-" {
			answer.Set("error_description", or(i.Because, "because\nI say so"))
		}
	default:
		code := rand.Text()
		i.codes[code] = q
		answer.Set("code", code)
	}
	if i.State != nil {
		answer.Set("state", *i.State)
	}
	if i.More["authorization_response_iss_parameter_supported"] == true {
		answer.Set("iss", i.url())
	}
	if i.Iss != nil {
		answer.Set("iss", *i.Iss)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (i *issuer) token(rw http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		i.w.t.Errorf("token request: %v", err)
	}
	form := r.PostForm
	i.tokenRequests = append(i.tokenRequests, form)
	id, secret := form.Get("client_id"), form.Get("client_secret")
	method := "none"
	if secret != "" {
		method = "client_secret_post"
	}
	if user, password, ok := r.BasicAuth(); ok {
		method = "client_secret_basic"
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	i.tokenAuths = append(i.tokenAuths, method)
	if i.Checks != nil && i.Checks(rw, r) {
		return
	}
	refuse := func(status int, code string) {
		writeJSON(rw, status, map[string]any{"error": code, "error_description": "the token endpoint says so", "hint": "s3cret"})
	}
	if want, known := i.Clients[id]; !known || want != secret {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	var scopes string
	switch form.Get("grant_type") {
	case "authorization_code":
		q, known := i.codes[form.Get("code")]
		delete(i.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		challenge := base64.RawURLEncoding.EncodeToString(sum[:])
		switch {
		case !known, q.Get("client_id") != id, q.Get("redirect_uri") != form.Get("redirect_uri"), q.Get("resource") != form.Get("resource"),
			q.Get("code_challenge_method") != "S256", q.Get("code_challenge") != challenge:
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		scopes = q.Get("scope")
	case "refresh_token":
		if i.Refreshing != nil {
			i.Refreshing()
		}
		granted, known := i.refreshTokens[form.Get("refresh_token")]
		if i.RefreshFails != 0 {
			http.Error(rw, "back soon", i.RefreshFails)
			return
		}
		if !known {
			if i.DetectsReuse {
				i.endTokens()
				clear(i.refreshTokens)
			}
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		delete(i.refreshTokens, form.Get("refresh_token")) // rotated
		scopes = granted
	default:
		scopes = form.Get("scope")
	}
	i.count++
	access, refresh := fmt.Sprintf("%s-access-s3cret-%d", i.name, i.count), fmt.Sprintf("%s-refresh-s3cret-%d", i.name, i.count)
	answer := map[string]any{"access_token": access, "token_type": or(i.TokenType, "Bearer"), "refresh_token": refresh}
	switch i.Grants {
	case "":
		answer["scope"] = scopes
	case "-":
	default:
		scopes = i.Grants
		answer["scope"] = scopes
	}
	if i.ExpiresIn != 0 {
		answer["expires_in"] = i.ExpiresIn
	}
	i.tokens[access], i.refreshTokens[refresh] = scopes, scopes
	maps.Copy(answer, i.Token)
	writeJSON(rw, http.StatusOK, answer)
}

// endTokens makes every access token worthless.
func (i *issuer) endTokens() { clear(i.tokens) }

func writeJSON(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// secrets are kept in memory.
type secrets struct {
	mu     sync.Mutex // guards the field below
	values map[string]string
}

func (s *secrets) Get(_ context.Context, key string) (*protocol.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, nil
	}
	return &protocol.Secret{Secret: value}, nil
}

func (s *secrets) Set(_ context.Context, key string, value *protocol.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value == nil {
		delete(s.values, key)
		return nil
	}
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[key] = value.Secret
	return nil
}

func (s *secrets) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values))
}

// syncBuffer is a log.
type syncBuffer struct {
	mu   sync.Mutex // guards the field below
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// tooLate is for what must happen soon.
func tooLate(t *testing.T) <-chan time.Time { return time.After(2 * time.Minute) }
