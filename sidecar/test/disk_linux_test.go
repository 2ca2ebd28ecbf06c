package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// storageTalk is a conversation that records the reports about the store.
func storageTalk(t *testing.T, dir string) (c *talk, said *[]string) {
	t.Helper()
	return storageTalkOf(t, newDaemonHome(t).alone("--data-dir", dir))
}

func storageTalkOf(t *testing.T, assent *exec.Cmd) (c *talk, said *[]string) {
	t.Helper()
	c, said = startTalk(t, assent), &[]string{}
	c.Heard = func(method string, params json.RawMessage) {
		if strings.HasPrefix(method, "storage/") {
			*said = append(*said, method+" "+string(params))
		}
	}
	if err := c.shakeHands(); err != nil {
		t.Fatal(err)
	}
	return c, said
}

// limitFiles makes the system refuse every change of a process that makes a file larger, as a full disk
// does. It needs no privilege, and also applies to root.
func limitFiles(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit)
	if err == nil {
		limit.Cur = min(bytes, limit.Max)
		err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestChangesThatAFullDiskRefusedAreSavedLater(t *testing.T) {
	t.Parallel()
	home, dir := newDaemonHome(t), t.TempDir()
	c, said := storageTalkOf(t, home.alone("--data-dir", dir))
	hear, unsaved := c.Heard, 0
	c.Heard = func(method string, params json.RawMessage) {
		hear(method, params)
		if method == "task/event" && strings.Contains(string(params), `"unsaved":true`) {
			unsaved++
		}
	}
	c.create("a: before")
	log, err := os.Stat(filepath.Join(dir, "assent.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t, c.Cmd.Process.Pid, uint64(log.Size())+1000) // in the middle of a page
	c.create("b: refused")
	c.create("c: refused too")
	if len(*said) != 1 || !strings.HasPrefix((*said)[0], "storage/failed") {
		t.Fatalf("of the store was said %q", *said)
	}
	if unsaved != 2 {
		t.Errorf("of %d acts was said that they are not saved, want 2", unsaved)
	}
	reader, _ := storageTalkOf(t, home.command("serve", "--data-dir", dir)) // another window
	reader.wantTasks("a: before", "b: refused", "c: refused too")
	reader.kill()
	limitFiles(t, c.Cmd.Process.Pid, unix.RLIM_INFINITY)
	for len(*said) < 2 {
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix((*said)[1], "storage/recovered") {
		t.Errorf("of the store was said %q", *said)
	}
	c.kill()
	next, said := storageTalk(t, dir)
	next.wantTasks("a: before", "b: refused", "c: refused too")
	if unsaved != 2 {
		t.Errorf("of %d acts was said that they are not saved, also of those that are", unsaved)
	}
	if len(*said) != 0 {
		t.Errorf("the next start says of the store %q", *said)
	}
}

// writable makes a folder and its files writable, or not.
func writable(t *testing.T, dir string, yes bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		mode := fs.FileMode(0o444)
		if entry.IsDir() {
			mode |= 0o111
		}
		if yes {
			mode |= 0o222
		}
		return errors.Join(err, os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAReadOnlyStoreIsNotHarmed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	c, _ := storageTalk(t, dir)
	c.create("a: before")
	c.kill() // its log is still there
	writable(t, dir, false)
	before, err := os.ReadFile(filepath.Join(dir, "assent.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	c, said := storageTalkOf(t, unprivileged(t, dir))
	c.wantTasks("a: before") // which can be read
	c.create("b: in memory")
	if len(*said) != 1 || !strings.HasPrefix((*said)[0], "storage/failed") || !strings.Contains((*said)[0], dir) {
		t.Fatalf("of the store was said %q", *said)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "assent.db-wal")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store was changed: %v", err)
	}
	writable(t, dir, true)
	for len(*said) < 2 {
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix((*said)[1], "storage/recovered") {
		t.Errorf("of the store was said %q", *said)
	}
	c.kill()
	next, _ := storageTalk(t, dir)
	next.wantTasks("a: before", "b: in memory")
}

// unprivileged returns a sidecar that may write only where everybody may: for root, whom no mode stops, it is
// another user's.
func unprivileged(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("assent")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return newDaemonHome(t).alone("--data-dir", dir)
	}
	// The folders of a test are its user's alone.
	program := filepath.Join(t.TempDir(), "assent")
	// Another process copies it: a program that another test starts would inherit this process's open files until it
	// runs, and a file that is open for writing cannot be run.
	err = exec.Command("cp", path, program).Run()
	for _, open := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program)), filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		err = errors.Join(err, os.Chmod(open, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	home := newDaemonHome(t)
	assent := home.alone("--data-dir", dir)
	assent.Path = program
	if err := os.Chown(home.folder, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	assent.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return assent
}

func TestADeletedStoreIsThereAfterAKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	home := newDaemonHome(t)
	c, said := storageTalkOf(t, home.alone("--data-dir", dir))
	c.create("a: before")
	other, _ := storageTalkOf(t, home.command("serve", "--data-dir", dir))
	other.create("b: another window's")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.create("c: after")
	other.create("d: after")
	if len(*said) != 1 || !strings.HasPrefix((*said)[0], "storage/recovered") || !strings.Contains((*said)[0], "was deleted or moved away") {
		t.Errorf("of the store was said %q", *said)
	}
	c.kill()
	other.kill()
	next, _ := storageTalk(t, dir)
	next.wantTasks("a: before", "b: another window's", "c: after", "d: after")
}
