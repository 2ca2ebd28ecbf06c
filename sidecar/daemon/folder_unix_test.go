//go:build unix

package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestAClientOfAnotherPersonIsRefused(t *testing.T) {
	o := testOptions(t)
	listener, err := listen(o.Address)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(ServeOptions{Options: o, Attach: echo})
	checked := make(chan error, 1)
	s.admit = func(conn net.Conn) error {
		if err := checkPeer(conn, os.Geteuid()); err != nil {
			t.Errorf("this person: %v", err)
		}
		err := checkPeer(conn, os.Geteuid()+1)
		checked <- err
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.serve(ctx, listener, nil); err != nil {
			t.Error(err)
		}
	})
	defer serving.Wait()
	defer cancel()
	if _, err := StatusOf(ctx, o); !errors.Is(err, ErrNone) {
		t.Errorf("the client was told %v", err)
	}
	wantError(t, <-checked, "at the other end is of user")
}

func TestTheFolderIsForThePersonAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	if err := keepPrivate(folder); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info, err)
	}
	if err := os.Chmod(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	wantError(t, keepPrivate(folder), "chmod 700")
	foreign := "/"
	if os.Geteuid() == 0 {
		foreign = t.TempDir()
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, keepPrivate(foreign), "another user", FolderVariable)
}

func TestALinkToTheFolderIsThePersons(t *testing.T) {
	folder, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if err := keepPrivate(link); err != nil {
		t.Errorf("this person's link: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can change the owner of a file
	}
	if err := os.Lchown(link, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	wantError(t, keepPrivate(link), "another user", FolderVariable)
}

func TestAPathThatIsTooLongForASocket(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a-path-of-more-than-a-hundred-bytes-which-no-system-takes-for-the-name-of-a-socket-in-its-file-system", "daemon")
	o, err := optionsIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(o.Address.SocketFolder) })
	mustServe(t, ServeOptions{Options: o, IdleTime: time.Hour})
	conn, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wantEcho(t, conn)
	if info, err := os.Stat(o.Address.SocketFolder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder is %v, %v", info, err)
	}
}

func TestASocketThatWasLeftBehind(t *testing.T) {
	o := testOptions(t)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: o.Address.Socket}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Close(fd); err != nil {
		t.Fatal(err)
	}
	mustServe(t, ServeOptions{Options: o})
	conn, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wantEcho(t, conn)
	if info, err := os.Stat(o.Address.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
}

// A daemon that starts has the instance lock before it signs, so that the last signature is another's.
func TestKillOfADaemonThatStarts(t *testing.T) {
	o := startable(t, time.Hour)
	o.timeouts.moment = 50 * time.Millisecond
	conn, w, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	signed := o.Address.Holder + ".signed"
	if err := os.Rename(o.Address.Holder, signed); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(o.Address.Holder, 0o600); err != nil {
		t.Fatal(err)
	}
	type result struct {
		pid int
		err error
	}
	killed := make(chan result, 1)
	go func() {
		pid, err := Kill(t.Context(), o)
		killed <- result{pid, err}
	}()
	earlier, err := os.OpenFile(o.Address.Holder, os.O_WRONLY, 0) // opens once Kill reads
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(signed, o.Address.Holder), earlier.Close()); err != nil {
		t.Fatal(err)
	}
	if got := <-killed; got.err != nil || got.pid != w.PID {
		t.Errorf("Kill() = %d, %v, want %d", got.pid, got.err, w.PID)
	}
}
