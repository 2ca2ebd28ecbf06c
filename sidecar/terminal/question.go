package terminal

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/secret"
	"assent/sidecar/terminal/answers"
)

// question returns an ask for a recording. It has everything that depends on the server, and nothing that changes from
// run to run. secrets names the members of the answer that must not be written.
func (l *commandLine) question(a *openAsk) (question answers.Question, secrets []string) {
	origin := a.Question.From()
	question = answers.Question{Server: l.recordedName(origin.ServerName), Tools: origin.ToolNames}
	switch q := a.Question.(type) {
	case protocol.McpElicitation:
		question.Kind, question.Message = answers.Form, q.ElicitationRequest.Message
		var fields []protocol.Field
		for _, f := range q.ElicitationRequest.Fields {
			if head := f.Head(); head.Secret {
				secrets = append(secrets, head.Name)
			}
			if text, ok := f.(protocol.StringField); ok {
				text.PatternUnchecked = false // it follows from the pattern
				f = text
			}
			fields = append(fields, f)
		}
		if fields != nil {
			question.Fields = fields
		}
	case protocol.McpURLElicitation:
		question.Kind, question.Message, question.URL = answers.Page, q.Message, stableURL(q.URL)
	case protocol.McpSampling:
		question.Kind = answers.Completion
		request := q.SamplingRequest
		request.Metadata = nil // it is for the provider, and often has an id
		request.Messages = slices.Clone(request.Messages)
		for i := range request.Messages {
			request.Messages[i].Content = withoutData(request.Messages[i].Content)
		}
		question.Request = request
	case protocol.McpSamplingReview:
		question.Kind = answers.Review
	case protocol.UseMcpTool:
		question.Kind, question.Tools, question.Arguments = answers.Tool, []string{q.Tool.Name}, q.Arguments
	case protocol.AccessMcpResource:
		question.Kind, question.URL = answers.Resource, q.URI
	case protocol.RepeatMcpCall:
		question.Kind = answers.Repeat
	}
	return question, secrets
}

// recordedName returns a server's name for a recording. It returns "" for a server that the command line itself
// defines, because the next command line may define the server in another way.
func (l *commandLine) recordedName(serverName string) string {
	if l.alone {
		return ""
	}
	return serverName
}

// inputQuestion returns the question of a recording for an input of mcp.json.
func inputQuestion(params *protocol.PromptInputParams) answers.Question {
	return answers.Question{Kind: answers.Input, Server: params.ServerName, Message: params.ID}
}

// withoutData returns content with hashes in place of images and audio.
func withoutData(content []protocol.ContentBlock) []protocol.ContentBlock {
	out := slices.Clone(content)
	for i, block := range out {
		switch b := block.(type) {
		case protocol.ImageContent:
			b.Data = hashed(b.Data)
			out[i] = b
		case protocol.AudioContent:
			b.Data = hashed(b.Data)
			out[i] = b
		}
	}
	return out
}

func hashed(data string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(data))) }

// unstable matches a path segment that probably differs in each run.
var unstable = lazyregexp.New(`^[0-9a-fA-F-]*[0-9][0-9a-fA-F-]{7,}$`)

// stableURL returns a URL without its fragment, the values of its query, and the path segments that look like ids.
func stableURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if unstable().MatchString(part) {
			parts[i] = "…"
		}
	}
	out := u.Scheme + "://" + u.Host + strings.Join(parts, "/")
	var names []string
	for name := range u.Query() {
		names = append(names, name+"=…")
	}
	if slices.Sort(names); len(names) > 0 {
		out += "?" + strings.Join(names, "&")
	}
	return out
}

// cleaner removes secrets from texts. Its methods may be called from any goroutine.
type cleaner struct {
	scanner *secret.Scanner

	mu    sync.Mutex // guards known
	known []secret.Known
}

func newCleaner() *cleaner { return &cleaner{scanner: secret.New()} }

// learn adds the secrets that the sidecar found in a request.
func (c *cleaner) learn(findings []protocol.SecretFinding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range findings {
		c.known = append(c.known, secret.Known{Value: f.Text, Description: f.Description})
	}
}

func (c *cleaner) find(text string) []secret.Finding {
	c.mu.Lock()
	known := slices.Clone(c.known)
	c.mu.Unlock()
	return c.scanner.Scan(text, known)
}

// text returns a text without its secrets.
func (c *cleaner) text(text string) string { return secret.Redact(text, c.find(text)) }

// secret reports whether a text contains a secret.
func (c *cleaner) secret(text string) bool { return len(c.find(text)) > 0 }

func jsonText(text string) (json.RawMessage, error) { return json.Marshal(text) }
