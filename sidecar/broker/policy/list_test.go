package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
)

var clock = time.UnixMilli(1_785_240_000_000)

// newPolicy returns a policy without grants and rules, and the number of times that it reported a change.
func newPolicy(settings policy.Settings) (p *policy.Policy, changed *int) {
	changed = new(int)
	return policy.New(policy.Options{
		Settings: func() policy.Settings { return settings },
		FrontEnd: func() protocol.FrontEndCapabilities {
			return protocol.FrontEndCapabilities{Elicitation: true, Sampling: true}
		},
		Changed: func() { *changed++ },
		Now:     func() time.Time { return clock },
	}), changed
}

// used lists the policy, and returns the uses of each entry, by the entry's setting, or by its limit or server.
func used(t *testing.T, p *policy.Policy) map[string]int64 {
	t.Helper()
	entries, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, e := range entries {
		head := e.Head()
		name := head.Setting
		switch e := e.(type) {
		case protocol.PolicyLimit:
			name = string(e.Limit)
		case protocol.PolicyDeclinedServer:
			name = "declined " + head.ServerName
		}
		switch {
		case head.Used == nil:
		case head.Used.LastAt != clock.UnixMilli() || head.Used.LastServer != "demo":
			t.Errorf("%s was used as %+v", name, head.Used)
		default:
			counts[name] = head.Used.Count
		}
	}
	return counts
}

func TestEachEntryCountsWhatItDecided(t *testing.T) {
	p, _ := newPolicy(policy.Settings{
		Sampling:    protocol.SamplingSettings{Review: protocol.ReviewNever, Limits: &protocol.SamplingLimits{RequestsPerMinute: new(int64(1))}},
		Elicitation: protocol.ElicitationSettings{MaxOpen: new(int64(0))},
		Tools:       protocol.ToolSettings{AutoApprove: protocol.AutoApproveReadOnly},
	})
	if counts := used(t, p); len(counts) != 0 {
		t.Errorf("before any request the policy was used: %v", counts)
	}
	decide := func(r policy.Request) {
		r.Origin.ServerName = "demo"
		defer r.Done()
		p.Decide(t.Context(), &r)
	}
	for range 3 {
		decide(policy.Request{Method: policy.SamplingCreate})
	}
	decide(policy.Request{Stage: policy.Ready, Body: protocol.McpElicitation{}})
	decide(policy.Request{Stage: policy.Ready, Body: protocol.McpSamplingReview{}})
	reading := &protocol.Tool{Annotations: &protocol.ToolAnnotations{ReadOnlyHint: new(true)}}
	decide(policy.Request{Stage: policy.Ready, Body: protocol.UseMcpTool{}, Use: grant.ToolUse{ServerName: "demo", Tool: reading}})
	decide(policy.Request{Stage: policy.Ready, Body: protocol.UseMcpTool{}, Use: grant.ToolUse{ServerName: "demo", Tool: &protocol.Tool{}}})
	p.DeclineAll("demo", "a test")
	for range 2 {
		decide(policy.Request{Stage: policy.Ready, Body: protocol.McpURLElicitation{}})
	}
	want := map[string]int64{
		"requestsPerMinute": 2, "maxOpen": 1, "declined demo": 2,
		"assent.sampling.review": 1, "assent.tools.autoApprove": 1,
	}
	if diff := cmp.Diff(want, used(t, p)); diff != "" {
		t.Errorf("the uses (-want +got):\n%s", diff)
	}
	p.AskAgain("demo")
	p.DeclineAll("demo", "a test")
	if n, ok := used(t, p)["declined demo"]; ok {
		t.Errorf("a server from which everything is declined once more was declined %d times", n)
	}
}

func TestAChangeIsReportedOnceAfterEachList(t *testing.T) {
	p, changed := newPolicy(policy.Settings{})
	want := func(n int, after string) {
		t.Helper()
		if *changed != n {
			t.Errorf("after %s, %d changes were reported, want %d", after, *changed, n)
		}
	}
	p.DeclineAll("demo", "a test")
	want(0, "a change before the first list")
	used(t, p)
	p.AskAgain("demo")
	p.DeclineAll("demo", "a test")
	p.Changed()
	want(1, "three changes")
	used(t, p)
	want(1, "another list")
	p.Changed()
	want(2, "a change after that")
}
