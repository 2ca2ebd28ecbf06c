//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

func TestAStoppedProcessHangs(t *testing.T) {
	o := startable(t, time.Hour)
	conn, w, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.timeouts.silence, o.timeouts.hello = time.Millisecond, 10*time.Millisecond
	told := make(chan error, 100) // on a busy machine it may hang again
	conn = Watch(conn, o, func(err error) { told <- err })
	defer conn.Close()
	if err := syscall.Kill(w.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	err = <-told
	wantError(t, err, fmt.Sprintf("process %d, Assent 1.0.0", w.PID), "assent daemon stop --force")
	if !errors.Is(err, ErrHangs) {
		t.Errorf("told %v, want %v", err, ErrHangs)
	}
	if err := syscall.Kill(w.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 6)); n != 6 || err != nil {
		t.Errorf("%d bytes came back, %v", n, err)
	}
	if err := <-told; err != nil {
		t.Errorf("told %v after it went on", err)
	}
}
