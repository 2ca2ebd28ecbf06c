package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/wire/wiretest"
)

// logLines are a log that is kept.
type logLines struct {
	mu  sync.Mutex // guards all
	all bytes.Buffer
}

// Write implements [io.Writer].
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(line)
}

// messages returns how many messages of servers the log has, and how many it says that it left out.
func (l *logLines) messages(t *testing.T) (written, leftOut int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for raw := range strings.Lines(l.all.String()) {
		var line struct {
			Message                string
			DroppedBefore, Dropped int
		}
		if err := json.Unmarshal([]byte(raw), &line); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if line.Message == "server log" {
			written++
		}
		leftOut += line.DroppedBefore + line.Dropped
	}
	return written, leftOut
}

// However many notifications a server sends, none waits in a queue: all are handled before the answer that follows
// them is read. The log takes a sample of them, and says how many it left out.
func TestNotificationsAreHandledBeforeTheAnswerThatFollowsThem(t *testing.T) {
	const many = 2000
	var flood strings.Builder
	for i := range many {
		fmt.Fprintf(&flood, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", i)
		flood.WriteString(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
		flood.WriteString(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}` + "\n")
		flood.WriteString(`{"jsonrpc":"2.0","method":"notifications/unknown"}` + "\n")
	}
	transcript := handshake("s") + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
` + flood.String() + `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`
	for _, way := range legacyWays {
		t.Run(string(way), func(t *testing.T) {
			s := server("s")
			if way == protocol.TransportStdio {
				wiretest.Write(t, transcript)
			} else {
				s = config.Server{Name: "s", Source: "test", Transport: way, URL: wiretest.Serve(t, string(way), transcript, "s")}
			}
			log, began := &logLines{}, time.Now()
			f := newFixtureOf(t, func(o *hub.Options) { o.Log = zerolog.New(log) }, s)
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
				t.Fatalf("result (-want +got):\n%s", diff)
			}
			got := inspected(t, f.Hub)
			if last := got.Log[len(got.Log)-1].Text; last != fmt.Sprint(many-1) || got.LogDropped+int64(len(got.Log)) < many {
				t.Errorf("when the answer was read, %d lines were handled, the last one %q", got.LogDropped+int64(len(got.Log)), last)
			}
			f.Close()
			written, leftOut := log.messages(t)
			most := 500 + int(50*time.Since(began).Seconds()) + 1 // at once, and then each second
			if written > most || written+leftOut < many {
				t.Errorf("the log has %d messages, at most %d are expected, and says that it left out %d, of %d", written, most, leftOut, many)
			}
		})
	}
}
