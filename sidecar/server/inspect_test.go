package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
