package policy

import (
	"encoding/base64"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/model"
)

// The defaults of [protocol.SamplingLimits].
const (
	defaultRequestsPerMinute = 60
	defaultInFlight          = 16
	defaultToolRounds        = 25
	defaultPromptBytes       = 2 << 20
	defaultImageBytes        = 20 << 20
)

// limit is one of the limits with its present value.
type limit struct {
	name protocol.PolicyLimitName
	max  int64
	// isDefault: the person has not set it.
	isDefault bool
}

// setting returns the name of the setting.
func (l limit) setting() string { return settingLimits + "." + string(l.name) }

func limitOf(name protocol.PolicyLimitName, set *int64, otherwise int64) limit {
	if set == nil {
		return limit{name, otherwise, true}
	}
	return limit{name, *set, false}
}

type limits struct{ requestsPerMinute, inFlight, toolRounds, promptBytes, imageBytes limit }

func limitsOf(settings *protocol.SamplingLimits) limits {
	if settings == nil {
		settings = &protocol.SamplingLimits{}
	}
	return limits{
		requestsPerMinute: limitOf(protocol.LimitRequestsPerMinute, settings.RequestsPerMinute, defaultRequestsPerMinute),
		inFlight:          limitOf(protocol.LimitInFlight, settings.InFlight, defaultInFlight),
		toolRounds:        limitOf(protocol.LimitToolRounds, settings.ToolRounds, defaultToolRounds),
		promptBytes:       limitOf(protocol.LimitPromptBytes, settings.PromptBytes, defaultPromptBytes),
		imageBytes:        limitOf(protocol.LimitImageBytes, settings.ImageBytes, defaultImageBytes),
	}
}

func maxOpenOf(set *int64) limit {
	return limitOf(protocol.LimitMaxOpen, set, defaultMaxOpen)
}

// limits returns all limits.
func (s *Settings) limits() []limit {
	l := limitsOf(s.Sampling.Limits)
	all := []limit{maxOpenOf(s.Elicitation.MaxOpen), l.requestsPerMinute, l.inFlight, l.toolRounds, l.promptBytes, l.imageBytes}
	if s.AnswerSeconds > 0 {
		all = append(all, limit{name: protocol.LimitAnswerSeconds, max: s.AnswerSeconds})
	}
	return all
}

// LimitError says that a valid request exceeds a limit in the settings.
type LimitError struct {
	// Name and Max are the name and the value of the limit.
	Name string
	Max  int64
	// RetryAfter is the time after which the server can try again; 0 if waiting does not help.
	RetryAfter time.Duration

	text string
	by   entry
}

// Error implements error. The text is for the server.
func (e *LimitError) Error() string { return e.text }

func (e *LimitError) refuse() Decision {
	return Decision{Verdict: Refuse, Limit: e, by: e.by, Outcome: protocol.Outcome{Reason: protocol.OutcomeDenied, Detail: e.text}}
}

// exceeded returns the error of a request that exceeds the limit.
func (l limit) exceeded(retryAfter time.Duration, format string, args ...any) *LimitError {
	return &LimitError{
		Name: string(l.name), Max: l.max, RetryAfter: retryAfter, by: l.entry(),
		text: fmt.Sprintf(format, args...) + fmt.Sprintf(": the user's setting %s allows %d", l.setting(), l.max),
	}
}

// limitRate counts a sampling request, or refuses it.
func (p *Policy) limitRate(r *Request) Decision {
	done, exceeded := p.rates.admit(r.Origin.ServerName, limitsOf(p.opts.Settings().Sampling.Limits))
	if exceeded != nil {
		return exceeded.refuse()
	}
	r.done = done
	return Decision{}
}

// limitSize refuses a request that is too large to read, show or pay for. It checks each request
// once.
func (p *Policy) limitSize(r *Request, request *protocol.McpSamplingRequest) Decision {
	if r.sized {
		return Decision{}
	}
	r.sized = true
	if exceeded := limitsOf(p.opts.Settings().Sampling.Limits).checkSize(request); exceeded != nil {
		return exceeded.refuse()
	}
	return Decision{}
}

// checkSize returns the limit that a request exceeds, or nil.
func (l limits) checkSize(request *protocol.McpSamplingRequest) *LimitError {
	if rounds := toolRounds(request.Messages); rounds > l.toolRounds.max {
		return l.toolRounds.exceeded(0, "the model went to the tools %d times", rounds)
	}
	prompt, media := sizeOf(request)
	if prompt > l.promptBytes.max {
		return l.promptBytes.exceeded(0, "the prompt has %d bytes", prompt)
	}
	if media > l.imageBytes.max {
		return l.imageBytes.exceeded(0, "the images and sounds have %d bytes", media)
	}
	return nil
}

// toolRounds counts the tool rounds of the conversation. It measures the depth of a server's recursion:
// the server runs the tools, and they may ask a model again.
func toolRounds(messages []protocol.SamplingMessage) (rounds int64) {
	for _, m := range messages {
		if slices.ContainsFunc(m.Content, func(b protocol.ContentBlock) bool { _, ok := b.(protocol.ToolUseContent); return ok }) {
			rounds++
		}
	}
	return rounds
}

// sizeOf returns the bytes of all texts, and of all images and audio.
func sizeOf(request *protocol.McpSamplingRequest) (prompt, media int64) {
	for text := range model.Texts(request) {
		prompt += int64(len(text))
	}
	count := func(data string) { media += int64(base64.StdEncoding.DecodedLen(len(data))) }
	for _, m := range request.Messages {
		for _, block := range m.Content {
			countMedia(block, count)
			if result, ok := block.(protocol.ToolResultContent); ok {
				for _, part := range result.Content {
					countMedia(part, count)
				}
			}
		}
	}
	return prompt, media
}

func countMedia(block protocol.ContentBlock, count func(data string)) {
	switch block := block.(type) {
	case protocol.ImageContent:
		count(block.Data)
	case protocol.AudioContent:
		count(block.Data)
	case protocol.EmbeddedResource:
		count(block.Resource.Blob)
	}
}

// rateLimiter counts each server's requests. It may be used from any goroutine.
type rateLimiter struct {
	mu      sync.Mutex // guards servers
	servers map[string]*serverRate
}

type serverRate struct {
	// recent holds the times of the requests of the last minute, the oldest first.
	recent   []time.Time
	inFlight int64
	// refused counts the requests that were refused since recorded, the time of the last journal
	// record.
	refused  int64
	recorded time.Time
	// invalid counts the requests that could not be shown since invalidSince.
	invalid      int64
	invalidSince time.Time
}

// recordEvery is the minimum time between two journal records about refused requests of a server. It keeps
// a server from filling the disk, because the person is not asked about these requests.
const recordEvery = time.Minute

// refused counts a request that is refused without asking, and returns the count to journal now; 0 means
// later.
func (m *rateLimiter) refused(serverName string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(serverName)
	s.refused++
	now := time.Now()
	if !s.recorded.IsZero() && now.Sub(s.recorded) < recordEvery {
		return 0
	}
	count := s.refused
	s.refused, s.recorded = 0, now
	return count
}

// maxInvalid is how many invalid requests of a server are reported in the time of one record.
const maxInvalid = 10

// invalid counts a request that cannot be shown, and reports whether the person is told.
func (m *rateLimiter) invalid(serverName string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(serverName)
	if now := time.Now(); now.Sub(s.invalidSince) >= recordEvery {
		s.invalid, s.invalidSince = 0, now
	}
	s.invalid++
	return s.invalid <= maxInvalid
}

// of returns the counts of a server. The lock must be held.
func (m *rateLimiter) of(serverName string) *serverRate {
	if m.servers == nil {
		m.servers = map[string]*serverRate{}
	}
	s := m.servers[serverName]
	if s == nil {
		s = &serverRate{}
		m.servers[serverName] = s
	}
	return s
}

// admit counts a request of a server, or returns the limit that it exceeds. The caller calls done when
// the request is answered.
func (m *rateLimiter) admit(serverName string, l limits) (done func(), exceeded *LimitError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(serverName)
	now := time.Now()
	s.recent = slices.DeleteFunc(s.recent, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if int64(len(s.recent)) >= l.requestsPerMinute.max {
		wait := time.Minute
		if len(s.recent) > 0 {
			wait = s.recent[0].Add(time.Minute).Sub(now)
		}
		return nil, l.requestsPerMinute.exceeded(wait, "%d sampling requests came within a minute", len(s.recent)+1)
	}
	if s.inFlight >= l.inFlight.max {
		return nil, l.inFlight.exceeded(0, "%d sampling requests are not answered yet", s.inFlight)
	}
	s.recent = append(s.recent, now)
	s.inFlight++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.inFlight--
	}, nil
}
