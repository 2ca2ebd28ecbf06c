package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"assent/protocol"
)

func BenchmarkEncode(b *testing.B) {
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := json.NewEncoder(&out).Encode(asked); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode decodes a question as a store saves it.
func BenchmarkDecode(b *testing.B) {
	kept, err := json.Marshal(asked.Event.(protocol.MessageAdded).Message)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var m protocol.Message
		if err := json.Unmarshal(kept, &m); err != nil {
			b.Fatal(err)
		}
	}
}

// answers is a sidecar that only takes answers.
type answers struct{ protocol.Sidecar }

func (answers) AskResponse(context.Context, *protocol.AskResponseParams) (*protocol.AskResponseResult, error) {
	return nil, nil
}

// BenchmarkDecodeAnswer reads what a front end sends when a person answers.
func BenchmarkDecodeAnswer(b *testing.B) {
	sent := []byte(`{"taskId":"0c1f7e6a-task","askId":"0c1f7e6a-ask","askResponse":"yesButtonClicked","elicitationContent":{"tables":"some","reason":"to see"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.DispatchSidecar(b.Context(), answers{}, "askResponse", sent); err != nil {
			b.Fatal(err)
		}
	}
}
