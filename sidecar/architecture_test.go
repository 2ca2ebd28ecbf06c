package sidecar

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers is the map of ARCHITECTURE.md: each package, and those of ours that it may import. An import
// that is not here is a change of the architecture, and belongs into that file first.
var layers = map[string][]string{
	"protocol":                 {},
	"sidecar/deadline":         {},
	"sidecar/awaited":          {},
	"sidecar/apps":             {"sidecar/jsonscan", "sidecar/loopback"},
	"sidecar/tap":              {"sidecar/lazyregexp", "sidecar/secret"},
	"sidecar/stack":            {},
	"sidecar/trace":            {"sidecar/jsonscan"},
	"sidecar/jsonscan":         {},
	"sidecar/lazyregexp":       {},
	"sidecar/quirk":            {"sidecar/lazyregexp"},
	"sidecar/atomicfile":       {},
	"sidecar/visible":          {"protocol"},
	"sidecar/nearest":          {},
	"sidecar/reason":           {"sidecar/lazyregexp"},
	"sidecar/rpc":              {"protocol", "sidecar/reason", "sidecar/stack"},
	"sidecar/procinfo":         {},
	"sidecar/loopback":         {"sidecar/procinfo"},
	"sidecar/secret":           {"sidecar/lazyregexp"},
	"sidecar/wire":             {"sidecar/awaited", "sidecar/jsonscan", "sidecar/deadline", "sidecar/quirk", "sidecar/reason", "sidecar/stack", "sidecar/visible"},
	"sidecar/form":             {"protocol", "sidecar/jsonscan", "sidecar/lazyregexp", "sidecar/secret"},
	"sidecar/leftover":         {"sidecar/procinfo"},
	"sidecar/retention":        {},
	"sidecar/config":           {"protocol", "sidecar/jsonscan", "sidecar/lazyregexp", "sidecar/nearest", "sidecar/reason", "sidecar/secret", "sidecar/visible"},
	"sidecar/auth":             {"protocol", "sidecar/awaited", "sidecar/deadline", "sidecar/lazyregexp", "sidecar/reason"},
	"sidecar/hostfile":         {"sidecar/config"},
	"sidecar/importer":         {"protocol", "sidecar/atomicfile", "sidecar/config", "sidecar/hostfile", "sidecar/lazyregexp", "sidecar/secret"},
	"sidecar/vault":            {"sidecar/atomicfile"},
	"sidecar/setup":            {"sidecar/atomicfile", "sidecar/config", "sidecar/hostfile", "sidecar/importer", "sidecar/lazyregexp", "sidecar/reason", "sidecar/vault"},
	"sidecar/add":              {"protocol", "sidecar/config", "sidecar/importer", "sidecar/lazyregexp", "sidecar/secret", "sidecar/visible"},
	"sidecar/store":            {"protocol", "sidecar/procinfo"},
	"sidecar/journal":          {"protocol", "sidecar/jsonscan", "sidecar/reason", "sidecar/retention", "sidecar/secret", "sidecar/store", "sidecar/visible"},
	"sidecar/model":            {"protocol", "sidecar/lazyregexp", "sidecar/trace"},
	"sidecar/grant":            {"protocol", "sidecar/journal", "sidecar/model", "sidecar/store"},
	"sidecar/confirm":          {"protocol", "sidecar/config", "sidecar/journal", "sidecar/store"},
	"sidecar/tasklog":          {"protocol", "sidecar/journal", "sidecar/stack", "sidecar/store"},
	"sidecar/ask":              {"protocol", "sidecar/lazyregexp", "sidecar/tasklog", "sidecar/trace"},
	"sidecar/recovery":         {"protocol", "sidecar/ask", "sidecar/store", "sidecar/tasklog"},
	"sidecar/task":             {"protocol", "sidecar/ask", "sidecar/journal", "sidecar/recovery", "sidecar/retention", "sidecar/stack", "sidecar/store", "sidecar/tasklog"},
	"sidecar/policy":           {"protocol", "sidecar/form", "sidecar/grant", "sidecar/model"},
	"sidecar/attribution":      {"protocol", "sidecar/ask", "sidecar/mcptask", "sidecar/task", "sidecar/trace", "sidecar/wire"},
	"sidecar/broker":           {"protocol", "sidecar/apps", "sidecar/ask", "sidecar/attribution", "sidecar/form", "sidecar/grant", "sidecar/jsonscan", "sidecar/model", "sidecar/policy", "sidecar/reason", "sidecar/secret", "sidecar/stack", "sidecar/task"},
	"sidecar/mcpserver":        {"sidecar/jsonscan"},
	"sidecar/gateway":          {"sidecar/form", "sidecar/jsonscan", "sidecar/mcpserver"},
	"sidecar/shim":             {"sidecar/jsonscan", "sidecar/mcpserver"},
	"sidecar/mcptask":          {"protocol", "sidecar/quirk", "sidecar/reason"},
	"sidecar/icon":             {"protocol", "sidecar/jsonscan", "sidecar/lazyregexp"},
	"sidecar/diagnose":         {"protocol", "sidecar/auth", "sidecar/config", "sidecar/confirm", "sidecar/lazyregexp", "sidecar/procinfo", "sidecar/reason", "sidecar/wire"},
	"sidecar/session":          {"protocol", "sidecar/apps", "sidecar/attribution", "sidecar/auth", "sidecar/awaited", "sidecar/config", "sidecar/confirm", "sidecar/deadline", "sidecar/diagnose", "sidecar/icon", "sidecar/jsonscan", "sidecar/leftover", "sidecar/quirk", "sidecar/reason", "sidecar/stack", "sidecar/task", "sidecar/wire"},
	"sidecar/exchange":         {"protocol", "sidecar/ask", "sidecar/attribution", "sidecar/awaited", "sidecar/broker", "sidecar/config", "sidecar/deadline", "sidecar/jsonscan", "sidecar/mcptask", "sidecar/quirk", "sidecar/reason", "sidecar/session", "sidecar/task", "sidecar/trace", "sidecar/wire"},
	"sidecar/hub":              {"protocol", "sidecar/apps", "sidecar/attribution", "sidecar/broker", "sidecar/config", "sidecar/exchange", "sidecar/form", "sidecar/icon", "sidecar/jsonscan", "sidecar/mcptask", "sidecar/nearest", "sidecar/reason", "sidecar/session", "sidecar/trace", "sidecar/wire"},
	"sidecar/chat":             {"protocol", "sidecar/broker", "sidecar/form", "sidecar/hub", "sidecar/model", "sidecar/reason", "sidecar/task", "sidecar/trace"},
	"sidecar/server":           {"sidecar/atomicfile", "protocol", "sidecar/apps", "sidecar/attribution", "sidecar/auth", "sidecar/awaited", "sidecar/broker", "sidecar/chat", "sidecar/config", "sidecar/confirm", "sidecar/form", "sidecar/grant", "sidecar/hub", "sidecar/importer", "sidecar/journal", "sidecar/leftover", "sidecar/model", "sidecar/deadline", "sidecar/gateway", "sidecar/mcpserver", "sidecar/nearest", "sidecar/policy", "sidecar/reason", "sidecar/rpc", "sidecar/secret", "sidecar/session", "sidecar/stack", "sidecar/store", "sidecar/tap", "sidecar/task", "sidecar/trace", "sidecar/visible", "sidecar/setup", "sidecar/vault", "sidecar/jsonscan"},
	"sidecar/workspaces":       {"sidecar/apps", "sidecar/leftover", "sidecar/secret", "sidecar/server", "sidecar/tap"},
	"sidecar/browser":          {"protocol", "sidecar/apps", "sidecar/jsonscan", "sidecar/loopback", "sidecar/workspaces"},
	"sidecar/httphosts":        {"sidecar/atomicfile", "sidecar/loopback"},
	"sidecar/terminal":         {"sidecar/atomicfile", "protocol", "sidecar/add", "sidecar/config", "sidecar/daemon", "sidecar/form", "sidecar/importer", "sidecar/leftover", "sidecar/nearest", "sidecar/secret", "sidecar/terminal/answers", "sidecar/terminal/attach", "sidecar/visible", "sidecar/workspaces", "sidecar/lazyregexp"},
	"sidecar/terminal/answers": {"sidecar/nearest", "sidecar/visible"},
	"sidecar/terminal/attach":  {"protocol", "sidecar/rpc"},
	"sidecar/daemon":           {"sidecar/leftover", "sidecar/procinfo"},
	"sidecar/example":          {},
	"sidecar":                  {"protocol", "sidecar/apps", "sidecar/browser", "sidecar/config", "sidecar/daemon", "sidecar/example", "sidecar/gateway", "sidecar/httphosts", "sidecar/importer", "sidecar/journal", "sidecar/leftover", "sidecar/mcpserver", "sidecar/secret", "sidecar/server", "sidecar/setup", "sidecar/shim", "sidecar/store", "sidecar/terminal", "sidecar/vault", "sidecar/visible", "sidecar/workspaces"},
	"sidecar/assent":           {"sidecar"},
	"sidecar/auth/authtest":    {},
	"sidecar/rpc/rpctest":      {"protocol"},
	"sidecar/task/tasktest":    {"protocol", "sidecar/store", "sidecar/task"},
	"sidecar/wire/wiretest":    {},

	"scripts/bench":               {"protocol", "sidecar/model", "sidecar/rpc", "sidecar/rpc/rpctest", "sidecar/secret", "sidecar/store"},
	"scripts/demo/example-server": {},
	"scripts/tools/protogen":      {},
}

// owners lists the only packages that may import certain libraries, so that their types do not
// spread.
var owners = map[string][]string{
	"charm.land/bubbletea/v2":                        {"sidecar/terminal"},
	"charm.land/huh/v2":                              {"sidecar/terminal"},
	"charm.land/lipgloss/v2":                         {"sidecar/terminal"},
	"github.com/charmbracelet/x/ansi":                {"sidecar/terminal"},
	"github.com/gen2brain/beeep":                     {"sidecar"},
	"github.com/Microsoft/go-winio":                  {"sidecar/daemon"},
	"github.com/sourcegraph/jsonrpc2":                {"sidecar/browser", "sidecar/rpc"},
	"github.com/modelcontextprotocol/go-sdk/mcp":     {"sidecar/example", "sidecar/exchange", "sidecar/hub", "sidecar/session", "sidecar/wire", "scripts/demo/example-server", "scripts/bench"},
	"github.com/modelcontextprotocol/go-sdk/jsonrpc": {"sidecar/broker", "sidecar/exchange", "sidecar/hub", "sidecar/mcptask", "sidecar/wire"},
	"github.com/modelcontextprotocol/go-sdk/auth":    {"sidecar/auth"},
	"github.com/modelcontextprotocol/go-sdk/oauthex": {"sidecar/auth"},
	"golang.org/x/oauth2":                            {"sidecar/auth"},
	"github.com/golang-jwt/jwt/v5":                   {"sidecar/auth"},
	"github.com/sashabaranov/go-openai":              {"sidecar/model"},
	"go.yaml.in/yaml/v3":                             {"sidecar/hostfile", "sidecar/terminal/answers"},
	"github.com/pelletier/go-toml/v2":                {"sidecar/hostfile"},
	"github.com/pelletier/go-toml/v2/unstable":       {"sidecar/hostfile"},
	"github.com/zalando/go-keyring":                  {"sidecar/vault"},
	"modernc.org/sqlite":                             {"sidecar/store"},
	"os/exec":                                        {"sidecar", "sidecar/config", "sidecar/rpc/rpctest", "sidecar/wire", "scripts/bench"},
}

func TestImportsRunOneWay(t *testing.T) {
	docs := map[string]bool{}
	for _, file := range productFiles(t, "..") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../"))
		if parsed.Doc != nil {
			docs[pkg] = true
		} else if !docs[pkg] {
			docs[pkg] = false
		}
		allowed, known := layers[pkg]
		if !known {
			t.Errorf("%s is on no layer", pkg)
		}
		for _, spec := range parsed.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if own, ok := strings.CutPrefix(imported, "assent/"); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, which is not below it", file, own)
			}
			if owner, ok := owners[imported]; ok && !slices.Contains(owner, pkg) {
				t.Errorf("%s imports %s, which belongs to %v", file, imported, owner)
			}
		}
	}
	for pkg, has := range docs {
		if !has {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

// maxFields bounds the fields of a struct, where an embedded one is one field, and maxLines bounds the lines of a function.
const (
	maxFields = 15
	maxLines  = 120
)

func TestStructsAndFunctionsAreSmall(t *testing.T) {
	for _, file := range productFiles(t, ".") {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				if fields := n.Fields.NumFields(); fields > maxFields {
					t.Errorf("%s: a struct has %d fields; %d are allowed", files.Position(n.Pos()), fields, maxFields)
				}
			case *ast.FuncDecl:
				if lines := files.Position(n.End()).Line - files.Position(n.Pos()).Line + 1; lines > maxLines {
					t.Errorf("%s: %s has %d lines; %d are allowed", files.Position(n.Pos()), n.Name.Name, lines, maxLines)
				}
			}
			return true
		})
	}
}

// productFiles returns the Go files of a folder, without the tests.
func productFiles(t *testing.T, folder string) (files []string) {
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "dist" || len(entry.Name()) > 2 && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
