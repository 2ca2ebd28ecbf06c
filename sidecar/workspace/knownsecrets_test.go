package workspace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/workspace/rpc/rpctest"
)

// TestHeld has a server given its values, and looks for them among the secrets that Assent holds.
func TestHeld(t *testing.T) {
	project := t.TempDir()
	path := filepath.Join(project, ".vscode", "mcp.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{
		"inputs": [
			{"type": "promptString", "id": "t", "password": true},
			{"type": "promptString", "id": "who"}
		],
		"servers": {"files": {"command": "sh", "args": ["-c", "exit 1", "--port", "3000", "--token", "value of an argument", "https://x.example/?api_key=value-of-a-url&q=1"], "env": {
			"API_TOKEN": "${input:t}-more", "WHO": "${input:who}", "TLS_KEY": %q,
			"THEIR_KEY": "${env:ASSENT_TEST_KEY}", "MODE": "production"
		}}}
	}`, filepath.Join(project, "a.pem"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ASSENT_TEST_KEY", "value of the environment")

	f := newFrontEnd(t)
	configuration := fmt.Sprintf(`{"workspaceFolders":[{"name":"project","path":%q,"confirmed":true}],"model":{
		"endpoints":[{"provider":"anthropic","apiKey":{"secret":"value of anthropic"}},{"provider":"ollama"},
		{"provider":"openai","baseUrl":"https://me:pa55@models.example/v1","models":["m"],"apiKey":{"secret":"value of openai"}}]}}`, project)
	f.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{"inputs":true},"configuration":` + configuration + `}}`)
	f.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"serverName":"files"}}`)
	f.await(1, func(_ string, m rpctest.Message) { // there is no such program, and all that it would have got is known
		if m.Method != "input/prompt" {
			return
		}
		var prompt protocol.PromptInputParams
		if err := json.Unmarshal(m.Params, &prompt); err != nil {
			t.Fatal(err)
		}
		f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"value":{"secret":"value of %s"}}}`, *m.ID, prompt.ID))
	})
	held := func() []secret.Known {
		return slices.DeleteFunc(f.sidecar.KnownSecrets(), func(h secret.Known) bool { // from the environment of the test run
			return strings.HasPrefix(h.Description, "your environment variable ") && !strings.HasSuffix(h.Description, "ASSENT_TEST_KEY")
		})
	}
	keys := []secret.Known{
		{Value: "value of anthropic", Description: "the API key of Anthropic, which Assent holds for you"},
		{Value: "value of openai", Description: "the API key of models.example, which Assent holds for you"},
	}
	own := secret.Known{Value: "value of the environment", Description: "your environment variable ASSENT_TEST_KEY"}
	want := append(slices.Clone(keys),
		secret.Known{Value: "value of t-more", Description: `API_TOKEN of the server "files"`},
		secret.Known{Value: "value of the environment", Description: `THEIR_KEY of the server "files"`},
		secret.Known{Value: "value of the environment", Description: `env:ASSENT_TEST_KEY of the server "files"`},
		secret.Known{Value: "value of t", Description: `input:t of the server "files"`},
		secret.Known{Value: "value of an argument", Description: `secret 1 in argument 6 of the server "files"`},
		secret.Known{Value: "value-of-a-url", Description: `secret 1 in argument 7 of the server "files"`}, own)
	if diff := cmp.Diff(want, held()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":` + configuration + `}`)
	for m := f.next(); !strings.Contains(m, `"method":"servers/changed"`) || strings.Contains(m, `"files"`); {
		m = f.next()
	}
	if diff := cmp.Diff(append(keys, own), held()); diff != "" {
		t.Errorf("once the server is not configured any more (-want +got)\n%s", diff)
	}
	f.close()
	if strings.Contains(f.logs.String(), "value of") {
		t.Error("a value is in the log")
	}
}
