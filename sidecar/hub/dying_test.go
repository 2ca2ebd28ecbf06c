package hub_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
)

// dyingEnv makes this test binary a server on stdio that stops reading with its first call, answers that, and ends a
// moment later.
const dyingEnv = "ASSENT_TEST_DYING"

func dieSlowly() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var f frame
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			os.Exit(1)
		}
		if f.Method != "tools/call" {
			(&legacyElicitor{}).take(f, func(line string) { fmt.Println(line) })
			continue
		}
		_ = os.Stdin.Close()
		fmt.Println(response(f.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, os.Getpid())))
		time.Sleep(300 * time.Millisecond) // as a process that writes a core file
		return
	}
}

// A call that meets a server on its way out never reached it, so it runs in the next process.
func TestACallToADyingServerRunsInTheNextOne(t *testing.T) {
	f := newFixtureWith(t, config.Server{
		Name: "s", Source: "test", Transport: protocol.TransportStdio, Command: os.Args[0],
		Env: map[string]*string{dyingEnv: new("1")}, Usage: config.Usage{ProtocolVersion: "2025-11-25"},
	})
	pids := map[string]bool{}
	for range 3 {
		ended := <-f.call(t.Context(), "t1", "s", "tool")
		result, ok := ended.(protocol.ToolResult)
		if !ok || len(result.Content) != 1 {
			t.Fatalf("the call ended with %+v", ended)
		}
		pids[result.Content[0].(protocol.TextContent).Text] = true
	}
	if len(pids) != 3 {
		t.Errorf("the calls ran in %d processes", len(pids))
	}
}
