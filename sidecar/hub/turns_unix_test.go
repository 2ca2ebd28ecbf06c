//go:build unix

// The servers wait at named pipes.

package hub_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
)

// fifo returns a named pipe, open at both ends.
func fifo(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestOfManyServersAFewStartAtOnce(t *testing.T) {
	const servers, atOnce, longestTurn = 40, 16, 3 * time.Second
	started, gate := fifo(t), fifo(t)
	program := script(t, fmt.Sprintf("echo started >'%s'\nread go <'%s'\nexit 7\n", started.Name(), gate.Name()))
	program.ProtocolVersion = config.LegacyProtocol // or it is started twice, as one that leaves when it is probed
	var configured []config.Server
	for i := range servers {
		program.Name = strconv.Itoa(i)
		configured = append(configured, program)
	}
	f := newFixtureWith(t, configured...)
	began := time.Now()
	var ends sync.WaitGroup
	for _, s := range configured {
		ends.Go(func() { _, _ = f.Tools(t.Context(), s.Name) }) // how it ends is looked at below
	}

	events := bufio.NewScanner(started)
	all := 0
	isStart := func() bool {
		if !events.Scan() {
			t.Fatal(events.Err())
		}
		if events.Text() == "go" {
			return false
		}
		all++
		return true
	}
	for gone := range servers {
		for all < min(atOnce+gone, servers) {
			isStart()
		}
		fmt.Fprintln(started, "go")
		for isStart() { // starts that began before
		}
		// Later on, some have given their turns away.
		if all > atOnce+gone && time.Since(began) < longestTurn {
			t.Fatalf("%d servers were started when %d had gone", all, gone)
		}
		fmt.Fprintln(gate, "go")
	}
	ends.Wait()
	for _, s := range f.Servers() {
		if s.State != protocol.ServerFailed || s.Reason != "It ended at once, with the exit code 7, and wrote nothing to stderr." {
			t.Errorf("the server = %+v", s)
		}
	}
}
