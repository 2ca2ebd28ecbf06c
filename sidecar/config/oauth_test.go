package config_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/config"
)

func TestOAuth(t *testing.T) {
	ws, _ := folder(t, `{
		"inputs": [{"type": "promptString", "id": "secret", "password": true}],
		"servers": {
			"plain": {"url": "https://example.org/mcp"},
			"known": {"url": "https://example.org/mcp", "oauth": {
				"clientId": "${env:CLIENT}", "clientSecret": "${input:secret}", "issuer": "https://login.example.org",
				"scopes": ["read"], "callbackPort": 33418, "clientMetadataUrl": "https://example.org/client.json",
			}},
			"unknown": {"url": "https://example.org/mcp", "oauth": {"clientId": "${nobody:knows}"}},
		},
	}`)
	result := load(ws)
	if len(result.Problems) > 0 {
		t.Fatal(result.Problems)
	}
	e := config.Environment{
		Environ: []string{"CLIENT=mine"},
		Ask:     func(context.Context, config.Server, config.Input) (string, error) { return "shh", nil },
	}
	want := map[string]config.OAuth{
		"plain": {},
		"known": {
			ClientID: "mine", ClientSecret: "shh", Issuer: "https://login.example.org",
			Scopes: []string{"read"}, CallbackPort: 33418, ClientMetadataURL: "https://example.org/client.json",
		},
	}
	got := map[string]config.OAuth{}
	for _, s := range result.Servers {
		login, err := s.Login(t.Context(), e)
		if s.Name == "unknown" {
			if err == nil || !strings.Contains(err.Error(), "oauth: ${nobody:knows}") {
				t.Errorf("%v", err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
		}
		got[s.Name] = login
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOAuthThatCannotBe(t *testing.T) {
	for oauth, want := range map[string]string{
		`{"clientSecret": "shh"}`:  "oauth.clientSecret needs an oauth.clientId",
		`{"callbackPort": 70000}`:  "oauth.callbackPort 70000 is not a port",
		`{"scopes": "read write"}`: `the server "a" cannot be read`,
	} {
		ws, _ := folder(t, `{"servers": {"a": {"url": "https://example.org/mcp", "oauth": `+oauth+`}}}`)
		result := load(ws)
		if len(result.Servers) != 0 || len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Message, want) {
			t.Errorf("%s: %+v, want %q", oauth, result, want)
		}
	}
}
