//go:build unix

package askfirst_test

import (
	"os"
	"path/filepath"
	"testing"

	"assent/sidecar/broker/askfirst"
)

func TestLinksOutOfTheFolder(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), t.TempDir()
	inside := filepath.Join(folder, "sub")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": elsewhere, "sub/below": elsewhere, "loose": filepath.Join(elsewhere, "new")} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		use  askfirst.Use
		want string
	}{
		{"a link", askfirst.Use{Input: map[string]any{"file_path": filepath.Join(folder, "link", "x")}}, "yes"},
		{"a link by its name", askfirst.Use{Input: map[string]any{"path": "link"}}, "yes"},
		{"mv to a link", askfirst.Use{Command: "mv x link"}, "yes"},
		{"dd to a link", askfirst.Use{Command: "dd if=x of=link"}, "yes"},
		{"a redirection to a link", askfirst.Use{Command: "echo x >| link/x"}, "yes"},
		{"a move to a link", askfirst.Use{Command: "cd link && cat x"}, "yes"},
		{"a link after a move", askfirst.Use{Command: "cd sub && cat below/x"}, "yes"},
		{"a link by its name after a move", askfirst.Use{Command: "cd sub; cat below"}, "yes"},
		{"a link for a program that moves", askfirst.Use{Command: "git -C sub add below"}, "yes"},
		{"names with a link", askfirst.Use{Command: "cat l*/x"}, "yes"},
		{"names that are links", askfirst.Use{Command: "cat lin[!x]"}, "yes"},
		{"names in many folders", askfirst.Use{Command: "cat sub/*/*.go"}, "yes"}, // there is a link
		{"a link to a file that is not there yet", askfirst.Use{Command: "echo x > loose"}, "yes"},
		{"up behind a link", askfirst.Use{Command: "cat link/../x"}, "yes"},
		{"up behind a link below", askfirst.Use{Input: map[string]any{"file_path": "sub/below/../x"}}, "yes"},
		{"up behind a link, in a whole path", askfirst.Use{Input: map[string]any{"file_path": folder + "/link/../x"}}, "yes"},
		{"a link behind names", askfirst.Use{Command: "cat s*/below"}, "yes"},
		{"a link by the names of a whole path", askfirst.Use{Command: "cat " + folder + "/lin*"}, "yes"},
	} {
		if got := askedOutside(folder, tt.use); got != tt.want {
			t.Errorf("%s is asked: %s, want %s", tt.name, got, tt.want)
		}
	}
}
