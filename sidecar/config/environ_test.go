package config_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"assent/sidecar/config"
)

func TestProxyIsThatOfTheGivenEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://own.example:1") // of the process, which does not count
	environ := []string{"HTTPS_PROXY=http://one.example:3128", "http_proxy=http://two.example:3128", "NO_PROXY=direct.example"}
	for url, want := range map[string]string{
		"https://mcp.example/mcp":    "http://one.example:3128",
		"http://mcp.example/mcp":     "http://two.example:3128",
		"https://direct.example/mcp": "",
		"http://127.0.0.1:8080/mcp":  "",
	} {
		got, err := config.Proxy(environ)(httptest.NewRequest(http.MethodPost, url, nil))
		if err != nil || (got == nil) != (want == "") || got != nil && got.String() != want {
			t.Errorf("%s goes through %v, %v, want %q", url, got, err, want)
		}
		if got, err := config.Proxy(nil)(httptest.NewRequest(http.MethodPost, url, nil)); got != nil || err != nil {
			t.Errorf("%s goes through %v, %v without an environment", url, got, err)
		}
	}
}

func TestHTTPProxyOfACGIProgramIsRefused(t *testing.T) {
	environ := []string{"REQUEST_METHOD=GET", "HTTP_PROXY=http://attacker.example"}
	if got, err := config.Proxy(environ)(httptest.NewRequest(http.MethodGet, "http://mcp.example", nil)); got != nil || err == nil {
		t.Errorf("it goes through %v, %v, want an error", got, err)
	}
}
