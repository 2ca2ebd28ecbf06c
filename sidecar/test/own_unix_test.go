//go:build unix

package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A decision is about the folder, and not about a link to it.
func TestALinkDoesNotMoveADecisionToAnotherFolder(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("own", `"cwd":"${workspaceFolder}"`)+`}`)
	first, second, link := p.project(), p.project("node_modules/placed", "the clone"), filepath.Join(p.project(), "current")
	to := func(folder string) {
		_ = os.Remove(link) // at first there is none
		if err := os.Symlink(folder, link); err != nil {
			t.Fatal(err)
		}
	}
	to(first)
	c := p.inFolder(link, "call", "shop", "where", "--plain")
	c.Stdin = strings.NewReader("yes\n")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "would use files of the folder "+first) {
		t.Errorf("asked: %v %s", err, out)
	}
	if out, err := p.inFolder(link, "call", "shop", "where").CombinedOutput(); err != nil { // and no second time
		t.Errorf("asked again: %v %s", err, out)
	}
	to(second)
	if out, err := p.inFolder(link, "call", "shop", "where").CombinedOutput(); err == nil || !strings.Contains(string(out), second) {
		t.Errorf("where the link leads now: %v %s", err, out)
	}
}

// A server's PWD is the folder in which it starts, not the one of the terminal or the host.
func TestAServerIsToldOfItsOwnFolder(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("own")+`,"there":`+who("own", `"cwd":"${workspaceFolder}"`)+`}`)
	folder := p.project()
	for server, want := range map[string]string{"shop": p.home, "there": folder} {
		out, err := p.inFolder(folder, "call", server, "process", "--trust").CombinedOutput()
		var got process
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		pwd := slices.DeleteFunc(got.Env, func(kv string) bool { return !strings.HasPrefix(kv, "PWD=") })
		if err != nil || !slices.Equal(pwd, []string{"PWD=" + want}) {
			t.Errorf("%s starts in %s, with %s: %v %s", server, want, pwd, err, out)
		}
	}
}
