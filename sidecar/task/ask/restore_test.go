package ask_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/ask"
)

// TestAnAnswerByHandIsRestored is about a completion that a person wrote: a server that asks again after a restart gets it.
func TestAnAnswerByHandIsRestored(t *testing.T) {
	byHand := protocol.McpSamplingResponse{Model: "a person", ByPerson: true}
	tests := map[string]struct {
		result protocol.SamplingResult
		want   *protocol.McpSamplingResponse
	}{
		"by hand":    {byHand, &byHand},
		"by a model": {protocol.McpSamplingResponse{Model: "a model"}, nil},
		"none yet":   {nil, nil},
	}
	for name, test := range tests {
		answer := ask.AnswerOf(protocol.Ask{
			Question: protocol.McpSampling{Result: test.result},
			Outcome:  &protocol.Outcome{Reason: protocol.OutcomeAnswered},
		})
		if diff := cmp.Diff(test.want, answer.SentResponse); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
