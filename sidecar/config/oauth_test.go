package config_test

import (
	"context"
	"os"
	"path/filepath"
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
			"machine": {"url": "https://example.org/mcp", "oauth": {
				"grantType": "client_credentials", "clientId": "mine", "privateKeyFile": "keys/${env:CLIENT}.pem", "keyId": "k1",
			}},
			"workload": {"url": "https://example.org/mcp", "oauth": {"assertionFile": "/run/token", "issuer": "https://login.example.org"}},
			"company": {"url": "https://example.org/mcp", "oauth": {
				"clientId": "mine", "clientSecret": "${input:secret}",
				"identityProvider": {"issuer": "https://idp.example.org", "clientId": "${env:CLIENT}", "idToken": "${env:ID_TOKEN}"},
			}},
			"unknown": {"url": "https://example.org/mcp", "oauth": {"clientId": "${nobody:knows}"}},
		},
	}`)
	result := load(ws)
	if len(result.Problems) > 0 {
		t.Fatal(result.Problems)
	}
	e := config.Environment{
		Environ: []string{"CLIENT=mine", "ID_TOKEN=about.me.x"},
		Folder:  ws.Path,
		Ask:     func(context.Context, config.Server, config.Input) (string, error) { return "shh", nil },
	}
	want := map[string]config.OAuth{
		"plain": {},
		"known": {
			ClientID: "mine", ClientSecret: "shh", Issuer: "https://login.example.org",
			Scopes: []string{"read"}, CallbackPort: 33418, ClientMetadataURL: "https://example.org/client.json",
		},
		"machine":  {GrantType: config.GrantClientCredentials, ClientID: "mine", PrivateKeyFile: filepath.Join(ws.Path, "keys", "mine.pem"), KeyID: "k1"},
		"workload": {AssertionFile: absolute(ws.Path, "/run/token"), Issuer: "https://login.example.org"},
		"company": {
			ClientID: "mine", ClientSecret: "shh",
			IdentityProvider: config.IdentityProvider{Issuer: "https://idp.example.org", ClientID: "mine", IDToken: "about.me.x"},
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

		`{"grantType": "password"}`:           `oauth.grantType is "password"`,
		`{"grantType": "client_credentials"}`: "needs a clientId, and a clientSecret",
		`{"grantType": "client_credentials", "clientId": "a", "clientSecret": "shh"}`:                         "oauth.clientSecret is a secret, which does not belong into a file",
		`{"clientId": "a", "privateKey": "-----BEGIN PRIVATE KEY-----"}`:                                      "oauth.privateKey is a secret",
		`{"privateKeyFile": "a.pem"}`:                                                                         "oauth.privateKey needs an oauth.clientId",
		`{"clientId": "a", "clientSecret": "${env:S}", "privateKeyFile": "a.pem"}`:                            "a clientSecret and a private key",
		`{"assertion": "a.b.c"}`:                                                                              "oauth.assertion is a secret",
		`{"assertion": "${env:A}", "assertionFile": "a"}`:                                                     "a value and a file for the same",
		`{"grantType": "client_credentials", "clientId": "a", "privateKeyFile": "k", "assertionFile": "a"}`:   "can have one of",
		`{"clientId": "a", "identityProvider": {"clientId": "b", "idTokenFile": "t"}}`:                        "needs an issuer and a clientId",
		`{"clientId": "a", "identityProvider": {"issuer": "https://i", "clientId": "b"}}`:                     "needs an idToken or an idTokenFile",
		`{"identityProvider": {"issuer": "https://i", "clientId": "b", "idTokenFile": "t"}}`:                  "needs an oauth.clientId",
		`{"clientId": "a", "identityProvider": {"issuer": "https://i", "clientId": "b", "idToken": "x.y.z"}}`: "oauth.identityProvider.idToken is a secret",
	} {
		ws, _ := folder(t, `{"servers": {"a": {"url": "https://example.org/mcp", "oauth": `+oauth+`}}}`)
		result := load(ws)
		if len(result.Servers) != 0 || len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Message, want) {
			t.Errorf("%s: %+v, want %q", oauth, result, want)
		}
	}
}

func TestNote(t *testing.T) {
	ws, _ := folder(t, `{
		"servers": {
			"here": {"command": "${env:SHELL_NAME}", "env": {"A": "b${env:C}", "GONE": null}, "envFile": "${workspaceFolder}/more.env"},
			"there": {"url": "https://example.org/mcp", "headers": {"X-Key": "Bearer ${env:C}"}, "oauth": {"clientId": "me", "clientSecret": "shh"}},
		},
	}`)
	if err := os.WriteFile(filepath.Join(ws.Path, "more.env"), []byte("FROM_FILE=f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	e := config.Environment{
		Environ: []string{"C=d", "SHELL_NAME=assent-test-nobody"},
		Note:    func(s config.Server, name, value string) { got[s.Name+" "+name] = value },
	}
	for _, s := range load(ws).Servers {
		if s.URL == "" {
			if _, err := s.Resolve(t.Context(), e); err == nil {
				t.Error("there is such a program")
			}
			continue
		}
		if _, _, err := s.Endpoint(t.Context(), e); err != nil {
			t.Error(err)
		}
		if _, err := s.Login(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	want := map[string]string{
		"here A": "bd", "here env:C": "d", "here env:SHELL_NAME": "assent-test-nobody", "here FROM_FILE": "f",
		"there header X-Key": "Bearer d", "there env:C": "d", "there oauth.clientSecret": "shh",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// absolute returns a path of Unix as it is taken on this system: on Windows it lacks a drive, and lies below the base.
func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
