package workspace

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/base/secret"
)

func TestAnInspectionHoldsNoSecrets(t *testing.T) {
	const key = "ghp_" + "x7Kq2mVb9TzR4cLw8NsYd3HfJ6pGa1EuQ5oX"
	said := "login with " + key
	result := &protocol.ServerInspection{
		Server:      protocol.Server{Command: "run --token hunter2 " + key, Reason: said, Stderr: []string{said}},
		Verdict:     &protocol.ServerVerdict{Text: said, WayOut: said},
		Launch:      &protocol.ServerLaunch{Args: []string{"--token", "hunter2", key}, Problem: said, NearMisses: []string{said}},
		Handshake:   &protocol.ServerHandshake{Instructions: said},
		LastFailure: &protocol.ServerFailure{Reason: said, Stderr: []string{said}, Stdout: []string{said}},
		Log:         []protocol.ServerLogLine{{Text: said}},
	}
	(&Workspace{secrets: knownSecrets{scanner: secret.New()}}).redact(result)
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); strings.Contains(text, key) || strings.Contains(text, "hunter2") || strings.Count(text, "login with [redacted: ") != 11 {
		t.Errorf("what is told: %s", raw)
	}
}

func TestArgumentsThatAreSecretsAreMasked(t *testing.T) {
	tests := []struct {
		name       string
		args, want []string
	}{
		{"a flag and its value", []string{"--api-key", "abc", "run"}, []string{"--api-key", "…", "run"}},
		{"a flag with its value", []string{"--token=abc"}, []string{"--token=…"}},
		{"a flag before another", []string{"--token", "--verbose"}, []string{"--token", "--verbose"}},
		{"a variable", []string{"--token", "${input:t}", "--key=${env:KEY}"}, []string{"--token", "${input:t}", "--key=${env:KEY}"}},
		{"a container's environment", []string{"-e", "GITHUB_TOKEN=abc", "-e", "DEBUG=1"}, []string{"-e", "GITHUB_TOKEN=…", "-e", "DEBUG=1"}},
		{"a header", []string{"--header", "Authorization: Bearer abc"}, []string{"--header", "Authorization:…"}},
		{"a URL", []string{"https://example.com/x=y"}, []string{"https://example.com/x=y"}},
		{"nothing", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, maskArgs(tt.args)); diff != "" {
				t.Errorf("maskArgs (-want +got):\n%s", diff)
			}
		})
	}
}
