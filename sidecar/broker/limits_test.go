package broker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/task/tasktest"
)

// wantLimit checks that a request was refused for a limit, and returns the delay that the server is
// given.
func wantLimit(t *testing.T, err error, name string, most int64) (retryAfterMs int64) {
	t.Helper()
	wantError(t, err, -32000, "assent.limits."+name)
	var refused *jsonrpc.Error
	errors.As(err, &refused)
	var data struct {
		Limit        string
		Max          int64
		RetryAfterMs int64
	}
	if err := json.Unmarshal(refused.Data, &data); err != nil || data.Limit != name || data.Max != most {
		t.Errorf("data = %s, %v", refused.Data, err)
	}
	return data.RetryAfterMs
}

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &scripted{words: []string{"x"}})
		f.limits = &protocol.SamplingLimits{RequestsPerMinute: new(int64(2))}
		// These are refused without asking the person, but they count.
		bad := func() error {
			_, err := f.CreateMessage(t.Context(), request(f.task, origin, `{}`))
			return err
		}
		wantError(t, bad(), jsonrpc.CodeInvalidParams, "")
		time.Sleep(20 * time.Second)
		wantError(t, bad(), jsonrpc.CodeInvalidParams, "")
		if wait := wantLimit(t, bad(), "requestsPerMinute", 2); wait != 40_000 {
			t.Errorf("the server is to wait %d ms, want 40000", wait)
		}
		other := protocol.Origin{ServerName: "another"}
		_, err := f.CreateMessage(t.Context(), request(f.task, other, `{}`))
		wantError(t, err, jsonrpc.CodeInvalidParams, "")
		time.Sleep(40 * time.Second)
		wantError(t, bad(), jsonrpc.CodeInvalidParams, "")
		wantLimit(t, bad(), "requestsPerMinute", 2)
	})
}

func TestRequestsInFlight(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.limits = &protocol.SamplingLimits{InFlight: new(int64(1))}
	done := f.serve(t.Context(), f.CreateMessage, sample)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	_, err := f.CreateMessage(t.Context(), request(f.task, origin, sample))
	wantLimit(t, err, "inFlight", 1)
	f.answerNext(t, no)
	wantError(t, (<-done).err, -1, "User rejected")
	done = f.serve(t.Context(), f.CreateMessage, sample)
	f.answerNext(t, no, ask.AskID)
	wantError(t, (<-done).err, -1, "User rejected")
}

func TestLimitsOfSize(t *testing.T) {
	round := func(i int) string {
		return fmt.Sprintf(`{"role":"assistant","content":{"type":"tool_use","id":"%d","name":"t","input":{}}},{"role":"user","content":{"type":"tool_result","toolUseId":"%[1]d","content":[]}}`, i)
	}
	message := `{"role":"user","content":{"type":"text","text":"12345"}}`
	picture := `{"role":"user","content":{"type":"image","data":"` + strings.Repeat("AAAA", 100) + `","mimeType":"image/png"}}`
	tests := []struct {
		name     string
		messages []string
		limits   protocol.SamplingLimits
		want     string
		most     int64
	}{
		{"rounds", []string{message, round(1), round(2)}, protocol.SamplingLimits{ToolRounds: new(int64(1))}, "toolRounds", 1},
		{"bytes of texts", []string{message, message}, protocol.SamplingLimits{PromptBytes: new(int64(9))}, "promptBytes", 9},
		{"bytes of pictures", []string{picture}, protocol.SamplingLimits{ImageBytes: new(int64(299))}, "imageBytes", 299},
		{"the default of texts", []string{`{"role":"user","content":{"type":"text","text":"` + strings.Repeat("x", 2<<20+1) + `"}}`}, protocol.SamplingLimits{}, "promptBytes", 2 << 20},
		{"nothing at all", []string{message}, protocol.SamplingLimits{RequestsPerMinute: new(int64(0))}, "requestsPerMinute", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &caller{})
			f.DeclareSampling(t.Context(), "s")
			f.limits = &tt.limits
			params := `{"maxTokens":5,"messages":[` + strings.Join(tt.messages, ",") + `]}`
			_, err := f.CreateMessage(t.Context(), request(f.task, origin, params))
			wantLimit(t, err, tt.want, tt.most)
			if n := f.task.Info().LastNumber; n != 1 {
				t.Error("the person was shown it all the same")
			}
		})
	}
	t.Run("what is just allowed", func(t *testing.T) {
		f := newFixture(t, &scripted{})
		f.limits = &protocol.SamplingLimits{PromptBytes: new(int64(10)), ImageBytes: new(int64(300)), ToolRounds: new(int64(0))}
		done := f.serve(t.Context(), f.CreateMessage, `{"maxTokens":5,"messages":[`+message+`,`+message+`,`+picture+`]}`)
		f.answerNext(t, no)
		wantError(t, (<-done).err, -1, "User rejected")
	})
}
