package diagnose

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestTheLineThatSaysTheError(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/stderr.txtar")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, file := range archive.Files {
		written[file.Name] = string(file.Data)
	}
	tests := []struct{ name, want string }{
		{"node, a module that is missing", "Error: Cannot find module './dist/index.js'"},
		{"node, a file that is missing", "Error: Cannot find module '/home/ada/srv/dist/index.js'"},
		{"node, a package that is missing", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'not-there' imported from /home/ada/srv/esm.mjs"},
		{"node 20, a package that is missing", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'not-there' imported from /home/ada/srv/esm.mjs"},
		{"node, a syntax error", "SyntaxError: Unexpected token ';'"},
		{"node, an error that nobody catches", "Error: GITHUB_TOKEN environment variable is not set"},
		{"node, an error with a cause", "[TypeError: fetch failed], because of Error: bad port"},
		{"node, a rejected promise", "UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason \"just a text\"."},
		{"node, an unknown option", "/usr/bin/node: bad option: --nope"},
		{"python, one exception after another", "RuntimeError: the configuration is not complete"},
		{"python, an exception group", "ValueError: no key given"},
		{"python, a module that is missing", "ModuleNotFoundError: No module named 'mcp_not_there'"},
		{"python, a syntax error", "SyntaxError: '(' was never closed"},
		{"python, a missing argument", "server: error: the following arguments are required: --db"},
		{"python, a logged error", "ERROR:root:could not read config.json: [Errno 2] No such file or directory"},
		{"python, a file that is missing", "/usr/bin/python3: can't open file '/home/ada/srv/nope.py': [Errno 2] No such file or directory"},
		{"python, a program that is missing", "/usr/bin/python3: Error while finding module specification for 'nope.server' (ModuleNotFoundError: No module named 'nope')"},
		{"go, a panic", "panic: assignment to entry in nil map"},
		{"go run, a panic", "panic: assignment to entry in nil map"},
		{"go, log.Fatal", "2026/11/22 12:19:14 open x: permission denied"},
		{"go, an unknown flag", "flag provided but not defined: -nope"},
		{"go run, what cannot be compiled", "b.go:1:1: expected 'package', found 'func'"},
		{"go run, a package that is missing", "stat /home/ada/srv/cmd/server: directory not found"},
		{"npx, a package that is missing", "npm error 404 Not Found - GET https://registry.example/@ada%2fsrv"},
		{"npx, a version that is missing", "npm error notarget No matching version found for is-number@99.0.0."},
		{"npx, a package without a program", "npm error could not determine executable to run"},
		{"docker, not running", "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"},
		{"docker, an unknown flag", "unknown flag: --nope"},
		{"docker, an image that is missing", "docker: Error response from daemon: pull access denied for mcp/srv, repository does not exist or may require 'docker login': denied: requested access to the resource is denied"},
		{"uvx, a package that is missing", "Because mcp-server-srv was not found in the package registry"},
		{"uvx, a version that is missing, without Unicode", "Because there is no version of mcp-server-srv==9.9.9 and you require mcp-server-srv==9.9.9, we can"},
		{"uvx, a program that is missing", "An executable named `srv` is not provided by package `mcp-server-srv`."},
		{"dash, a program that is missing", "sh.sh: 2: not-there: not found"},
		{"bash, a program that is missing", "./ba.sh: line 3: not-there: command not found"},
		{"env, an interpreter that is missing", "/usr/bin/env: ‘not-there’: No such file or directory"},
		{"rust, a panic", "thread 'main' panicked at src/main.rs:4:5: the variable API_KEY is not set"},
		{"words that are no error, at the end", "bye"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, ok := written[tt.name]
			if !ok {
				t.Fatal("testdata/stderr.txtar has nothing of it")
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			const kept = 20 // as the sidecar keeps of a process
			if got := errorLine(plainLines(lines[max(0, len(lines)-kept):])); got != tt.want {
				t.Errorf("errorLine = %q, want %q", got, tt.want)
			}
		})
	}
	if len(tests) != len(written) {
		t.Errorf("there are %d outputs, of which %d are tried", len(written), len(tests))
	}
	if got := errorLine([]string{"", "  "}); got != "" {
		t.Errorf("errorLine of nothing = %q", got)
	}
}
