package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{
		`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://example.com/x"`,
		`Basic realm="x", Bearer scope=a`, `Bearer`, `Bearer error="`, `,,=`, "Bearer scope=\"\\\"\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
			c := challengeOf(&http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": {header}}})
			if c == nil && status == http.StatusUnauthorized {
				t.Error("a 401 is always a challenge")
			}
		}
	})
}

func FuzzCovers(f *testing.F) {
	f.Add("https://example.com", "https://example.com/mcp")
	f.Add("https://example.com/%2e%2e", "https://example.com/mcp?a=b")
	f.Fuzz(func(t *testing.T, claimed, resource string) {
		if !covers(claimed, resource) || claimed == resource {
			return
		}
		a, err := url.Parse(claimed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := url.Parse(resource)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.EqualFold(a.Host, b.Host) || !strings.EqualFold(a.Scheme, b.Scheme) {
			t.Errorf("%q covers %q", claimed, resource)
		}
	})
}
