//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assent/sidecar/base/atomicfile"
)

// TestAFileKeepsItsOwner: root gives the new file to the owner of the old one, and other users leave the file alone.
func TestAFileKeepsItsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		f, err := atomicfile.Read("/etc/hosts", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Replace(nil); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("root's file: %v", err)
		}
		return
	}
	for _, tt := range []struct {
		name        string
		user, group uint32
		mode        fs.FileMode
	}{
		{"another user", 1234, 1235, 0o640},
		{"another group", 0, 1235, 0o660},
		{"root", 0, 0, 0o600},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(path, int(tt.user), int(tt.group)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			f, err := atomicfile.Read(path, 100)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Replace([]byte("new")); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if is := info.Sys().(*syscall.Stat_t); is.Uid != tt.user || is.Gid != tt.group || info.Mode() != tt.mode {
				t.Errorf("it belongs to %d and %d with %v", is.Uid, is.Gid, info.Mode())
			}
		})
	}
}

// People keep a file of their settings under two names. Both have the new content.
func TestAFileWithAHardLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a long text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".too"); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Read(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"short", "a text that is longer than before"} {
		if err := f.Replace([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path + ".too"); string(got) != want {
			t.Errorf("the other name has %q (%v), want %q", got, err, want)
		}
	}
	if err := os.WriteFile(path+".too", []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(nil); !errors.Is(err, atomicfile.ErrChanged) {
		t.Errorf("after another change: %v", err)
	}
}
