package apps_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/rs/zerolog"

	"assent/sidecar/wire/apps"
)

// A Content-Security-Policy does not hold WebRTC, preconnections and lookups of names. Connection-Allowlist does.
func TestAppConnectsOnlyToItsDomains(t *testing.T) {
	domains := apps.Domains{
		Connect:  []string{"https://api.example", "wss://api.example"},
		Resource: []string{"https://*.cdn.example"},
	}
	for _, test := range []struct {
		name    string
		allowed bool
		want    string
	}{
		{"allowed", true, `("https://*.cdn.example" "https://api.example" "wss://api.example")`},
		{"not allowed", false, "()"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := apps.New(zerolog.Nop())
			t.Cleanup(server.Close)
			page := apps.Page{HTML: []byte("<p>x</p>"), Domains: domains}
			id, _, err := server.Open(page, test.allowed, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			origin, err := server.Origin()
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.Get(origin + "/app/" + id)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if got := response.Header.Get("Connection-Allowlist"); got != test.want {
				t.Errorf("Connection-Allowlist is %s, want %s", got, test.want)
			}
		})
	}
}
