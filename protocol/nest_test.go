package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
)

// Each level of a union is decoded anew, so a block that could hold itself would cost the square of its
// depth: 8 seconds for 200 kB.
func TestAToolsResultHoldsNoOther(t *testing.T) {
	const depth = 4000
	nested := strings.Repeat(`{"type":"tool_result","toolUseId":"x","content":[`, depth) + strings.Repeat(`]}`, depth)
	if block, err := protocol.UnmarshalContentBlock([]byte(nested)); err == nil || !strings.Contains(err.Error(), `no variant "tool_result"`) {
		t.Errorf("UnmarshalContentBlock = %T, %v", block, err)
	}
	plain := `{"type":"tool_result","toolUseId":"x","content":[{"type":"text","text":"18"}],"isError":true}`
	block, err := protocol.UnmarshalContentBlock([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(block); err != nil || string(again) != plain {
		t.Errorf("it became %s, %v", again, err)
	}
}
