package model

import (
	"errors"

	"assent/sidecar/base/trace"
)

// describe sets the attributes of a request to a model (OpenTelemetry, "Semantic conventions for generative client AI spans").
func describe(span *trace.Span, provider, model string, made *Completion, err error) {
	if span == nil {
		return
	}
	span.Set("gen_ai.operation.name", "chat")
	span.Set("gen_ai.provider.name", provider)
	span.Set("gen_ai.request.model", model)
	switch {
	case errors.Is(err, ErrRefused):
		span.Fail("refused")
	case err != nil:
		span.Fail("_OTHER")
	default:
		span.Set("gen_ai.response.model", made.Model)
		if made.Usage != nil {
			span.SetInt("gen_ai.usage.input_tokens", made.Usage.InputTokens)
			span.SetInt("gen_ai.usage.output_tokens", made.Usage.OutputTokens)
		}
	}
}
