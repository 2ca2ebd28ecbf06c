package model

import (
	"math"

	"assent/protocol"
)

// Usage is a provider's token count for one completion.
type Usage struct {
	// InputTokens counts the input, including cached tokens. OutputTokens counts the output,
	// including thinking.
	InputTokens, OutputTokens int64
}

// usage returns a provider's count, or nil if it cannot be right: some endpoints send zeros if they do
// not count, and an endpoint may send anything.
func usage(in, out int64) *Usage {
	if in < 0 || out < 0 || in == 0 && out == 0 {
		return nil
	}
	return &Usage{InputTokens: in, OutputTokens: out}
}

// Rough estimates. They are good enough for "this will not fit" and "about a cent", but not for a
// bill.
const (
	bytesOfToken  = 4    // text in most languages
	tokensOfTurn  = 4    // the overhead of each message
	tokensOfImage = 1500 // an image of a megapixel; larger ones are scaled down first
	bytesOfSound  = 1000 // base64 of audio per token, at the bit rates of speech
)

// EstimateText returns an estimate of a text's tokens.
func EstimateText(text string) int64 {
	return (int64(len(text)) + bytesOfToken - 1) / bytesOfToken
}

// Estimate returns an estimate of a request's input tokens: its text, images, audio and tools.
func Estimate(request *protocol.McpSamplingRequest) int64 {
	tokens := EstimateText(request.SystemPrompt)
	for _, m := range request.Messages {
		tokens += tokensOfTurn + EstimateContent(m.Content)
	}
	for _, t := range request.Tools {
		tokens += tokensOfTurn + EstimateText(t.Name) + EstimateText(t.Description) + EstimateText(string(t.InputSchema))
	}
	return tokens
}

// EstimateContent returns an estimate of the tokens in the content of a message or an answer.
func EstimateContent(content []protocol.ContentBlock) int64 {
	var tokens int64
	for _, block := range content {
		tokens += estimateBlock(block)
	}
	return tokens
}

func estimateBlock(block protocol.ContentBlock) int64 {
	switch block := block.(type) {
	case protocol.TextContent:
		return EstimateText(block.Text)
	case protocol.ImageContent:
		return tokensOfImage
	case protocol.AudioContent:
		return int64(len(block.Data))/bytesOfSound + 1
	case protocol.ToolUseContent:
		return EstimateText(block.Name) + EstimateText(string(block.Input))
	case protocol.ToolResultContent:
		var tokens int64
		for _, b := range block.Content {
			tokens += estimateBlock(b)
		}
		return tokens
	default:
		return 0 // no model gets it
	}
}

// Cost returns the cost of that many tokens in US dollars, and false if a price is unknown. A free
// model has the known cost 0.
func Cost(facts protocol.ModelFacts, in, out int64) (dollars float64, known bool) {
	if facts.InputCost == nil || facts.OutputCost == nil {
		return 0, false
	}
	const million = 1e6
	dollars = (float64(in)**facts.InputCost + float64(out)**facts.OutputCost) / million
	if !(dollars >= 0) || math.IsInf(dollars, 0) { // a table may have any values
		return 0, false
	}
	return dollars, true
}
