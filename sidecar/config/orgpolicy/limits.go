package orgpolicy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Member is a member of Assent's own file that allows or forbids something by true or false.
type Member string

// The members.
const (
	Gateway       Member = "gateway.allowed"       // hosts use servers through Assent
	GatewayHTTP   Member = "gateway.http"          // hosts do so over HTTP
	Setup         Member = "setup.allowed"         // assent setup changes the files of hosts
	SetupShare    Member = "setup.share"           // it gives servers to hosts that do not have them
	Browser       Member = "browser.allowed"       // the panel is shown in a browser
	Grants        Member = "approvals.grants"      // grants approve requests
	AnswerRules   Member = "approvals.answerRules" // settings answer forms, and remembered answers approve calls
	AutoApproval  Member = "approvals.toolsAutoApprove"
	Recording     Member = "recording.allowed" // questions, answers and frames are recorded in files
	reviewMember         = "approvals.samplingReview"
	grantsMember         = "approvals.grantMaxDays"
	modelsMember         = "models.endpoints"
	journalMember        = "journal.minDays"
)

// Own is what Assent's own file says beside its servers. The zero value limits nothing. A file that cannot be used forbids all.
type Own struct {
	file, message, broken string
	forbidden             []Member
	// Review is the laxest review of models' answers: always, firstFromServer, or never. Empty is no limit.
	Review string
	// AnswerIn are the places where hosts may have questions answered. Nil is no limit.
	AnswerIn []string
	// GrantMax is the longest life of a grant; 0 is no limit.
	GrantMax time.Duration
	// JournalDays is for how many days the journal is kept at least; 0 is no limit, and less is for ever.
	JournalDays int
	// endpoints are patterns of the URLs of models; nil is no limit.
	endpoints []string
}

// Forbids returns why the file does not allow a thing, or nil.
func (o *Own) Forbids(m Member) *Blocked {
	if o.broken != "" || slices.Contains(o.forbidden, m) {
		return o.Capped(string(m))
	}
	return nil
}

// Capped names the file and a member of it as the reason why something has no effect.
func (o *Own) Capped(member string) *Blocked {
	b := &Blocked{File: o.file, Entry: member, Message: o.message}
	if o.broken != "" {
		b.Entry = "which cannot be used: " + o.broken
	}
	return b
}

// LongGrant returns why a grant that was made at a time approves nothing at another, or nil.
func (o *Own) LongGrant(made, now time.Time) *Blocked {
	if blocked := o.Forbids(Grants); blocked != nil {
		return blocked
	}
	if o.GrantMax > 0 && now.Sub(made) > o.GrantMax {
		return o.Capped(grantsMember)
	}
	return nil
}

// ReviewReason returns why a setting for the review of models' answers is capped.
func (o *Own) ReviewReason() *Blocked { return o.Capped(reviewMember) }

// Endpoint returns why models at a URL may not be used, or nil.
func (o *Own) Endpoint(url string) *Blocked {
	may := o.broken == "" && (o.endpoints == nil || slices.ContainsFunc(o.endpoints, func(pattern string) bool { return allowURL(pattern, url, false) }))
	if may {
		return nil
	}
	return o.Capped(modelsMember)
}

// Own returns what Assent's own file says beside its servers.
func (p Policies) Own() *Own {
	for _, r := range p.files {
		if r.kind != Assent {
			continue
		}
		o := r.own
		o.file, o.message, o.broken = r.path, r.message, r.broken
		if o.broken != "" {
			o.Review, o.AnswerIn, o.JournalDays = "always", []string{"assent"}, -1
		}
		return &o
	}
	return &Own{}
}

// section reads a member of Assent's own file, an object with exactly these members.
func section(name string, raw json.RawMessage, members map[string]any) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return fmt.Errorf("%q is no object", name)
	}
	for member, value := range object {
		into, ok := members[member]
		if !ok {
			return fmt.Errorf("%q is not known: this Assent is too old for the policy", name+"."+member)
		}
		if string(value) == "null" || json.Unmarshal(value, into) != nil {
			return fmt.Errorf("%q cannot be %s", name+"."+member, value)
		}
	}
	return nil
}

// one returns an error for a text that is none of the words.
func one(member, text string, words ...string) error {
	if slices.Contains(words, text) {
		return nil
	}
	return fmt.Errorf("%q is %q, and not one of %s", member, text, strings.Join(words, ", "))
}

// read reads the members beside the servers.
func (o *Own) read(members map[string]json.RawMessage) error {
	allowed := map[Member]*bool{}
	flag := func(m Member) *bool {
		yes := true
		allowed[m] = &yes
		return &yes
	}
	autoApprove, grantDays := "readOnly", 0
	o.Review = ""
	for name, of := range map[string]map[string]any{
		"gateway": {"allowed": flag(Gateway), "http": flag(GatewayHTTP), "answerIn": &o.AnswerIn},
		"setup":   {"allowed": flag(Setup), "share": flag(SetupShare)},
		"browser": {"allowed": flag(Browser)},
		"approvals": {
			"grants": flag(Grants), "grantMaxDays": &grantDays, "answerRules": flag(AnswerRules),
			"toolsAutoApprove": &autoApprove, "samplingReview": &o.Review,
		},
		"models":    {"endpoints": &o.endpoints},
		"journal":   {"minDays": &o.JournalDays},
		"recording": {"allowed": flag(Recording)},
	} {
		raw, ok := members[name]
		if !ok {
			continue
		}
		if err := section(name, raw, of); err != nil {
			return err
		}
	}
	for m, yes := range allowed {
		if !*yes {
			o.forbidden = append(o.forbidden, m)
		}
	}
	if err := one(string(AutoApproval), autoApprove, "never", "readOnly"); err != nil {
		return err
	}
	if autoApprove == "never" {
		o.forbidden = append(o.forbidden, AutoApproval)
	}
	if o.Review != "" {
		if err := one(reviewMember, o.Review, "always", "firstFromServer", "never"); err != nil {
			return err
		}
	}
	if o.AnswerIn != nil && len(o.AnswerIn) == 0 {
		return fmt.Errorf(`"gateway.answerIn" names no place`)
	}
	for _, place := range o.AnswerIn {
		if err := one("gateway.answerIn", place, "assent", "host", "first"); err != nil {
			return err
		}
	}
	const most = 100_000 // days
	if grantDays < 0 || grantDays > most || o.JournalDays < 0 || o.JournalDays > most {
		return fmt.Errorf("%q and %q are numbers of days, from 1 to %d", grantsMember, journalMember, most)
	}
	o.GrantMax = time.Duration(grantDays) * 24 * time.Hour
	return nil
}
