package policy_test

import (
	"encoding/json"
	"testing"

	"assent/protocol"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
)

// TestWhatAnOrganisationTakesHasNoEffectAndIsListed has settings that answer for the person, with and without the organisation.
func TestWhatAnOrganisationTakesHasNoEffectAndIsListed(t *testing.T) {
	const why = "Blocked by your organisation: a file."
	settings := policy.Settings{
		Sampling: protocol.SamplingSettings{Review: protocol.ReviewNever},
		Elicitation: protocol.ElicitationSettings{Answers: []protocol.FixedAnswer{
			{ServerName: "demo", ToolName: "ask", Content: json.RawMessage(`{"sure":true}`)},
		}},
		Tools: protocol.ToolSettings{AutoApprove: protocol.AutoApproveReadOnly},
	}
	reading := &protocol.Tool{Annotations: &protocol.ToolAnnotations{ReadOnlyHint: new(true)}}
	requests := map[string]policy.Request{
		"a form": {Body: protocol.McpElicitation{ElicitationRequest: protocol.McpElicitationRequest{
			Fields: []protocol.Field{protocol.BooleanField{FieldHead: protocol.FieldHead{Name: "sure"}}},
		}}},
		"a read-only tool": {Body: protocol.UseMcpTool{}, Use: grant.ToolUse{ServerName: "demo", Tool: reading}},
		"a review":         {Body: protocol.McpSamplingReview{}},
	}
	for _, tt := range []struct {
		name    string
		caps    policy.Caps
		verdict policy.Verdict
		asleep  string
	}{
		{"no organisation", policy.Caps{}, policy.Approve, ""},
		{"a lax one", policy.Caps{Review: protocol.ReviewNever, ReviewReason: why}, policy.Approve, ""},
		{"a strict one", policy.Caps{Answers: why, AutoApprove: why, Review: protocol.ReviewAlways, ReviewReason: why}, policy.Ask, why},
	} {
		p := policy.New(policy.Options{Settings: func() policy.Settings { return settings }, Caps: func() policy.Caps { return tt.caps }})
		for name, r := range requests {
			r.Stage, r.Origin = policy.Ready, protocol.Origin{ServerName: "demo", ToolNames: []string{"ask"}}
			if d := p.Decide(t.Context(), &r); d.Verdict != tt.verdict {
				t.Errorf("%s: %s: got %v, want %v", tt.name, name, d.Verdict, tt.verdict)
			}
			r.Done()
		}
		entries, err := p.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		approving := 0
		for _, e := range entries {
			if head := e.Head(); head.Effect == protocol.EffectApprove {
				approving++
				if head.Asleep != tt.asleep {
					t.Errorf("%s: %s sleeps because of %q, want %q", tt.name, head.Setting, head.Asleep, tt.asleep)
				}
			}
		}
		if approving != 3 {
			t.Errorf("%s: %d entries approve, want 3", tt.name, approving)
		}
	}
}
