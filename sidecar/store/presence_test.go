//go:build linux || darwin

package store_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// A program that a sidecar starts has the sidecar's locks until its own code runs. The sidecar may be killed then.
func TestADeadWindowIsFoundThoughItsChildHasTheLock(t *testing.T) {
	if dir := os.Getenv("STORE_TEST_DIR"); dir != "" {
		ownATaskAndStartAChild(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	one := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	one.Env = append(os.Environ(), "STORE_TEST_DIR="+dir)
	one.Stdin, one.Stdout, one.Stderr = inRead, outWrite, os.Stderr
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = inRead.Close(), outWrite.Close()
	t.Cleanup(func() {
		_ = one.Process.Kill() // or it has ended
		_ = inWrite.Close()    // ends the child
		_, _ = io.Copy(io.Discard, outRead)
		_ = outRead.Close()
	})
	if line, err := bufio.NewReader(outRead).ReadString('\n'); line != "ready\n" || err != nil {
		t.Fatalf("the first window said %q, %v", line, err)
	}

	two := openWindow(t, dir, "two", "a")
	st, err := two.Task(t.Context(), "t1")
	if err != nil || st.Task.Elsewhere == nil || st.Task.Elsewhere.Gone {
		t.Fatalf("while the first window lives: %+v, %v", st, err)
	}
	if err := one.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = one.Wait() // which says that it was killed
	path := filepath.Join(dir, "sidecars", st.Owner)
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if free, err := lock.TryLock(); free || err != nil {
		t.Fatalf("the child has not got the lock: %v, %v", free, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}

	// A file that is incomplete, or from another machine, proves nothing.
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", string(written[:len(written)-1]), strings.Replace(string(written), `"boot":"`, `"boot":"x`, 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !two.Alive(st.Owner) {
			t.Errorf("with %q in its file, the first window was taken for dead", text)
		}
	}
	if err := os.WriteFile(path, written, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := two.ClaimLeft(t.Context(), 1)
	if diff := cmp.Diff([]string{"t1"}, left); diff != "" || err != nil {
		t.Errorf("ClaimLeft: %v (-want +got):\n%s", err, diff)
	}
}

// ownATaskAndStartAChild is a window that has a task with a call under way. It starts a process that keeps the lock on
// the window's file, and waits to be killed.
func ownATaskAndStartAChild(t *testing.T, dir string) {
	s := openWindow(t, dir, "one", "a")
	save(t, s, protocol.Task{ID: "t1"}, live(1))
	files, err := filepath.Glob(filepath.Join(dir, "sidecars", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	var file, opened syscall.Stat_t
	if err := syscall.Stat(files[0], &file); err != nil {
		t.Fatal(err)
	}
	for descriptor := 3; ; descriptor++ {
		if descriptor == 1000 {
			t.Fatal("no descriptor is of the window's file")
		}
		if syscall.Fstat(descriptor, &opened) == nil && opened.Dev == file.Dev && opened.Ino == file.Ino {
			child := exec.Command("cat")
			child.Stdin, child.Stdout = os.Stdin, os.Stdout
			child.ExtraFiles = []*os.File{os.NewFile(uintptr(descriptor), "lock")}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
}
