package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// connected returns the two ends of a system connection.
func connected(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	o := testOptions(t)
	listener, err := listen(o.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if ours, err = connect(t.Context(), o.Address); err != nil {
		t.Fatal(err)
	}
	if theirs, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

func TestTheRelayDrainsAfterTheEndOfStdin(t *testing.T) {
	ours, theirs := connected(t)
	sent := strings.Repeat("0123456789", 100_000)
	served := make(chan error, 1)
	go func() {
		all, err := io.ReadAll(theirs) // until the relay closes its direction
		if err == nil {
			_, err = theirs.Write(append(all, "the rest"...))
		}
		served <- errors.Join(err, theirs.Close())
	}()
	var out bytes.Buffer
	if err := Relay(t.Context(), ours, strings.NewReader(sent), &out); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if out.String() != sent+"the rest" {
		t.Errorf("%d bytes came back, want %d", out.Len(), len(sent)+8)
	}
}

func TestTheRelayTellsThatTheDaemonEnded(t *testing.T) {
	ours, theirs := connected(t)
	stdin, hold := io.Pipe()
	defer hold.Close()
	if _, err := theirs.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Relay(t.Context(), ours, stdin, &out); !errors.Is(err, ErrEnded) {
		t.Errorf("Relay() = %v, want %v", err, ErrEnded)
	}
	if out.String() != "last words" {
		t.Errorf("the front end got %q", &out)
	}
}

func TestTheRelayEndsWithItsContext(t *testing.T) {
	ours, _ := connected(t)
	stdin, hold := io.Pipe()
	defer hold.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Relay(ctx, ours, stdin, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Relay() = %v", err)
	}
}

func TestTheRelayTellsThatTheFrontEndIsGone(t *testing.T) {
	ours, theirs := connected(t)
	stdin, hold := io.Pipe()
	defer hold.Close()
	if _, err := theirs.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	err := Relay(t.Context(), ours, stdin, writerFunc(func([]byte) (int, error) { return 0, gone }))
	if !errors.Is(err, gone) || errors.Is(err, ErrEnded) {
		t.Errorf("Relay() = %v", err)
	}
}

func TestTheLogIsRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	contents := func() (present, older string) {
		t.Helper()
		a, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path + olderSuffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(a), string(b)
	}
	say := func(l *LogFile, line string) {
		t.Helper()
		if _, err := l.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	first := NewLog(path)
	say(first, "1\n")
	second := NewLog(path)
	if present, _ := contents(); present != "1\n" {
		t.Errorf("before the second has said anything, the log is %q", present)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second.limit = 10
	say(second, "2345678\n")
	if present, older := contents(); present != "2345678\n" || older != "1\n" {
		t.Errorf("at the start: %q, %q", present, older)
	}
	say(second, "9\n")
	say(second, "greater than the limit\n")
	if present, older := contents(); present != "greater than the limit\n" || older != "2345678\n9\n" {
		t.Errorf("at the limit: %q, %q", present, older)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFollowingTheLog(t *testing.T) {
	o := testOptions(t)
	a := o.Address
	older := NewLog(a.Log)
	say := func(l *LogFile, line string) {
		t.Helper()
		if _, err := l.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	say(older, "the first daemon")
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	log := NewLog(a.Log)
	log.limit = 60
	say(log, "the second daemon")

	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	var following sync.WaitGroup
	following.Go(func() {
		if err := PrintLog(ctx, a, write, true); err != nil {
			t.Error(err)
		}
		_ = write.Close()
	})
	lines := bufio.NewScanner(read)
	want := func(line string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != line {
			t.Fatalf("followed %q, %v, want %q", lines.Text(), lines.Err(), line)
		}
	}
	want("the first daemon")
	want("the second daemon")
	for i := range 10 { // The log is rotated during this.
		line := fmt.Sprintf("%d: as long as a line may be", i)
		say(log, line)
		want(line)
	}
	cancel()
	following.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	if err := PrintLog(t.Context(), a, &all, false); err != nil || !strings.HasSuffix(all.String(), "9: as long as a line may be\n") {
		t.Errorf("the log is %q, %v", &all, err)
	}
}
