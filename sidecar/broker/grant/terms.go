package grant

import (
	"fmt"
	"strings"
	"time"

	"assent/protocol"
)

// mostBound is the maximum number of requests, tokens or dollars in a grant.
const mostBound = 1_000_000_000

// Check returns the problems of terms, each with the field of [protocol.GrantTerms].
func Check(terms *protocol.GrantTerms, now time.Time) []protocol.FieldProblem {
	var problems []protocol.FieldProblem
	problem := func(name, format string, args ...any) {
		problems = append(problems, protocol.FieldProblem{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	if terms.ServerName == "" {
		problem("serverName", "A grant is for one server: name it.")
	}
	if len(terms.Models) == 0 {
		problem("models", "Choose at least one model.")
	}
	for _, id := range terms.Models {
		if strings.TrimSpace(id) == "" {
			problem("models", "A model's id cannot be empty.")
			break
		}
	}
	bound := func(name string, value float64) {
		switch {
		case value < 0:
			problem(name, "It cannot be less than 0.")
		case value > mostBound:
			problem(name, "It can be at most %d.", mostBound)
		}
	}
	bound("maxRequests", float64(terms.MaxRequests))
	bound("maxTokens", float64(terms.MaxTokens))
	bound("maxCost", terms.MaxCost)
	if terms.ExpiresAt != 0 && terms.ExpiresAt <= now.UnixMilli() {
		problem("expiresAt", "The end must be in the future.")
	}
	if terms.MaxRequests == 0 && terms.MaxTokens == 0 && terms.MaxCost == 0 && terms.ExpiresAt == 0 && !terms.Session {
		problem("", "Bound it by requests, tokens, dollars or an end, or let it end with this session.")
	}
	return problems
}

// invalid returns the error for terms with problems, or nil if there are none.
func invalid(problems []protocol.FieldProblem) error {
	if problems == nil {
		return nil
	}
	return &protocol.Error{
		Code:    protocol.CodeInvalidAnswer,
		Message: "The grant cannot be made: " + problems[0].Message,
		Data:    protocol.InvalidAnswerData{Problems: problems},
	}
}
