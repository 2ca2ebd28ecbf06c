//go:build !race

package workspace_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/wire/wiretest"
)

// stacksInUse returns the bytes of all stacks after two runs of the collector, each of which halves those that are too large.
func stacksInUse() uint64 {
	runtime.GC()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// An open ask is a goroutine that waits, and a stack has a power of two: a few greater frames above the wait, or one deep call
// on that goroutine, double what most of an ask's memory is. Nothing else would show it. The race detector's frames are
// greater, and so are the smallest stacks of Windows.
func TestTheStackOfAnOpenAskIsSmall(t *testing.T) {
	const asks, most = 1000, 5 << 10
	var questions strings.Builder
	for i := range asks {
		fmt.Fprintf(&questions, `{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`+"\n", i)
	}
	wiretest.Write(t, demoAsks+questions.String())
	f := newFrontEnd(t)
	f.send(strings.Replace(initialize, `"model":{}`, fmt.Sprintf(`"model":{},"elicitation":{"maxOpen":%d}`, asks), 1))
	f.want([]string{initialized})
	var task protocol.Task
	f.result(1, "task/create", `{"title":"t"}`, &task)
	before := stacksInUse()
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"call/start","params":{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}}`, task.ID))
	last := fmt.Sprintf(`"openAsks":%d`, asks)
	for !strings.Contains(f.next(), last) {
		continue
	}
	if each := (stacksInUse() - before) / asks; each > most {
		t.Errorf("the stacks have %d bytes for each open ask, want %d at most", each, most)
	}
	f.close()
}
