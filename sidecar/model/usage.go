package model

import (
	"math"

	"assent/protocol"
)

// Usage is what a provider counted for one completion, in tokens.
type Usage struct {
	// InputTokens is what the model read, with what its provider had cached; OutputTokens is what it
	// wrote, with what it thought.
	InputTokens, OutputTokens int64
}

// usage returns what a provider counted, or nil where it cannot have counted that: some endpoints send
// zeros where they do not count, and an endpoint may send anything.
func usage(in, out int64) *Usage {
	if in < 0 || out < 0 || in == 0 && out == 0 {
		return nil
	}
	return &Usage{InputTokens: in, OutputTokens: out}
}

// Rough measures. They are good for "this will not fit" and "about a cent", and for no bill.
const (
	bytesOfToken  = 4    // text in most languages
	tokensOfTurn  = 4    // the words around each message
	tokensOfImage = 1500 // a picture of a megapixel; larger ones are scaled down before they are read
	bytesOfSound  = 1000 // base64 of a token's worth of sound, at the bit rates of speech
)

// EstimateText returns about how many tokens a text is.
func EstimateText(text string) int64 {
	return (int64(len(text)) + bytesOfToken - 1) / bytesOfToken
}

// Estimate returns about how many tokens a model reads of a request: its text, pictures, sound and
// tools, not what the model may write.
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

// EstimateContent returns about how many tokens a message's content is, or an answer's.
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
		return 0 // no model is given it
	}
}

// Cost returns what reading and writing so many tokens costs, in US dollars, and false where a price is
// not known. What is free costs 0, and is known.
func Cost(facts protocol.ModelFacts, in, out int64) (dollars float64, known bool) {
	if facts.InputCost == nil || facts.OutputCost == nil {
		return 0, false
	}
	const million = 1e6
	dollars = (float64(in)**facts.InputCost + float64(out)**facts.OutputCost) / million
	if !(dollars >= 0) || math.IsInf(dollars, 0) { // a table may hold anything
		return 0, false
	}
	return dollars, true
}
