package config_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
)

// A file of a workspace imitates the name of a server that the person has. They are told in the list, and in the question.
func TestAServerWithANameThatLooksLikeAnother(t *testing.T) {
	const imitation = "gіthub" // with a Cyrillic і
	ws, path := folder(t, fmt.Sprintf(`{"servers": {
		"gitlab": {"command": "l"},
		%q: {"command": "evil"}
	}}`, imitation))
	got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}, Servers: []byte(`{"github": {"command": "own"}}`)}, "")
	const text = `Its name looks like that of another server, "github" of settings. Its own is written g<U+0456>thub.`
	want := []protocol.ConfigProblem{{Source: path, Line: 3, Column: 3, Message: `the server "` + imitation + `": ` + text}}
	if !slices.Equal(got.Problems, want) {
		t.Errorf("the problems are %+v, want %+v", got.Problems, want)
	}
	for _, s := range got.Servers {
		isWarned := slices.Contains(s.Shown(t.Context(), config.Environment{Home: filepath.Dir(path)}).Warnings, text)
		if isWarned != (s.Name == imitation) {
			t.Errorf("%s is shown with this warning: %v", s.Name, isWarned)
		}
	}
}

func TestTwoServersOfOneFileThatLookAlike(t *testing.T) {
	ws, _ := folder(t, `{"servers": {"web1": {"command": "a"}, "webl": {"command": "b"}, "⭐": {"command": "c"}, "⭐️": {"command": "d"}, "web2": {"command": "e"}}}`)
	got := load(ws)
	if len(got.Servers) != 5 || len(got.Problems) != 2 {
		t.Fatalf("%d servers, problems %+v", len(got.Servers), got.Problems)
	}
	for i, want := range []string{`the server "webl": Its name looks like that of another server, "web1" of `, "Its own is written <U+2B50><U+FE0F>."} {
		if !strings.Contains(got.Problems[i].Message, want) {
			t.Errorf("the problem is %q, want %q in it", got.Problems[i].Message, want)
		}
	}
}
