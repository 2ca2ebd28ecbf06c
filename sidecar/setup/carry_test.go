package setup_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// alone is a server that stays in its host's file, with a part of the reason.
type alone struct{ path, entry, reason string }

// file returns a file of a host with one server, s.
func (a alone) file() []byte {
	switch {
	case strings.HasSuffix(a.path, ".toml"):
		return []byte("[mcp_servers.s]\n" + a.entry + "\n")
	case strings.Contains(a.path, "goose"):
		return []byte("extensions:\n  s:\n    " + strings.ReplaceAll(a.entry, "\n", "\n    ") + "\n")
	case strings.Contains(a.path, "continue"):
		return []byte("mcpServers:\n  - name: s\n    " + strings.ReplaceAll(a.entry, "\n", "\n    ") + "\n")
	}
	member := "mcpServers"
	switch {
	case strings.HasSuffix(a.path, "Code/User/mcp.json"):
		member = "servers"
	case strings.Contains(a.path, "opencode"), strings.Contains(a.path, "kilo"):
		member = "mcp"
	case strings.Contains(a.path, "zed"):
		member = "context_servers"
	case strings.Contains(a.path, "amp"):
		member = "amp.mcpServers"
	}
	return fmt.Appendf(nil, `{%q: {"s": {%s}}}`, member, a.entry)
}

const (
	claudeFile   = "home/.claude.json"
	codexFile    = "home/.codex/config.toml"
	vscodeFile   = "home/.config/Code/User/mcp.json"
	geminiFile   = "home/.gemini/settings.json"
	gooseFile    = "home/.config/goose/config.yaml"
	continueFile = "home/.continue/config.yaml"
	opencodeFile = "home/.config/opencode/opencode.json"
	copilotFile  = "home/.copilot/mcp-config.json"
	clineFile    = "home/.cline/data/settings/cline_mcp_settings.json"
	qwenFile     = "home/.qwen/settings.json"
	kiroFile     = "home/.kiro/settings/mcp.json"
	rooFile      = "home/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
	cursorPath   = "home/.cursor/mcp.json"
	zedFile      = "home/.config/zed/settings.json"
	desktopFile  = "home/.config/Claude/claude_desktop_config.json"
	windsurfFile = "home/.codeium/windsurf/mcp_config.json"
)

// TestServersThatCannotMoveAreNamed: where Assent cannot promise that a server gets the same, its entry stays, and the plan
// says why.
func TestServersThatCannotMoveAreNamed(t *testing.T) {
	for _, tt := range []alone{
		{claudeFile, `"type": "http", "url": "https://h/", "headersHelper": "/x"`, `"headersHelper"`},
		{claudeFile, `"type": "http", "url": "https://h/", "oauth": {"clientId": "c", "authServerMetadataUrl": "https://a/"}`, `"oauth.authServerMetadataUrl"`},
		{claudeFile, `"command": "x", "arg": ["y"]`, `the member "arg"`},
		{claudeFile, `"command": "x", "cwd": "/y"`, `the member "cwd"`},
		{claudeFile, `"command": "x", "sk-ant-api03-Zx81kQ": "y"`, `the member "…"`},
		{claudeFile, `"comand": "x", "sk-ant-api03-Zx81kQ": "y"`, `has no "command"`},
		{claudeFile, `"command": "x", "env": {"sk-ant-api03-Zx81kQ": [1]}`, `the value "…"`},
		{claudeFile, `"type": "http", "url": "https://h/", "headers": {"sk-ant-api03-Zx81kQ": "${a:b}"}`, `header "…"`},
		{claudeFile, `"command": "x", "Env": {}`, `the member "Env"`},
		{claudeFile, `"command": "x", "url": "https://h/"`, "both a command and a URL"},
		{claudeFile, `"command": "x", "env": {"A": null}`, "null for a variable"},
		{claudeFile, `"command": "x", "args": [1]`, `"args" that cannot be read: there is a number where a text belongs`},
		{claudeFile, `"command": "x", "args": ["${A:-${B}}"]`, "default"},
		{claudeFile, `"command": "x", "env": {"A": 1.50}`, "write it as a text"},
		{claudeFile, `"command": "x", "args": ["a", null]`, `"args" that cannot be read: there is null where a text belongs`},
		{claudeFile, `"type": "http", "url": "https://h/", "headers": {"A": null}`, `"headers" that cannot be read: there is null`},
		{claudeFile, `"command": "x", "args": ["${NOT:-{}"]`, "default"},
		{claudeFile, `"command": "x", "args": ["${CLAUDE_PROJECT_DIR}/y"]`, "which Claude Code leaves as text without a default"},
		{claudeFile, `"command": "x", "args": ["--token", "${a:b}"]`, "holds a variable, which Assent does not know"},
		{claudeFile, `"command": "x", "env": {"TOKEN": "${a:b}"}`, "holds a variable, which Assent does not know"},
		{codexFile, "url = \"https://h/\"\nhttp_headers = { authorization = \"a\" }\nbearer_token_env_var = \"T\"", `the header "Authorization" twice`},
		{codexFile, "url = \"https://h/\"\nenv_http_headers = { X-A = \"A\", x-a = \"B\" }", `twice`},
		{codexFile, "url = \"https://h/\"\nhttp_headers = { X-A = \"A\" }\nenv_http_headers = { x-a = \"B\" }", `twice`},
		{codexFile, "url = \"https://h/\"\noauth_resource = \"https://r/\"", `"oauth_resource"`},
		{codexFile, "url = \"https://h/\"\nhttp_headers_helper = [\"x\"]", `"http_headers_helper"`},
		{codexFile, "url = \"https://h/\"\nbearer_token = \"abcd1234efgh\"", `"bearer_token"`},
		{codexFile, "url = \"https://h/\"\nauth = \"chatgpt\"", `"auth"`},
		{codexFile, "url = \"https://h/\"\noauth = { client_id = \"c\", callback_url = \"http://127.0.0.1:1/x\" }", `"oauth.callback_url"`},
		{codexFile, "url = \"https://h/\"\noauth = { client_id = \"c\", token_endpoint_auth_method = \"client_secret_post\" }", `"oauth.token_endpoint_auth_method"`},
		{codexFile, "command = \"x\"\nexperimental_environment = \"remote\"", `"experimental_environment"`},
		{codexFile, "command = \"x\"\nenvironment_id = \"e\"", `"environment_id"`},
		{claudeFile, `"url": "https://h/"`, "a URL and no type, so that Claude Code does not use it"},
		{claudeFile, `"type": "http", "url": "https://h/", "oauth": {"xaa": true}`, `"oauth.xaa"`},
		{claudeFile, `"type": "http", "url": "https://h/", "tools": [{"name": "t", "permission_policy": "always_deny"}]`, `"tools"`},
		{claudeFile, `"type": "http", "url": "https://h/", "toolPermissions": {"t": "deny"}`, `"toolPermissions"`},
		{copilotFile, `"type": "http", "url": "https://h/", "oauthClientId": "c", "oauthGrantType": "client_credentials"`, `"oauthGrantType"`},
		{copilotFile, `"type": "http", "url": "https://h/", "auth": {"redirectPort": 8123}`, `"auth"`},
		{copilotFile, `"command": "x", "events": ["session.idle"]`, `"events"`},
		{qwenFile, `"command": "x", "extensionName": "e"`, `"extensionName"`},
		{codexFile, "command = \"x\"\nenv_vars = [{ name = \"A\", source = \"remote\" }]", `"env_vars"`},
		{codexFile, "command = \"~/x\"\nargs = [\"${HOME}\"]", "holds ${HOME}, which Codex uses as text"},
		{vscodeFile, `"command": "x", "sandboxEnabled": true`, `"sandboxEnabled"`},
		{vscodeFile, `"command": "x", "sandbox": {"network": {}}`, `"sandbox"`},
		{vscodeFile, `"command": "x", "dev": {"watch": "*", "debug": {"type": "node"}}`, `"dev.debug"`},
		{vscodeFile, `"type": "http", "url": "https://h/", "oauth": {"enterpriseManaged": true}`, `"oauth.enterpriseManaged"`},
		{vscodeFile, `"command": "x", "env": {"A": "${input:none}"}`, `the input "none"`},
		{vscodeFile, `"command": "${workspaceFolder:other}/x"`, "${workspaceFolder:other}"},
		{vscodeFile, `"command": "x", "args": ["${env:A:-b}"]`, "${env:A:-…}"},
		{claudeFile, `"command": "x --token pw7XYZq-4711"`, "command has what looks like a secret"},
		{copilotFile, `"command": "x", "env": {"A": "${KEY:-pw7XYZq-4711}"}`, "default of its variable KEY looks like a secret"},
		{copilotFile, `"command": "x", "args": ["--token=${A:-pw7XYZq-4711}"]`, "default of its variable A looks like a secret"},
		{claudeFile, `"command": "${TOKEN:-pw7XYZq-4711}"`, "command has what looks like a secret"},
		{cursorPath, `"command": "x", "env": {"A": "${TOKEN:-pw7XYZq-4711}"}`, "the variable ${TOKEN:-…}"},
		{zedFile, `"command": "x", "env": {"A": "${TOKEN:-pw7XYZq-4711}"}`, "holds ${TOKEN:-…}, which Zed uses as text"},
		{windsurfFile, `"command": "x", "args": ["${workspaceFolder}"]`, "${workspaceFolder}"},
		{geminiFile, `"httpUrl": "https://h/", "authProviderType": "google_credentials"`, `"authProviderType"`},
		{geminiFile, `"httpUrl": "https://h/", "oauth": {"enabled": true, "tokenUrl": "https://t/"}`, `"oauth.tokenUrl"`},
		{geminiFile, `"tcp": "ws://h/", "url": "https://h/"`, `"tcp"`},
		{geminiFile, `"command": "x", "args": ["--password", "Pa$sw0rd"]`, "holds a variable, which is not set where setup runs"},
		{geminiFile, `"command": "x", "env": {"A": "$NOT", "B": "${NOT}"}`, "another one with the name NOT"},
		{geminiFile, `"command": "x", "env": {"A": "${userHome}"}`, "a variable with the same text"},
		{geminiFile, `"httpUrl": "https://h/", "url": "https://g/"`, `both "httpUrl" and "url"`},
		{windsurfFile, `"serverUrl": "https://h/", "url": "https://g/"`, `both "serverUrl" and "url"`},
		{geminiFile, `"command": "x", "env": {"A": "$$SET"}`, "has a $ before a variable"},
		{qwenFile, `"command": "x", "args": ["${NOT:-d}"]`, "with a default, which Qwen Code may use as text"},
		{copilotFile, `"command": "x", "args": ["$A"], "env": {"A": "b"}`, "$A, which is one of the entry itself"},
		{cursorPath, `"command": "x", "args": ["${env:A.B}"]`, "${env:A.B}"},
		{gooseFile, "type: streamable_http\nuri: https://h/$T\nenvs:\n  T: x", "variable of the entry itself"},
		{gooseFile, "type: streamable_http\nuri: https://h/\nenvs:\n  T: x\nheaders:\n  A: Bearer $T", "variable of the entry itself"},
		{gooseFile, "type: stdio\ncmd: x\nsocket: /s", `"socket"`},
		{continueFile, "type: sse\nurl: https://h/\nrequestOptions:\n  verifySsl: false\n  caBundlePath: /ca", `"requestOptions.caBundlePath"`},
		{continueFile, "type: sse\nurl: https://h/\nrequestOptions:\n  verifySsl: false", `"requestOptions.verifySsl"`},
		{continueFile, "command: x\ncwd: file:///w", "a URL as its cwd"},
		{continueFile, "command: x\nenv:\n  A: ${{ secrets.A }}", "${{ secrets.A }"},
		{gooseFile, "type: stdio\ncmd: x\nenvs:\n  A: 1.10", `number for the variable "A"`},
		{gooseFile, "type: stdio\ncmd: x\nenvs:\n  A: 007", `number for the variable "A"`},
		{gooseFile, "type: stdio\ncmd: x\nenvs:\n  A: 1_000", `number for the variable "A"`},
		{gooseFile, "type: stdio\ncmd: x\nenvs:\n  A: 1e3", `number for the variable "A"`},
		{gooseFile, "type: streamable_http\nuri: https://h/\nheaders:\n  A: 1.10", `"headers" that cannot be read: there is a number`},
		{opencodeFile, `"type": "local", "command": ["x", "${userHome}"]`, "${userHome}, which opencode uses as text"},
		{opencodeFile, `"type": "remote", "url": "https://h/", "oauth": {"clientId": "c", "redirectUri": "http://127.0.0.1:1/x"}`, `"oauth.redirectUri"`},
		{copilotFile, `"type": "http", "url": "https://h/", "oauthClientId": "c", "oauthPublicClient": {"x": 1}`, `"oauthPublicClient"`},
		{copilotFile, `"type": "http", "url": "https://h/", "oauthClientId": "c", "oauthPublicClient": false`, `"oauthPublicClient"`},
		{clineFile, `"transport": {"type": "stdio", "command": "x", "shell": true}`, `the member "shell"`},
		{clineFile, `"transport": {"type": "stdio", "command": "x"}, "command": "y"`, `"command" beside its transport`},
		{zedFile, `"command": {"path": "x", "timeout": 5}`, `the member "command.timeout"`},
		{zedFile, `"command": "x", "remote": true`, `"remote"`},
		{desktopFile, `"command": "x", "args": ["${HOME}/y"]`, "which Claude Desktop uses as text"},
	} {
		t.Run(tt.path+" "+tt.entry, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.write(tt.path, tt.file())
			plan := m.find()
			if len(plan.Files) != 0 || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, tt.reason) || !strings.Contains(plan.Problems[0].Message, `"s"`) {
				t.Errorf("the plan is %+v with %+v, want %q", plan.Files, plan.Problems, tt.reason)
			}
		})
	}
}

// TestWhatMoves has the whole entry in mcp.json, and where it matters what the host's file has then.
func TestWhatMoves(t *testing.T) {
	const here = `"cwd":"${workspaceFolder}"`
	for _, tt := range []struct {
		alone
		want, routed string
	}{
		// Values, by the host's own rules. SET is the only variable that is set.
		{alone{claudeFile, `"command": "${SET}", "args": ["${NOT}", "${SET:-d}", "${NOT:-d e}", "${NOT:-}", "$SET", "%SET%", "{SET}", "$$", "~/x"]`, ""}, `{"type":"stdio","command":"${env:SET}","args":["${env:NOT:-${NOT}}","${env:SET:-d}","${env:NOT:-d e}","${env:NOT}","$SET","%SET%","{SET}","$$","~/x"],` + here + `}`, ""},
		{alone{claudeFile, `"type": "http", "url": "${BASE:-https://h}/mcp"`, ""}, `{"type":"http","url":"${env:BASE:-https://h}/mcp"}`, ""},
		{alone{claudeFile, `"command": "x", "args": ["y"], "env": {"A": 1, "B": true, "C": "2022-06-28"}`, ""}, `{"type":"stdio","command":"x","args":["y"],"env":{"A":"1","B":"true","C":"2022-06-28"},` + here + `}`, ""},
		{alone{claudeFile, `"command": "x", "args": ["${CLAUDE_PROJECT_DIR:-.}/y"]`, ""}, `{"type":"stdio","command":"x","args":["./y"],` + here + `}`, ""},
		{alone{geminiFile, `"command": "$SET", "args": ["a$", "$9", "$$SET", "${NOT:-d}"], "env": {"A": "Pa$sw0rd-9", "B": "${ALSO}"}, "cwd": "~/w"`, ""}, `{"type":"stdio","command":"${env:SET}","args":["a$","$9","$${env:SET}","${env:NOT:-d}"],"env":{"A":"Pa${env:sw0rd:-$sw0rd}-9","B":"${env:ALSO:-${ALSO}}"},"cwd":"${userHome}/w"}`, `"env": {"ALSO":"${ALSO}","NOT":"${NOT:-d}","SET":"$SET","sw0rd":"$sw0rd"}`},
		{alone{qwenFile, `"command": "$SET", "args": ["Pa$sw0rd-9", "${NOT}"]`, ""}, `{"type":"stdio","command":"${env:SET}","args":["Pa${env:sw0rd:-$sw0rd}-9","${env:NOT:-${NOT}}"]}`, ""},
		{alone{opencodeFile, `"type": "local", "command": ["x", "{env:SET}", "{SET}", "$SET", "a{env:NOT}b", "$` + `{env:SET}"], "cwd": "sub"`, ""}, `{"type":"stdio","command":"x","args":["${env:SET}","{SET}","$SET","a${env:NOT}b","$${env:SET}"],"cwd":"${workspaceFolder}/sub"}`, ""},
		{alone{vscodeFile, `"command": "~/x", "args": ["~/y", "a~/y", "${env:NOT}", "$SET"], "cwd": "~", "envFile": ".env"`, ""}, `{"type":"stdio","command":"${userHome}/x","args":["${userHome}/y","a~/y","${env:NOT}","$SET"],"envFile":"${workspaceFolder}/.env","cwd":"${userHome}"}`, ""},
		{alone{codexFile, "command = \"~/x\"\nargs = [\"$SET\", \"~/y\", \"%SET%\"]\ncwd = \"/w\"", ""}, `{"type":"stdio","command":"${userHome}/x","args":["$SET","~/y","%SET%"],"cwd":"/w"}`, ""},
		{alone{desktopFile, `"command": "x", "args": ["$SET"]`, ""}, `{"type":"stdio","command":"x","args":["$SET"]}`, ""},
		{alone{gooseFile, "type: stdio\ncmd: x\nargs: [2022-06-28, 12:30, 'yes', no]\nenvs:\n  A: 2022-06-28\n  B: 2001-12-14t21:59:43.10-05:00\n  C: 12\n  D: true\n  E: 1.5\n  F: -3\ntimeout: 1e3", ""}, `{"type":"stdio","command":"x","args":["2022-06-28","12:30","yes","no"],"env":{"A":"2022-06-28","B":"2001-12-14t21:59:43.10-05:00","C":"12","D":"true","E":"1.5","F":"-3"}}`, ""},

		// The folder: Gemini CLI has not asked whether the person trusts it.
		{alone{geminiFile, `"command": "./x"`, ""}, `{"type":"stdio","command":"./x",` + here + `}`, ""},
		{alone{geminiFile, `"command": "node", "args": ["../x.js"]`, ""}, `{"type":"stdio","command":"node","args":["../x.js"],` + here + `}`, ""},
		{alone{geminiFile, `"command": "/x", "args": ["y"]`, ""}, `{"type":"stdio","command":"/x","args":["y"]}`, ""},

		// Variables that the host passes on.
		{alone{codexFile, "url = \"https://h/\"\nbearer_token_env_var = \"T\"\nenv_http_headers = { X = \"U\" }", ""}, `{"type":"http","url":"https://h/","headers":{"Authorization":"Bearer ${env:T}","X":"${env:U}"}}`, `env_vars = ["T", "U"]`},
		{alone{codexFile, "command = \"x\"\nenv_vars = [\"B\", \"A\"]\ntool_timeout_sec = 9", ""}, `{"type":"stdio","command":"x",` + here + `}`, `env_vars = ["B", "A"]`},
		{alone{copilotFile, `"type": "local", "command": "x", "env": {"TOKEN": "${SET}"}, "tools": ["*"]`, ""}, `{"type":"stdio","command":"x","env":{"TOKEN":"${env:SET}"},` + here + `}`, `"env": {"SET":"$SET"}`},
		{alone{copilotFile, `"command": "x", "args": ["${NOT:-}"]`, ""}, `{"type":"stdio","command":"x","args":["${env:NOT:-}"],` + here + `}`, `"env": {"NOT":"${NOT:-}"}`},
		{alone{claudeFile, `"command": "x", "env": {"TOKEN": "${SET}"}`, ""}, `{"type":"stdio","command":"x","env":{"TOKEN":"${env:SET}"},` + here + `}`, ""},

		{alone{clineFile, `"transport": {"type": "stdio", "command": "x", "args": ["${env:T}"]}`, ""}, `{"type":"stdio","command":"x","args":["${env:T}"]}`, `"env":{"T":"${env:T}"}`},
		{alone{rooFile, `"type": "streamable-http", "url": "https://h/", "headers": {"A": "Bearer ${env:T}"}`, ""}, `{"type":"http","url":"https://h/","headers":{"A":"Bearer ${env:T}"}}`, `"env": {"T":"${env:T}"}`},
		{alone{cursorPath, `"url": "https://${env:H}/", "headers": {"A": "${env:T}"}`, ""}, `{"type":"http","url":"https://${env:H}/","headers":{"A":"${env:T}"}}`, `"env": {"H":"${env:H}","T":"${env:T}"}`},
		{alone{windsurfFile, `"serverUrl": "https://h/", "headers": {"A": "${env:T}"}`, ""}, `{"type":"http","url":"https://h/","headers":{"A":"${env:T}"}}`, `"env": {"T":"${env:T}"}`},
		{alone{kiroFile, `"url": "https://h/", "headers": {"A": "${T}"}`, ""}, `{"type":"http","url":"https://h/","headers":{"A":"${env:T:-${T}}"}}`, `"env": {"T":"${T}"}`},

		// Logging in.
		{alone{claudeFile, `"type": "http", "url": "https://h/", "oauth": {"clientId": "c", "callbackPort": 8123, "scopes": "a b"}`, ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","scopes":["a","b"],"callbackPort":8123}}`, ""},
		{alone{codexFile, "url = \"https://h/\"\noauth = { client_id = \"c\", callback_port = 8123 }", ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","callbackPort":8123}}`, ""},
		{alone{copilotFile, `"type": "http", "url": "https://h/", "oauthClientId": "c", "oauthScopes": ["a"], "oauthGrantType": "authorization_code", "auth": false`, ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","scopes":["a"]}}`, ""},
		{alone{codexFile, "url = \"https://h/\"\noauth = { client_id = \"c\" }\nscopes = [\"a\"]", ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","scopes":["a"]}}`, ""},
		{alone{opencodeFile, `"type": "remote", "url": "https://h/", "oauth": {"clientId": "c", "clientSecret": "{env:SET}", "scope": "a b"}, "enabled": true`, ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","clientSecret":"${env:SET}","scopes":["a","b"]}}`, ""},
		{alone{opencodeFile, `"type": "remote", "url": "https://h/", "oauth": false`, ""}, `{"type":"http","url":"https://h/"}`, ""},
		{alone{cursorPath, `"url": "https://h/", "auth": {"CLIENT_ID": "c", "scopes": ["a"]}`, ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c","scopes":["a"]}}`, ""},
		{alone{copilotFile, `"type": "http", "url": "https://h/", "oauthClientId": "c", "oauthPublicClient": true`, ""}, `{"type":"http","url":"https://h/","oauth":{"clientId":"c"}}`, ""},
		{alone{continueFile, "type: sse\nurl: https://h/\nrequestOptions:\n  verifySsl: true\n  headers:\n    A: b", ""}, `{"type":"sse","url":"https://h/","headers":{"A":"b"}}`, ""},

		// How the server is reached, where the type of the entry is not what counts.
		{alone{codexFile, "url = \"https://h/\"\ntype = \"sse\"", ""}, `{"type":"http","url":"https://h/"}`, ""},
		{alone{qwenFile, `"url": "https://h/", "type": "http"`, ""}, `{"type":"sse","url":"https://h/"}`, ""},
		{alone{qwenFile, `"httpUrl": "https://h/", "versionNegotiation": "auto", "alwaysLoadTools": true`, ""}, `{"type":"http","url":"https://h/"}`, `"versionNegotiation": "auto", "alwaysLoadTools": true`},
		{alone{geminiFile, `"httpUrl": "https://h/", "type": "sse"`, ""}, `{"type":"http","url":"https://h/"}`, ""},
		{alone{geminiFile, `"url": "https://h/", "type": "sse"`, ""}, `{"type":"sse","url":"https://h/"}`, ""},

		// The variables that are not set.
		{alone{vscodeFile, `"command": "x", "sandboxEnabled": false, "dev": {"watch": "*"}`, ""}, `{"type":"stdio","command":"x",` + here + `}`, `"dev": {"watch": "*"}`},
		{alone{zedFile, `"command": "x", "args": [], "settings": {}, "enabled": true`, ""}, `{"type":"stdio","command":"x"}`, ""},
	} {
		t.Run(tt.path+" "+tt.entry, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Places.Env = func(name string) string { return map[string]string{"SET": "is set"}[name] }
			m.write(tt.path, tt.file())
			if plan := m.find(); len(plan.Problems) != 0 {
				t.Fatalf("the plan has %+v", plan.Problems)
			}
			m.route()
			var own struct{ Servers map[string]json.RawMessage }
			if err := json.Unmarshal(m.read("assent/mcp.json"), &own); err != nil {
				t.Fatal(err)
			}
			if got := compact(t, own.Servers["s"]); got != tt.want {
				t.Errorf("it is\n%s, want\n%s", got, tt.want)
			}
			if got := string(m.read(tt.path)); !strings.Contains(got, tt.routed) {
				t.Errorf("the file has no %s:\n%s", tt.routed, got)
			}
			m.restore()
			if got := m.read(tt.path); string(got) != string(tt.file()) {
				t.Errorf("restored is\n%s, want\n%s", got, tt.file())
			}
		})
	}
}

// TestManyProjects: Claude Code keeps the servers of all projects in one file.
func TestManyProjects(t *testing.T) {
	file := func(projects int) []byte {
		var out strings.Builder
		for i := range projects {
			fmt.Fprintf(&out, `"/w/%d": {"mcpServers": {"a": {"command": "x", "args": ["%d"]}, "b": {"command": "y"}}},`, i, i)
		}
		return []byte(`{"projects": {` + strings.TrimSuffix(out.String(), ",") + `}, "mcpServers": {"mine": {"command": "z"}}}`)
	}
	m := newMachine(t)
	m.write(claudeFile, file(101))
	if plan := m.find(); len(plan.Problems) > 0 || len(plan.Files) != 1 || len(plan.Servers) != 103 {
		t.Errorf("there are %d servers, and the plan has %+v", len(plan.Servers), plan.Problems)
	}
	m.write(claudeFile, file(500))
	if plan := m.find(); len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, "it has more than 1000 servers") {
		t.Errorf("the plan has %+v", plan.Problems)
	}
}

// TestAServerThatIsOffIsNotShared: it would be on in the other hosts. It moves all the same, and stays off in its own.
func TestAServerThatIsOffIsNotShared(t *testing.T) {
	for _, tt := range []struct {
		alone
		other  string
		shared bool
	}{
		{alone{windsurfFile, `"command": "x", "disabled": true`, "Windsurf"}, "", false},
		{alone{windsurfFile, `"command": "x", "disabled": false`, ""}, "", true},
		{alone{codexFile, "command = \"x\"\nenabled = false", "Codex"}, "", false},
		{alone{codexFile, "command = \"x\"\nenabled = true", ""}, "", true},
		{alone{gooseFile, "type: stdio\ncmd: x\nenabled: false", "Goose"}, "", false},
		{alone{opencodeFile, `"type": "local", "command": ["x"], "enabled": false`, "opencode"}, "", false},
		{alone{zedFile, `"command": "x", "enabled": false`, "Zed"}, "", false},
		{alone{windsurfFile, `"command": "x", "disabled": true`, ""}, zedFile, true},
	} {
		m := newMachine(t)
		m.Share = true
		m.write(tt.path, tt.file())
		m.write(geminiFile, []byte("{}"))
		if tt.other != "" {
			m.write(tt.other, alone{tt.other, `"command": "x"`, ""}.file())
		}
		for range 2 { // the second time it starts Assent, and is still off
			told, want := "", ""
			for _, p := range m.find().Problems {
				told += p.Path + ": " + p.Message
			}
			if !tt.shared {
				want = m.path(tt.path) + `: The server "s" is not shared: it is switched off in ` + tt.reason + "."
			}
			if told != want {
				t.Errorf("%s: the plan says %q, want %q", tt.entry, told, want)
			}
			m.route()
		}
		if shared := strings.Contains(string(m.read(geminiFile)), "gateway"); shared != tt.shared || !strings.Contains(string(m.read(tt.path)), "gateway") {
			t.Errorf("%s: it is shared: %v, and the file is\n%s", tt.entry, shared, m.read(tt.path))
		}
	}
}

// TestThePlanTellsOfAQuestion: a host that does not ask about folders started the server in each.
func TestThePlanTellsOfAQuestion(t *testing.T) {
	const asks = "Assent asks you once in each folder whether it may"
	for _, tt := range []struct {
		alone
		asks bool
	}{
		{alone{geminiFile, `"command": "x", "cwd": "sub"`, ""}, true},
		{alone{geminiFile, `"command": "./x"`, ""}, true},
		{alone{cursorPath, `"command": "x", "env": {"ROOT": "${workspaceFolder}"}`, ""}, true},
		{alone{geminiFile, `"command": "x", "cwd": "/w"`, ""}, false},
		{alone{geminiFile, `"command": "x"`, ""}, false},
		{alone{claudeFile, `"command": "./x"`, ""}, false},
	} {
		m := newMachine(t)
		m.write(tt.path, tt.file())
		plan := m.find()
		if len(plan.Servers) != 1 || strings.Contains(strings.Join(plan.Servers[0].Warnings, "\n"), asks) != tt.asks {
			t.Errorf("%s: the plan is %+v", tt.entry, plan.Servers[0])
		}
	}
}

// TestSecretsAreSealed has secrets that are a part of a text. None is in the files of Assent, nor in the plan.
func TestSecretsAreSealed(t *testing.T) {
	const secret = "pw7XYZq-4711"
	for _, tt := range []alone{
		{claudeFile, `"command": "x", "args": ["--api-key", "${KEY:-` + secret + `}"]`, ""},
		{claudeFile, `"command": "x", "env": {"TOKEN": "${A:-` + secret + `}"}`, ""},
		{claudeFile, `"command": "x", "env": {"A": "${TOKEN:-` + secret + `}"}`, ""},
		{claudeFile, `"command": "x", "args": ["--api-key=${A:-` + secret + `}"]`, ""},
		{claudeFile, `"type": "http", "url": "${BASE:-https://u:` + secret + `@h}/mcp"`, ""},
		{claudeFile, `"type": "http", "url": "https://h/mcp?a=b&api_key=` + secret + `"`, ""},
		{claudeFile, `"type": "http", "url": "https://h/sk-` + secret + `/sse"`, ""},
		{continueFile, "type: sse\nurl: https://h/\nrequestOptions:\n  headers:\n    X-Key: " + secret, ""},
		{claudeFile, `"command": "x", "args": ["-t", "` + secret + `"]`, ""},
		{claudeFile, `"command": "sh", "args": ["-c", "x --token ` + secret + `"]`, ""},
		{claudeFile, `"command": "x", "args": ["u:` + secret + `@h:5432/d"]`, ""},
		{claudeFile, `"command": "x", "env": {"C": "{\"password\": \"two words ` + secret + `\"}"}`, ""},
		{codexFile, "url = \"https://h/mcp?sig=" + secret + "\"", ""},
		{codexFile, "url = \"https://h/\"\noauth = { client_id = \"c\", client_secret = \"" + secret + "\" }", ""},
		{geminiFile, `"httpUrl": "https://h/", "headers": {"X-Session": "` + secret + `"}`, ""},
		{gooseFile, "type: stdio\ncmd: x\nenvs:\n  DB_CREDS: " + secret, ""},
		{opencodeFile, `"type": "local", "command": ["x", "--header", "Authorization: ApiKey ` + secret + `"]`, ""},
		{zedFile, `"command": {"path": "x", "args": ["--secret", "` + secret + `"], "env": {"TOKEN": "` + secret + `"}}`, ""},
		{clineFile, `"transport": {"type": "stdio", "command": "x", "env": {"TOKEN": "` + secret + `"}}`, ""},
	} {
		t.Run(tt.path+" "+tt.entry, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.write(tt.path, tt.file())
			plan, err := json.Marshal(m.find())
			if err != nil {
				t.Fatal(err)
			}
			m.route()
			texts := map[string][]byte{"the plan": plan, tt.path: m.read(tt.path)}
			err = filepath.WalkDir(m.path("assent"), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				texts[path], err = os.ReadFile(path)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for where, text := range texts {
				if strings.Contains(string(text), secret) {
					t.Errorf("%s has it:\n%s", where, text)
				}
			}
			if !strings.Contains(string(m.read("assent/mcp.json")), "${secret:s/") {
				t.Errorf("it is not sealed: %s", m.read("assent/mcp.json"))
			}
			m.restore()
			if got := m.read(tt.path); string(got) != string(tt.file()) {
				t.Errorf("restored is\n%s, want\n%s", got, tt.file())
			}
		})
	}
	m := newMachine(t)
	m.write(vscodeFile, []byte(`{"inputs": [{"type": "promptString", "id": "k", "default": "`+secret+`0"}, {"type": "promptString", "id": "key", "default": "`+secret+`"}],
		"servers": {"s": {"command": "x", "args": ["${input:key}"]}, "other": {"command": "x", "args": ["${input:k}"]}}}`))
	if plan := m.find(); len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, `The default of its input "key" looks like a secret`) {
		t.Errorf("%+v", plan.Problems)
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(raw); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
