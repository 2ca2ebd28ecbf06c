package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
)

func TestTracing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		// url is that of the collector; "" for none. problem is a part of the problem, or "" for none.
		url, problem string
	}{
		{"none", `{"servers":{}}`, "", ""},
		{"alone", `{"tracing":{"endpoint":"http://localhost:4318/v1/traces"}}`, "http://localhost:4318/v1/traces", ""},
		{"with a comment", "{// off tomorrow\n\"tracing\":{\"endpoint\":\"https://${env:WHERE}/v1/traces\",},\"servers\":{}}", "https://there/v1/traces", ""},
		{"with a kept secret", `{"tracing":{"endpoint":"https://there/","headers":{"X-Key":"Bearer ${secret:collector}"}}}`, "https://there/", ""},
		{"no object", `{"tracing":true}`, "", `"tracing" must be an object`},
		{"another member", `{"tracing":{"endpoint":"http://there/","header":{}}}`, "", `unknown field "header"`},
		{"no endpoint", `{"tracing":{}}`, "", `has no "endpoint"`},
		{"no URL", `{"tracing":{"endpoint":"there"}}`, "", "must begin with http"},
		{"a key in clear text", `{"tracing":{"endpoint":"http://there/","headers":{"X-Key":"abc"}}}`, "", `"X-Key" must take its value from`},
		{"an unknown variable", `{"tracing":{"endpoint":"http://there/","headers":{"X-Key":"${input:key}"}}}`, "", "no input with the id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "mcp.json")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := config.Load(protocol.Configuration{}, file)
			if isOne := len(got.Problems) == 1; isOne != (test.problem != "") || isOne && !strings.Contains(got.Problems[0].Message, test.problem) {
				t.Errorf("the problems are %+v, want %q", got.Problems, test.problem)
			}
			if (got.Tracing != nil) != (test.url != "") {
				t.Fatalf("tracing is %+v", got.Tracing)
			}
			if got.Tracing == nil {
				return
			}
			u, header, err := got.Tracing.Endpoint(context.Background(), config.Environment{
				Environ: []string{"WHERE=there"}, Secret: func(name string) (string, error) { return "the " + name, nil },
			})
			if err != nil || u.String() != test.url {
				t.Errorf("the address is %v: %v", u, err)
			}
			if want := map[bool]string{true: "Bearer the collector"}[strings.Contains(test.text, "secret")]; header.Get("X-Key") != want {
				t.Errorf("the key is %q, want %q", header.Get("X-Key"), want)
			}
		})
	}
}

// A workspace cannot have traces exported, and a file that a folder names replaces the servers of the person's own, not the tracing.
func TestAWorkspaceHasNoTracing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	named := filepath.Join(folder, "servers.json")
	text := `{"servers":{"a":{"command":"a"}},"tracing":{"endpoint":"http://elsewhere/v1/traces"}}`
	if err := os.WriteFile(named, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	workspace := protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Path: folder, ConfigFile: named}}}
	if got := config.Load(workspace, ""); got.Tracing != nil || len(got.Servers) != 1 {
		t.Errorf("the configuration is %+v", got)
	}
	own := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(own, []byte(`{"servers":{"b":{"command":"b"}},"tracing":{"endpoint":"http://here/v1/traces"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := config.Load(workspace, own)
	if got.Tracing == nil || len(got.Servers) != 1 || got.Servers[0].Name != "a" {
		t.Errorf("the configuration is %+v", got)
	}
}
