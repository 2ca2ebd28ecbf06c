//go:build unix

package realpath_test

import (
	"os"
	"path/filepath"
	"testing"

	"assent/sidecar/base/realpath"
)

func TestOf(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(folder, "real"), filepath.Join(folder, "link")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(folder, "loose")
	if err := os.Symlink(filepath.Join("link", "new"), loose); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{loose, filepath.Join(real, "new")},
		{filepath.Join(loose, "x"), filepath.Join(real, "new", "x")},
		{real, real},
		{link, real},
		{filepath.Join(link, "new", "file"), filepath.Join(real, "new", "file")},
		{folder + "/real/../link/.", real},
	} {
		if got := realpath.Of(tt.path); got != tt.want {
			t.Errorf("Of(%s) = %s, want %s", tt.path, got, tt.want)
		}
	}
}
