package add_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/setup/add"
)

// written returns what would be in mcp.json, in one text: the entry, and a line for each input.
func written(t *testing.T, s *add.Server) string {
	t.Helper()
	w, err := s.Written(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{s.Name + " " + string(w.Entry)}
	for _, in := range w.Inputs {
		lines = append(lines, string(in.Raw))
	}
	return strings.Join(lines, "\n")
}

func link(object string) string { return "vscode:mcp/install?" + url.PathEscape(object) }

func TestReferences(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	tests := []struct{ name, reference, pin, want string }{
		{"npm", "npm:@a/b@1.2.3", "", `b {"type":"stdio","command":"npx","args":["-y","@a/b@1.2.3"]}`},
		{"npm, pinned", "npm:b", "1.2.3-beta.1", `b {"type":"stdio","command":"npx","args":["-y","b@1.2.3-beta.1"]}`},
		{"npm, a range, pinned", "npm:b@^1.0.0", "1.2.3", `b {"type":"stdio","command":"npx","args":["-y","b@1.2.3"]}`},
		{"pypi", "pypi:b==1.2", "", `b {"type":"stdio","command":"uvx","args":["b@1.2"]}`},
		{"nuget", "nuget:A.B@1.2.3", "", `A.B {"type":"stdio","command":"dnx","args":["A.B@1.2.3","--yes"]}`},
		{"a tag", "docker:mcp/time:1.0", "", `time {"type":"stdio","command":"docker","args":["run","-i","--rm","mcp/time:1.0"]}`},
		{"a tag after @", "docker:mcp/time@1.0", "", `time {"type":"stdio","command":"docker","args":["run","-i","--rm","mcp/time:1.0"]}`},
		{"a digest", "oci://images.example:443/a/b@sha256:" + sum, "", `b {"type":"stdio","command":"docker","args":["run","-i","--rm","images.example:443/a/b@sha256:` + sum + `"]}`},
		{"an image, pinned", "docker:a/b:latest", "sha256:" + sum, `b {"type":"stdio","command":"docker","args":["run","-i","--rm","a/b@sha256:` + sum + `"]}`},
		{"a URL", "https://example.com/mcp", "", `example.com {"type":"http","url":"https://example.com/mcp"}`},
		{"a WebSocket", "wss://example.com/mcp", "", `example.com {"type":"ws","url":"wss://example.com/mcp"}`},
		{
			"a link", link(`{"name":"s","command":"node","args":["${input:dir}","${workspaceFolder}"],"env":{"A":1,"GONE":null,"KEY":"${input:key}"},
				"inputs":[{"type":"promptString","id":"dir","default":"/d"},{"type":"promptString","id":"key","password":true},{"type":"promptString","id":"unused"}]}`), "",
			`s {"type":"stdio","command":"node","args":["/d","${workspaceFolder}"],"env":{"A":"1","KEY":"${input:s-key}"}}
{"type":"promptString","id":"s-key","description":"key","password":true}
{"type":"promptString","id":"s-unused","description":"unused"}`,
		},
		{
			"a link with a URL", link(`{"name":"s","type":"sse","url":"https://h/","headers":{"Authorization":"Bearer abcdefgh"}}`), "",
			`s {"type":"sse","url":"https://h/","headers":{"Authorization":"${input:s-Authorization}"}}
{"type":"promptString","id":"s-Authorization","description":"Authorization","password":true}`,
		},
		{
			"a link, pinned", link(`{"name":"s","command":"C:\\x\\npx.cmd","args":["--registry","r","-y","@a/b","--flag"]}`), "1.0.0",
			`s {"type":"stdio","command":"C:\\x\\npx.cmd","args":["--registry","r","-y","@a/b@1.0.0","--flag"]}`,
		},
		{
			"a link with --package", link(`{"name":"s","command":"npx","args":["--package=a","tool"]}`), "1.0.0",
			`s {"type":"stdio","command":"npx","args":["--package=a@1.0.0","tool"]}`,
		},
		{"a link with uvx --from", link(`{"name":"s","command":"uvx","args":["--from","a[x]==2.0","tool"]}`), "", `s {"type":"stdio","command":"uvx","args":["--from","a[x]==2.0","tool"]}`},
		{"a link with docker", link(`{"name":"s","command":"docker","args":["run","-i","-e","A","a/b"]}`), "2.0", `s {"type":"stdio","command":"docker","args":["run","-i","-e","A","a/b:2.0"]}`},
		{"a link with a local file", link(`{"name":"s","command":"npx","args":["./local"]}`), "", `s {"type":"stdio","command":"npx","args":["./local"]}`},
		{
			"a page of VS Code", "https://insiders.vscode.dev/redirect/mcp/install?name=s&config=" + url.QueryEscape(`{"url":"https://h/${input:a}"}`) + "&inputs=" + url.QueryEscape(`[{"id":"a","type":"pickString","options":["1","2"]}]`), "",
			`s {"type":"http","url":"https://h/${input:s-a}"}
{"type":"pickString","id":"s-a","description":"a","options":["1","2"]}`,
		},
		{"a link with a variable in its host", link(`{"name":"s","url":"https://${env:H}:${env:P}/"}`), "", `s {"type":"http","url":"https://${env:H}:${env:P}/"}`},
		{"another page of VS Code", "https://vscode.dev/redirect?url=" + url.QueryEscape(link(`{"name":"s","url":"https://h/"}`)), "", `s {"type":"http","url":"https://h/"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := add.Read(tt.reference, add.Options{Pin: tt.pin, OS: "linux"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, written(t, s)); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	tests := []struct{ name, reference, want string }{
		{"a script", "javascript:alert(1)", "is not a reference"},
		{"data", "data:text/html,x", "is not a reference"},
		{"hidden characters", "npm:a\u202eb@1.2.3", `a<U+202E>b is not the name of a package`},
		{"a flag for a package", "npm:-g@1.2.3", "is not the name of a package"},
		{"a path for a package", "npm:../x@1.2.3", "is not the name of a package"},
		{"a Git package", "npm:git+https://h/x@1.2.3", "is not the name of a package"},
		{"no version", "npm:a", "name one, as in npm:a@1.2.3, or give --pin VERSION"},
		{"a word", "npm:a@latest", "has no exact version"},
		{"a range", "npm:a@^1.2.3", "has no exact version"},
		{"a short range", "npm:a@1.2", "has no exact version"},
		{"a wildcard", "pypi:a@1.x", "has no exact version"},
		{"no tag", "docker:a/b", "as in docker:a/b:1.2.3"},
		{"latest", "docker:a/b:latest", "has no exact version"},
		{"a flag for an image", "docker:--privileged:1", "is not the name of a container image"},
		{"a bad digest", "docker:a/b@sha256:12", "64 hexadecimal digits"},
		{"a password", "https://u:p@h/mcp", "before the @"},
		{"no host", "https:///mcp", "is not the URL of a server"},
		{"a file that would be fetched", "https://h/server.json", "nothing is fetched"},
		{"a link to something else", "vscode:extension/x", "does not install a server"},
		{"a link that is no JSON", "vscode:mcp/install?%7B", "it is not a JSON object"},
		{"a link with two values", link(`{"name":"a","url":"https://h/"}{}`), "more than one JSON value"},
		{"a link of no encoding", "vscode:mcp/install?%ZZ", "not percent-encoded"},
		{"a link with a script", link(`{"name":"a","url":"javascript:alert(1)"}`), "must begin with http:// or https://"},
		{"a link with a file", link(`{"name":"a","url":"file:///etc/passwd"}`), "must begin with http:// or https://"},
		{"a link without a version", link(`{"name":"a","command":"npx","args":["-y","a"]}`), "the package a has no exact version"},
		{"a link with an unpinned image", link(`{"name":"a","command":"podman","args":["run","-v","/:/h","a/b"]}`), "has no exact version"},
		{"a link with a Git package", link(`{"name":"a","command":"npx","args":["github:a/b"]}`), "not a package with a version"},
		{"a link with an unknown input", link(`{"name":"a","command":"x","args":["${input:b}"]}`), `asks for the input "b"`},
		{"a link with a default of an unknown input", link(`{"name":"a","command":"x","args":["${input:b:-pw7XYZq-4711}"]}`), `asks for the input "b", which`},
		{"a link with a hidden command", link(`{"name":"a","command":"x\u202e"}`), "x<U+202E>"},
		{"a link with a wrong variable", link(`{"name":"a","command":"x","env":{"A=B":"1"}}`), "no environment can have"},
		{"a link with a header in a header", link(`{"name":"a","url":"https://h/","headers":{"X":"a\r\nY: b"}}`), "no request can have"},
		{"a link with too much", link(`{"name":"a","command":"x","args":[` + strings.Repeat(`"a",`, 300) + `"a"]}`), "more than 200"},
		{"a link with nothing", link(`{"name":"a"}`), "neither a command nor a URL"},
		{"a huge link", link(strings.Repeat("x", 100<<10)), "more than 65536 bytes"},
		{"a file that is not there", "nothing/server.json", "cannot be read"},
		{"another file", "go.mod", "is not a reference"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := add.Read(tt.reference, add.Options{Folder: t.TempDir(), OS: "linux"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %+v, %v; want an error with %q", s, err, tt.want)
			}
		})
	}
}

func TestANameThatWouldDeceive(t *testing.T) {
	for _, name := range []string{"", "a\u202eb", "a\x1b[2J", strings.Repeat("a", 101)} {
		if err := add.CheckName(name); err == nil || strings.ContainsAny(err.Error(), "\u202e\x1b") {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestALinkSaysWhatItTakes(t *testing.T) {
	s, err := add.Read(link(`{"name":"a","command":"x","env":{"A":"${env:AWS_SECRET}"},"envFile":"/home/me/.env","evil\u202e":1}`), add.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`The member "evil<U+202E>" is left out: Assent does not know it.`,
		"It gets the variable AWS_SECRET of your environment.",
		"It gets the variables of the file /home/me/.env.",
	}
	if diff := cmp.Diff(want, s.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// file writes a file, and returns its folder.
func file(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const weather = `{
	"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
	"name": "io.github.example/weather", "description": "The weather", "version": "1.2.3",
	"packages": [
		{"registryType": "npm", "registryBaseUrl": "https://packages.example", "identifier": "@example/weather", "version": "1.2.3", "runtimeHint": "npx", "transport": {"type": "stdio"},
		 "runtimeArguments": [{"type": "positional", "value": "-y"}],
		 "packageArguments": [
			{"type": "positional", "value": "serve"},
			{"type": "named", "name": "--city", "description": "Where", "isRequired": true},
			{"type": "named", "name": "--unit", "choices": ["C", "F"], "default": "C"},
			{"type": "named", "name": "--lang", "valueHint": "code"},
			{"type": "named", "name": "--fast"},
			{"type": "positional", "valueHint": "dir", "default": "/tmp"}],
		 "environmentVariables": [
			{"name": "API_KEY", "description": "The key", "isRequired": true, "isSecret": true},
			{"name": "PLAIN_SECRET", "value": "abc", "isSecret": true, "isRequired": true},
			{"name": "LOG", "default": "info"},
			{"name": "OPTIONAL_TOKEN"},
			{"name": "PORT", "default": 80, "format": "number"},
			{"name": "OF", "value": "http://{host}:{port}/{literal}", "variables": {"host": {"isRequired": true}, "port": {"default": "1"}}}]},
		{"registryType": "oci", "identifier": "images.example/example/weather:1.2.3", "transport": {"type": "stdio"},
		 "runtimeArguments": [{"type": "named", "name": "--mount", "value": "type=bind,src={src},dst=/d", "variables": {"src": {"isRequired": true}}}, {"type": "named", "name": "--mount", "value": "type=tmpfs"}],
		 "environmentVariables": [{"name": "LOG", "default": "info"}, {"name": "OTHER"}]}
	],
	"remotes": [{"type": "streamable-http", "url": "https://{tenant}.example.com/mcp", "variables": {"tenant": {"isRequired": true}}, "headers": [{"name": "X-Key", "value": "Bearer {token}", "variables": {"token": {"isSecret": true, "isRequired": true}}}]}]
}`

func TestAFileOfTheRegistry(t *testing.T) {
	tests := []struct {
		name, use string
		give      []string
		want      string
	}{
		{"as it is", "", nil, `weather {"type":"stdio","command":"npx","args":["-y","@example/weather@1.2.3","serve","--city","${input:weather-city}","--unit","C","--fast","/tmp"],"env":{"API_KEY":"${input:weather-API_KEY}","LOG":"info","OF":"http://${input:weather-host}:1/{literal}","PLAIN_SECRET":"${input:weather-PLAIN_SECRET}","PORT":"80"}}
{"type":"promptString","id":"weather-API_KEY","description":"The key","password":true}
{"type":"promptString","id":"weather-PLAIN_SECRET","description":"PLAIN_SECRET","password":true}
{"type":"promptString","id":"weather-host","description":"host"}
{"type":"promptString","id":"weather-city","description":"Where"}`},
		{"with values", "npm", []string{"--city=Paris", "--unit=F", "--lang=fr", "host=h", "dir=/x"}, `weather {"type":"stdio","command":"npx","args":["-y","@example/weather@1.2.3","serve","--city","Paris","--unit","F","--lang","fr","--fast","/x"],"env":{"API_KEY":"${input:weather-API_KEY}","LOG":"info","OF":"http://h:1/{literal}","PLAIN_SECRET":"${input:weather-PLAIN_SECRET}","PORT":"80"}}
{"type":"promptString","id":"weather-API_KEY","description":"The key","password":true}
{"type":"promptString","id":"weather-PLAIN_SECRET","description":"PLAIN_SECRET","password":true}`},
		{"an image", "oci", []string{"src=/s"}, `weather {"type":"stdio","command":"docker","args":["run","-i","--rm","--mount","type=bind,src=/s,dst=/d","--mount","type=tmpfs","-e","LOG","images.example/example/weather:1.2.3"],"env":{"LOG":"info"}}`},
		{"a remote", "http", []string{"tenant=t"}, `weather {"type":"http","url":"https://t.example.com/mcp","headers":{"X-Key":"Bearer ${input:weather-token}"}}
{"type":"promptString","id":"weather-token","description":"token","password":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{weather, `{"server": ` + weather + `, "_meta": {}}`} {
				s, err := add.Read("server.json", add.Options{Folder: file(t, "server.json", text), Use: tt.use, Registry: "https://packages.example"})
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range tt.give {
					name, value, _ := strings.Cut(g, "=")
					if err := s.Give(name, value, false); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(tt.want, written(t, s)); diff != "" {
					t.Errorf("written (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAFileOfTheRegistryThatIsRefused(t *testing.T) {
	pkg := func(members string) string {
		return `{"name": "a/b", "packages": [{"registryType": "npm", "identifier": "b", "version": "1.0.0", ` + members + `}]}`
	}
	tests := []struct{ name, text, want string }{
		{"no JSON", `{`, "it is not a JSON object of a server"},
		{"a list", `[]`, "it is not a JSON object of a server"},
		{"nothing in it", `{"name": "a/b"}`, "neither packages nor remotes"},
		{"a wrong type", `{"name": 1}`, `"name" has a value of another type`},
		{"a runtime of its own", pkg(`"runtimeHint": "rm"`), `wants to be run by "rm"`},
		{"another registry", pkg(`"registryBaseUrl": "https://packages.example.evil.example"`), "is in the registry https://packages.example.evil.example"},
		{"a transport", pkg(`"transport": {"type": "streamable-http"}`), "reached by stdio"},
		{"a variable of Assent's", pkg(`"packageArguments": [{"type": "positional", "value": "${env:AWS_SECRET}"}]`), "which Assent would replace"},
		{"a variable in a default", pkg(`"packageArguments": [{"type": "positional", "valueHint": "a", "default": "${env:AWS_SECRET}"}]`), "cannot be written"},
		{"a variable in a name", pkg(`"environmentVariables": [{"name": "${env:A}"}]`), "no environment can have"},
		{"a name that is no flag", pkg(`"packageArguments": [{"type": "named", "name": "x"}]`), "which is not a flag"},
		{"a strange argument", pkg(`"packageArguments": [{"type": "odd"}]`), `of the type "odd"`},
		{"a hidden name", pkg(`"packageArguments": [{"type": "positional", "valueHint": "a\u202eb"}]`), "a<U+202E>b"},
		{"a bundle", `{"name": "a/b", "packages": [{"registryType": "mcpb", "identifier": "https://h/x.mcpb"}]}`, "nothing is fetched"},
		{"another kind", `{"name": "a/b", "packages": [{"registryType": "cargo"}]}`, `is of "cargo"`},
		{"a script", `{"name": "a/b", "remotes": [{"type": "sse", "url": "javascript:alert(1)"}]}`, "must begin with"},
		{"a URL that an input could change", `{"name": "a/b", "remotes": [{"type": "sse", "url": "{u}", "variables": {"u": {}}}]}`, "must begin with"},
		{"unpinned", `{"name": "a/b", "packages": [{"registryType": "npm", "identifier": "b", "version": "latest"}]}`, "has no exact version"},
		{"many packages", `{"name": "a/b", "remotes": [` + strings.Repeat(`{},`, 300) + `{}]}`, "more than 200"},
		{"many arguments", pkg(`"packageArguments": [` + strings.Repeat(`{"value": "a"},`, 300) + `{"value": "a"}]`), "more than 200"},
		{"a huge file", `{"name": "` + strings.Repeat("a", 2<<20) + `"}`, "more than 1048576 bytes"},
		{"deep", `{"name": ` + strings.Repeat(`[`, 20000), "it is not a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := add.Read("server.json", add.Options{Folder: file(t, "server.json", tt.text), Registry: "https://packages.example"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %+v, %v; want an error with %q", s, err, tt.want)
			}
		})
	}
}

// TestSecretsOfALink has a secret within a variable, and in places where no input can be.
func TestSecretsOfALink(t *testing.T) {
	const secret = "pw7XYZq-4711"
	for _, entry := range []string{
		`"env": {"A": "${env:TOKEN:-` + secret + `}"}`, `"env": {"TOKEN": "${env:A:-` + secret + `}"}`, `"args": ["--token", "${env:A:-` + secret + `}"]`,
		`"env": {"A": "${TOKEN:-` + secret + `}"}`, `"env": {"TOKEN": "${A:-` + secret + `}"}`, `"args": ["--token", "${A:-` + secret + `}"]`,
		`"args": ["--token=${env:A:-` + secret + `}"]`, `"args": ["--token=${A:-` + secret + `}"]`, `"env": {"A": "${A:-{\"token\": \"` + secret + `\"}}"}`,
	} {
		s, err := add.Read(link(`{"name": "s", "command": "x", `+entry+`}`), add.Options{Folder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Written("s")
		if err != nil || strings.Contains(string(w.Entry)+strings.Join(s.Notes, " "), secret) || !strings.Contains(string(w.Entry), "${input:") {
			t.Errorf("%s is written as %s, %v", entry, w.Entry, err)
		}
	}
	const token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	for _, members := range []string{
		`"command": "${TOKEN:-` + secret + `}"`, `"command": "x", "envFile": "${env:TOKEN:-` + secret + `}"`,
		`"command": "x", "args": ["${input:a}"], "inputs": [{"id": "a", "type": "pickString", "options": ["${TOKEN:-` + secret + `}"]}]`,
		`"command": "npx --token ` + secret + `"`, `"command": "x", "cwd": "/x?token=` + secret + `"`, `"command": "x", "env": {"` + token + `": "1"}`,
		`"command": "x", "env": {"A": "${input:token}"}, "inputs": [{"id": "token", "type": "pickString", "options": ["a", "` + secret + `"]}]`,
	} {
		if _, err := add.Read(link(`{"name": "s", `+members+`}`), add.Options{Folder: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "looks like a secret") || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", members, err)
		}
	}
}

func TestAnUnconfirmedRegistryIsRefused(t *testing.T) {
	_, err := add.Read("server.json", add.Options{Folder: file(t, "server.json", weather)})
	if err == nil || !strings.Contains(err.Error(), "give --registry https://packages.example") {
		t.Errorf("Read = %v, want that its registry is to be confirmed", err)
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	s, err := add.Read("server.json", add.Options{Folder: file(t, "server.json", weather), Registry: "https://packages.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ input, value, want string }{
		{"API_KEY", "abc", "is a secret"},
		{"--city", "${env:HOME}", "begins a variable"},
		{"--city", "a\nb", "more than one line"},
		{"--unit", "K", "is one of C, F"},
		{"nothing", "x", `has no input "nothing": it has API_KEY`},
	} {
		if err := s.Give(tt.input, tt.value, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Give(%q, %q) = %v, want %q", tt.input, tt.value, err, tt.want)
		}
	}
	if err := s.Give("--city", "a", false); err != nil {
		t.Fatal(err)
	}
	if err := s.Give("--city", "b", false); err == nil {
		t.Error("an input took two values")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(weather)
	f.Add(`{"name":"s","command":"npx","args":["a@1.0.0"],"inputs":[{"id":"a"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		dir := file(t, "server.json", text)
		for _, reference := range []string{link(text), "server.json", text} {
			s, err := add.Read(reference, add.Options{Folder: dir})
			if err != nil {
				continue
			}
			w, err := s.Written("n")
			if err != nil || !json.Valid(w.Entry) {
				t.Fatalf("%q is written as %s, %v", reference, w.Entry, err)
			}
			for _, in := range w.Inputs {
				if !json.Valid(in.Raw) {
					t.Fatalf("%q has the input %s", reference, in.Raw)
				}
			}
		}
	})
}
