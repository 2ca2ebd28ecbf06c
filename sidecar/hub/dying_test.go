package hub_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
)

// dyingEnv makes this test binary a server on stdio that stops reading with its first call, answers that, and ends a
// moment later.
const dyingEnv = "ASSENT_TEST_DYING"

// listingEnv makes this test binary a server on stdio that lists a tool. The first process of it, which makes the folder
// that the variable names, says that it was asked for its list, and does not answer.
const listingEnv = "ASSENT_TEST_LISTING"

func listSecondTime() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var f frame
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			os.Exit(1)
		}
		switch {
		case f.Method == "tools/call":
			fmt.Println(response(f.ID, `{"content":[{"type":"text","text":"done"}]}`))
		case f.Method != "tools/list":
			(&legacyElicitor{}).take(f, func(line string) { fmt.Println(line) })
		case os.Mkdir(os.Getenv(listingEnv), 0o700) == nil:
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		default:
			fmt.Println(response(f.ID, `{"tools":[{"name":"tool","inputSchema":{"type":"object"}}]}`))
		}
	}
}

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

// A list is read on the connection of any task. If that task is closed, the list is read on another one.
func TestAListOutlivesTheTaskWhoseConnectionItUses(t *testing.T) {
	f := newFixtureWith(t, config.Server{
		Name: "s", Source: "test", Transport: protocol.TransportStdio, Command: os.Args[0],
		Env:   map[string]*string{listingEnv: new(filepath.Join(t.TempDir(), "asked"))},
		Usage: config.Usage{ProtocolVersion: "2025-11-25"},
	})
	if got, ok := (<-f.call(t.Context(), "t1", "s", "tool")).(protocol.ToolResult); !ok {
		t.Fatalf("result = %+v", got)
	}
	listed := make(chan error, 1)
	go func() {
		tools, err := f.Tools(t.Context(), "s")
		if err == nil && len(tools) != 1 {
			err = fmt.Errorf("%d tools", len(tools))
		}
		listed <- err
	}()
	f.awaitChange(t, protocol.ListTools)
	f.CloseTask("t1")
	if err := <-listed; err != nil {
		t.Error(err)
	}
}
