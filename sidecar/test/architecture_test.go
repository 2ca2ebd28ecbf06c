package test

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

// floors are those of ARCHITECTURE.md, by folder of sidecar/. A package may import those of a lower floor, and those of its
// own folder.
var floors = map[string]int{
	"base": 0,
	"wire": 1, "model": 1, "task": 1, "example": 1,
	"config": 2, "broker": 2,
	"hub": 3, "setup": 3,
	"chat":      4,
	"gateway":   5,
	"workspace": 6,
	"daemon":    7,
	"browser":   8, "terminal": 8,
	"cmd": 9,
}

// roomOf returns the folder of sidecar/ that has a package of ours, with its floor. Package protocol is below all. The
// programs of scripts/ are above all.
func roomOf(t *testing.T, pkg string) (string, int) {
	first, rest, _ := strings.Cut(pkg, "/")
	switch first {
	case "protocol":
		return first, -1
	case "scripts":
		return first, len(floors)
	}
	room, _, _ := strings.Cut(rest, "/")
	floor, known := floors[room]
	if !known {
		t.Errorf("%s is on no floor", pkg)
	}
	return room, floor
}

// owners lists the only packages that may import certain libraries, so that their types do not
// spread.
var owners = map[string][]string{
	"charm.land/bubbletea/v2":                        {"sidecar/terminal"},
	"charm.land/huh/v2":                              {"sidecar/terminal"},
	"charm.land/lipgloss/v2":                         {"sidecar/terminal"},
	"github.com/charmbracelet/x/ansi":                {"sidecar/terminal"},
	"github.com/gen2brain/beeep":                     {"sidecar/cmd"},
	"github.com/Microsoft/go-winio":                  {"sidecar/daemon"},
	"github.com/sourcegraph/jsonrpc2":                {"sidecar/browser", "sidecar/workspace/rpc"},
	"github.com/modelcontextprotocol/go-sdk/mcp":     {"sidecar/example", "sidecar/hub/exchange", "sidecar/hub", "sidecar/hub/session", "sidecar/wire", "scripts/demo/example-server", "scripts/bench"},
	"github.com/modelcontextprotocol/go-sdk/jsonrpc": {"sidecar/broker", "sidecar/hub/exchange", "sidecar/hub", "sidecar/wire/mcptask", "sidecar/wire"},
	"github.com/modelcontextprotocol/go-sdk/auth":    {"sidecar/wire/auth"},
	"github.com/modelcontextprotocol/go-sdk/oauthex": {"sidecar/wire/auth"},
	"golang.org/x/oauth2":                            {"sidecar/wire/auth"},
	"github.com/golang-jwt/jwt/v5":                   {"sidecar/wire/auth"},
	"github.com/sashabaranov/go-openai":              {"sidecar/model"},
	"go.yaml.in/yaml/v3":                             {"sidecar/setup/hostfile", "sidecar/terminal/answers"},
	"github.com/pelletier/go-toml/v2":                {"sidecar/setup/hostfile", "sidecar/config/orgpolicy"},
	"github.com/pelletier/go-toml/v2/unstable":       {"sidecar/setup/hostfile"},
	"mvdan.cc/sh/v3/syntax":                          {"sidecar/broker/askfirst"},
	"github.com/zalando/go-keyring":                  {"sidecar/setup/vault"},
	"modernc.org/sqlite":                             {"sidecar/task/store", "scripts/bench"}, // which measures it alone
	"os/exec":                                        {"sidecar/cmd", "sidecar/config", "sidecar/workspace/rpc/rpctest", "sidecar/wire", "sidecar/wire/wiretest", "scripts/bench", "scripts/tools/protogen"},
}

func TestImportsRunOneWay(t *testing.T) {
	docs := map[string]bool{}
	for _, file := range productFiles(t, "../..") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../../"))
		if parsed.Doc != nil {
			docs[pkg] = true
		} else if !docs[pkg] {
			docs[pkg] = false
		}
		room, floor := roomOf(t, pkg)
		for _, spec := range parsed.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if own, ok := strings.CutPrefix(imported, "assent/"); ok {
				if other, below := roomOf(t, own); other != room && below >= floor {
					t.Errorf("%s imports %s, which is not below it", file, own)
				}
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
	for _, file := range productFiles(t, "..") {
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

// Package loopback knows who connects, and bounds what a stranger may hold. So no other code opens a port.
func TestPortsAreOpenedInOnePlace(t *testing.T) {
	opens := 0
	for _, file := range productFiles(t, "..") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := call.X.(*ast.Ident)
			if of == nil || of.Name != "net" && of.Name != "http" || !strings.HasPrefix(call.Sel.Name, "Listen") || call.Sel.Name == "ListenUnix" || call.Sel.Name == "Listener" {
				return true
			}
			if opens++; !strings.Contains(filepath.ToSlash(file), "/base/loopback/") {
				t.Errorf("%s uses %s.%s", file, of.Name, call.Sel.Name)
			}
			return true
		})
	}
	if opens == 0 {
		t.Error("no place opens a port")
	}
}
