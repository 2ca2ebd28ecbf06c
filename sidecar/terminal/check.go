package terminal

import (
	"encoding/json"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// fieldProblem returns the problem of a field's value, or "". It makes the same check as the sidecar when the form is
// sent. A nil value means that the field is left out.
func fieldProblem(f protocol.Field, value json.RawMessage) string {
	values := map[string]json.RawMessage{}
	if value != nil {
		values[f.Head().Name] = value
	}
	object, err := objectOf([]protocol.Field{f}, values)
	if err != nil {
		return err.Error()
	}
	_, problems := form.Check([]protocol.Field{f}, object)
	if len(problems) == 0 {
		return ""
	}
	problem := problems[0].Message
	if s, ok := f.(protocol.StringField); ok && value == nil && s.Format == "" && s.Pattern == "" && (s.MinLength == nil || *s.MinLength == 0) {
		problem += ` Type "" for an empty text.`
	}
	return problem
}

// moments are the layouts in which a person may type a date and time without a zone.
var moments = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"}

// zonedMoments are the layouts with a zone, besides RFC 3339.
var zonedMoments = []string{"2006-01-02 15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00"}

// moment converts a date and time that a person typed to RFC 3339. A text without a zone is in the zone of now. It
// returns other texts unchanged, and the check then names the problem.
func moment(text string, now time.Time) string {
	trimmed := strings.TrimSpace(text)
	if strings.EqualFold(trimmed, "now") {
		return now.Truncate(time.Second).Format(time.RFC3339)
	}
	for _, layout := range moments {
		if at, err := time.ParseInLocation(layout, trimmed, now.Location()); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	// A space before the zone is allowed.
	joined := trimmed
	if at := strings.LastIndexByte(trimmed, ' '); at > len("2006-01-02") {
		joined = trimmed[:at] + trimmed[at+1:]
	}
	for _, layout := range zonedMoments {
		if at, err := time.Parse(layout, strings.ToUpper(joined)); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}

// momentHint tells the person how to type a date and time.
func momentHint(now time.Time) string {
	return "date and time: 2026-11-21 14:30 in your time zone (UTC" + now.Format("-07:00") + "), with another zone after it, or now"
}
