package orgpolicy_test

import (
	"strings"
	"testing"
	"time"

	"assent/sidecar/config/orgpolicy"
)

func own(text string) *orgpolicy.Own {
	file := orgpolicy.File{Path: "/etc/assent/policy.json", Kind: orgpolicy.Assent, Data: []byte(text)}
	return orgpolicy.New([]orgpolicy.File{file}, home).Own()
}

var members = []orgpolicy.Member{
	orgpolicy.Gateway, orgpolicy.GatewayHTTP, orgpolicy.Setup, orgpolicy.SetupShare, orgpolicy.Browser, orgpolicy.Grants,
	orgpolicy.AnswerRules, orgpolicy.AutoApproval, orgpolicy.Recording,
}

func TestAMemberForbidsOneThing(t *testing.T) {
	for _, m := range members {
		section, name, _ := strings.Cut(string(m), ".")
		value := "false"
		if m == orgpolicy.AutoApproval {
			value = `"never"`
		}
		o := own(`{"message": "Ask Ann", "` + section + `": {"` + name + `": ` + value + `}}`)
		for _, other := range members {
			blocked := o.Forbids(other)
			if (blocked != nil) != (other == m) || blocked != nil && !strings.Contains(blocked.Error(), "/etc/assent/policy.json, "+string(m)+". Ask Ann") {
				t.Errorf("%s is false: %s gets %v", m, other, blocked)
			}
		}
	}
}

// TestNoFileForbidsNothing, and one that allows everything is like none.
func TestNoFileForbidsNothing(t *testing.T) {
	all := `{"gateway": {"allowed": true, "http": true, "answerIn": ["assent", "host", "first"]}, "setup": {"allowed": true, "share": true},
		"browser": {"allowed": true}, "approvals": {"grants": true, "answerRules": true, "toolsAutoApprove": "readOnly", "samplingReview": "never"},
		"models": {"endpoints": ["*://*:*/*"]}, "recording": {"allowed": true}}`
	for name, o := range map[string]*orgpolicy.Own{"none": orgpolicy.New(nil, home).Own(), "all": own(all), "empty": own(`{}`)} {
		for _, m := range members {
			if blocked := o.Forbids(m); blocked != nil {
				t.Errorf("%s: %v", name, blocked)
			}
		}
		if blocked := o.Endpoint("http://localhost:11434/v1"); blocked != nil {
			t.Errorf("%s: %v", name, blocked)
		}
		if blocked := o.LongGrant(time.Time{}, time.Now()); blocked != nil {
			t.Errorf("%s: %v", name, blocked)
		}
	}
}

func TestValuesCap(t *testing.T) {
	o := own(`{"approvals": {"grantMaxDays": 7, "samplingReview": "firstFromServer"}, "models": {"endpoints": ["https://llm.corp.example/*"]},
		"journal": {"minDays": 365}, "gateway": {"answerIn": ["assent"]}}`)
	made := time.UnixMilli(1_785_240_000_000)
	if o.LongGrant(made, made.Add(7*24*time.Hour)) != nil || o.LongGrant(made, made.Add(7*24*time.Hour+1)) == nil {
		t.Error("a grant does not last for exactly 7 days")
	}
	for url, may := range map[string]bool{"https://llm.corp.example/v1": true, "https://llm.corp.example.evil.example/v1": false, "http://llm.corp.example/v1": false, "": false} {
		if (o.Endpoint(url) == nil) != may {
			t.Errorf("%q may be used: %v", url, !may)
		}
	}
	if o.Review != "firstFromServer" || o.JournalDays != 365 || len(o.AnswerIn) != 1 {
		t.Errorf("the file says %+v", o)
	}
}

// TestAFileThatCannotBeReadForbidsAll has wrong values of members.
func TestAFileThatCannotBeReadForbidsAll(t *testing.T) {
	for _, text := range []string{
		`{`, `{"gateway": null}`, `{"gateway": []}`, `{"gateway": {"allowed": "no"}}`, `{"gateway": {"allowed": null}}`, `{"gateway": {"Allowed": true}}`,
		`{"gateway": {"answerIn": []}}`, `{"gateway": {"answerIn": ["elsewhere"]}}`, `{"approvals": {"grants": true, "later": true}}`,
		`{"approvals": {"grantMaxDays": -1}}`, `{"approvals": {"grantMaxDays": 1.5}}`, `{"approvals": {"toolsAutoApprove": "always"}}`,
		`{"approvals": {"samplingReview": "sometimes"}}`, `{"models": {"endpoints": "https://a.example"}}`, `{"journal": {"minDays": 999999999999}}`,
	} {
		o := own(text)
		for _, m := range members {
			if blocked := o.Forbids(m); blocked == nil || !strings.Contains(blocked.Error(), "which cannot be used") {
				t.Errorf("%s: %s gets %v", text, m, blocked)
			}
		}
		if o.Endpoint("https://a.example") == nil || o.LongGrant(time.Now(), time.Now()) == nil || o.Review != "always" || o.JournalDays != -1 {
			t.Errorf("%s: it says %+v", text, o)
		}
	}
}
