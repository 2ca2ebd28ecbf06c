package apps_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/sidecar/wire/apps"
)

const hello = "<!DOCTYPE html><p>hello"

func TestFrames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	page := apps.Page{HTML: []byte(hello), Domains: apps.Domains{Connect: []string{"https://a.example"}, Resource: []string{"https://b.example"}}}
	id, frame := open(t, s, page, true)

	outer := get(t, frame)
	if outer.status != http.StatusOK || !strings.Contains(outer.body, "assentAppReady") {
		t.Errorf("the outer frame: %d %s", outer.status, outer.body)
	}
	origin, _ := s.Origin()
	policy := outer.header.Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "script-src 'sha256-", "frame-src " + origin + "/app/" + id + ";", "sandbox allow-scripts allow-forms",
	} {
		if !strings.Contains(policy, want) {
			t.Errorf("the outer frame's policy has no %q: %s", want, policy)
		}
	}

	inner := get(t, appOf(frame))
	if inner.status != http.StatusOK || inner.body != hello {
		t.Errorf("the app: %d %s", inner.status, inner.body)
	}
	want := "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data: https://b.example; " +
		"style-src 'unsafe-inline' blob: data: https://b.example; img-src blob: data: https://b.example; " +
		"font-src blob: data: https://b.example; media-src blob: data: https://b.example; worker-src blob: data:; " +
		"connect-src blob: data: https://a.example; frame-src 'none'; base-uri 'none'; object-src 'none'; form-action 'none'; " +
		"sandbox allow-scripts allow-forms"
	if diff := cmp.Diff(want, inner.header.Get("Content-Security-Policy")); diff != "" {
		t.Errorf("the app's policy (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"X-DNS-Prefetch-Control": "off", "Content-Type": "text/html; charset=utf-8",
	} {
		for where, answer := range map[string]answer{"outer": outer, "inner": inner} {
			if got := answer.header.Get(name); got != want {
				t.Errorf("%s, %s: %q, want %q", where, name, got, want)
			}
		}
	}
	for _, feature := range []string{"camera=()", "microphone=()", "geolocation=()", "clipboard-write=()"} {
		if !strings.Contains(inner.header.Get("Permissions-Policy"), feature) {
			t.Errorf("an app may use %s", feature)
		}
	}
}

func TestWithoutConsentNothingIsLoaded(t *testing.T) {
	t.Parallel()
	page := apps.Page{HTML: []byte(hello), Domains: apps.Domains{
		Connect: []string{"https://a.example"}, Resource: []string{"https://b.example"}, Frame: []string{"https://c.example"}, BaseURI: []string{"https://d.example"},
	}}
	_, frame := open(t, newServer(t), page, false)
	if policy := get(t, appOf(frame)).header.Get("Content-Security-Policy"); strings.Contains(policy, "example") {
		t.Errorf("the policy names domains: %s", policy)
	}
}

func TestWhoIsNotServed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, frame := open(t, s, apps.Page{HTML: []byte(hello)}, false)
	origin, _ := s.Origin()
	for _, c := range []struct {
		name, url, host, method string
		want                    int
	}{
		{"another id", origin + "/app/" + strings.Repeat("A", len(id)), "", "", http.StatusNotFound},
		{"no id", origin + "/app/", "", "", http.StatusNotFound},
		{"the root", origin + "/", "", "", http.StatusNotFound},
		{"more than the id", appOf(frame) + "/x", "", "", http.StatusNotFound},
		{"a rebound name", appOf(frame), "evil.example", "", http.StatusForbidden},
		{"a rebound name and the port", appOf(frame), "evil.example:80", "", http.StatusForbidden},
		{"a name like ours", appOf(frame), "127.0.0.1.evil.example", "", http.StatusForbidden},
		{"POST", appOf(frame), "", http.MethodPost, http.StatusMethodNotAllowed},
		{"a forwarded port", appOf(frame), "localhost:9", "", http.StatusOK},
	} {
		if got := ask(t, c.method, c.url, c.host).status; got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	s.Shut(id)
	s.Shut(id)
	for _, url := range []string{frame, appOf(frame)} {
		if got := get(t, url).status; got != http.StatusNotFound {
			t.Errorf("%s after it was shut: %d", url, got)
		}
	}
}

func TestTheOldestMakesRoom(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var ids, gone []string
	for range 34 {
		id, _, err := s.Open(apps.Page{HTML: []byte(hello)}, false, func(id string) { gone = append(gone, id) })
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if diff := cmp.Diff(ids[:2], gone); diff != "" {
		t.Errorf("the apps that made room (-want +got):\n%s", diff)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 34 {
		t.Error("two apps have one id")
	}
}

func TestNothingIsServedAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := apps.New(zerolog.Nop())
	_, frame := open(t, s, apps.Page{HTML: []byte(hello)}, false)
	s.Close()
	if response, err := http.Get(frame); err == nil {
		_ = response.Body.Close()
		t.Error("the frame is served")
	}
	if _, _, err := s.Open(apps.Page{HTML: []byte(hello)}, false, nil); err == nil {
		t.Error("an app can be opened")
	}
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	const uri = "ui://a/b.html"
	page := func(more string) string {
		return fmt.Sprintf(`{"contents":[{"uri":%q,"mimeType":"text/html;profile=mcp-app",%s}]}`, uri, more)
	}
	long := strings.Repeat("x", apps.MaxPage+1)
	for _, c := range []struct{ name, result, html, problem string }{
		{"a text", page(`"text":"<p>"`), "<p>", ""},
		{"a blob", page(`"blob":"PHA+"`), "<p>", ""},
		{"another first", `{"contents":[{"uri":"ui://x","mimeType":"text/plain","text":"no"},` + page(`"text":"<p>"`)[len(`{"contents":[`):], "<p>", ""},
		{"no contents", `{"contents":[]}`, "", "cannot be read"},
		{"no JSON", `x`, "", "cannot be read"},
		{"an empty page", page(`"text":""`), "", "is empty"},
		{"neither text nor blob", page(`"x":1`), "", "is empty"},
		{"no base64", page(`"blob":"!"`), "", "is not base64"},
		{"a plain page", `{"contents":[{"uri":"ui://a/b.html","mimeType":"text/html","text":"<p>"}]}`, "", `has the type "text/html"`},
		{"a type that begins like ours", `{"contents":[{"uri":"ui://a/b.html","mimeType":"text/html;profile=mcp-app2","text":"<p>"}]}`, "", "has the type"},
		{"a long text", page(`"text":"` + long + `"`), "", "no more than 10 MB are shown"},
		{"a long blob", page(`"blob":"` + strings.Repeat("xxxx", apps.MaxPage/3+1) + `"`), "", "no more than 10 MB are shown"},
		{"domains of another shape", page(`"text":"<p>","_meta":{"ui":{"csp":{"connectDomains":"https://a.example"}}}`), "", "cannot be read"},
	} {
		got, err := apps.ReadPage(json.RawMessage(c.result), uri)
		switch {
		case c.problem == "" && (err != nil || string(got.HTML) != c.html):
			t.Errorf("%s: %q, %v", c.name, got.HTML, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)
		}
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"https://a.example.com":       "https://a.example.com",
		"HTTPS://A.Example.com/":      "https://a.example.com",
		"https://a.example.com:8443":  "https://a.example.com:8443",
		"https://*.example.com":       "https://*.example.com",
		"https://xn--bcher-kva.de":    "https://xn--bcher-kva.de",
		"wss://live.example.com":      "wss://live.example.com",
		"https://*.foo.github.io":     "https://*.foo.github.io",
		"https://with_under.line.com": "https://with_under.line.com",
	}
	for declared, want := range good {
		p := declare(t, declared)
		if diff := cmp.Diff([]string{want}, p.Domains.Connect); diff != "" || len(p.Refused) > 0 {
			t.Errorf("%s (-want +got):\n%s refused %v", declared, diff, p.Refused)
		}
	}
	for _, bad := range []string{
		"", "*", "https://*", "https:", "https://", "http://a.example.com", "ws://a.example.com", "a.example.com", "data:", "blob:", "'self'",
		"'unsafe-inline'", "javascript:alert(1)", "file:///etc/passwd", "https://localhost", "https://localhost:8080", "https://a.localhost",
		"https://127.0.0.1", "https://127.1", "https://2130706433", "https://0x7f.1", "https://0x7f000001", "https://[::1]", "https://10.0.0.1", "https://192.168.1.1",
		"https://169.254.169.254", "https://intranet", "https://printer.local", "https://db.internal", "https://*.com", "https://*.co.uk",
		"https://*.github.io", "https://a.*.example.com", "https://**.example.com", "https://user@a.example.com", "https://a.example.com/path",
		"https://a.example.com?x", "https://a.example.com#x", "https://a.example.com;script-src *", "https://a.example.com *", "https://a.example.com,b",
		"https://a.example.com\nx", "https://bücher.de", "https://a..example.com", "https://.example.com", "https://a.example.com:99x",
		"https://" + strings.Repeat("a.", 200) + "com",
	} {
		p := declare(t, bad)
		if len(p.Domains.All()) > 0 || len(p.Refused) != 1 {
			t.Errorf("%q is taken as %v, refused %v", bad, p.Domains.All(), p.Refused)
		}
	}
	p := declare(t, slices.Repeat([]string{"https://a.example.com"}, 60)...)
	if diff := cmp.Diff([]string{"https://a.example.com"}, p.Domains.All()); diff != "" {
		t.Errorf("the same domain 60 times (-want +got):\n%s", diff)
	}
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprintf("https://a%d.example.com", i)
	}
	if n := len(declare(t, many...).Domains.All()); n != 50 {
		t.Errorf("%d of 60 domains are taken", n)
	}
}

// A WebSocket is for connections alone.
func TestSchemesOfDomains(t *testing.T) {
	t.Parallel()
	raw := `{"contents":[{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":{` +
		`"resourceDomains":["wss://a.example.com"],"frameDomains":["wss://b.example.com"],"baseUriDomains":["https://c.example.com"]},"prefersBorder":false}}}]}`
	p, err := apps.ReadPage(json.RawMessage(raw), "ui://a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://c.example.com"}, p.Domains.All()); diff != "" || len(p.Refused) != 2 {
		t.Errorf("the domains (-want +got):\n%s refused %v", diff, p.Refused)
	}
	if p.Border == nil || *p.Border {
		t.Error("the app's border is not known")
	}
}

func TestReadTool(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]apps.Tool{
		``:                                   {},
		`{}`:                                 {},
		`{"ui":3}`:                           {},
		`{"ui":{"resourceUri":"ui://a"}}`:    {URI: "ui://a"},
		`{"ui/resourceUri":"ui://a"}`:        {URI: "ui://a"},
		`{"ui":{"resourceUri":"https://a"}}`: {},
		`{"ui":{"resourceUri":["ui://a"]},"ui/resourceUri":"ui://b"}`:     {URI: "ui://b"},
		`{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://b"}`:       {URI: "ui://a"},
		`{"ui":{"visibility":["app"]}}`:                                   {NotForModels: true},
		`{"ui":{"visibility":["model"],"resourceUri":"ui://a"}}`:          {URI: "ui://a", NotForApps: true},
		`{"ui":{"visibility":["model","app"]}}`:                           {},
		`{"ui":{"visibility":[]}}`:                                        {NotForModels: true, NotForApps: true},
		`{"ui":{"visibility":"app"}}`:                                     {},
		`{"ui":{"resourceUri":"ui://` + strings.Repeat("a", 3000) + `"}}`: {},
		`{"UI":{"resourceUri":"ui://a"}}`:                                 {},
	} {
		if got := apps.ReadTool(json.RawMessage(meta)); got != want {
			t.Errorf("%s: %+v, want %+v", meta, got, want)
		}
	}
}

func TestReadForm(t *testing.T) {
	for meta, want := range map[string]string{
		"":                                   "",
		"null":                               "",
		`{"ui":{"resourceUri":"ui://a"}}`:    "ui://a",
		`{"ui/resourceUri":"ui://a"}`:        "", // it was never the name for forms
		`{"ui":{"resourceUri":"https://a"}}`: "",
		`{"ui":{"resourceUri":["ui://a"]}}`:  "",
		`{"ui":"ui://a"}`:                    "",
		`{"ui":{"resourceUri":"ui://` + strings.Repeat("a", 3000) + `"}}`: "",
	} {
		if got := apps.ReadForm(json.RawMessage(meta)); got != want {
			t.Errorf("%s: %q, want %q", meta, got, want)
		}
	}
}

func newServer(t *testing.T) *apps.Server {
	t.Helper()
	s := apps.New(zerolog.Nop())
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, s *apps.Server, page apps.Page, allowed bool) (id, frame string) {
	t.Helper()
	id, frame, err := s.Open(page, allowed, func(string) { t.Error("an app had to make room") })
	if err != nil {
		t.Fatal(err)
	}
	return id, frame
}

// appOf returns the address of the app in a frame.
func appOf(frame string) string { return strings.Replace(frame, "/frame/", "/app/", 1) }

type answer struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, url string) answer {
	t.Helper()
	return ask(t, http.MethodGet, url, "")
}

func ask(t *testing.T, method, url, host string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// declare reads a page whose server declares these domains for connections.
func declare(t *testing.T, domains ...string) apps.Page {
	t.Helper()
	declared, err := json.Marshal(domains)
	if err != nil {
		t.Fatal(err)
	}
	raw := fmt.Sprintf(`{"contents":[{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":{"connectDomains":%s}}}}]}`, declared)
	p, err := apps.ReadPage(json.RawMessage(raw), "ui://a")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
