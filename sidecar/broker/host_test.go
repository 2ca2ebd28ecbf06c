package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
)

// hostSays is the answer of a host.
type hostSays struct {
	result string
	err    error
}

// host returns a host that is asked in place of the person.
func host(headStart time.Duration, says hostSays) *attribution.Host {
	return &attribution.Host{
		Name: "Claude Code", Forward: true, HeadStart: headStart,
		Ask: func(_ context.Context, r *attribution.Request) (json.RawMessage, error) {
			r.Slot.Pass()
			return json.RawMessage(says.result), says.err
		},
	}
}

// ask serves a request of a host's call.
func (f *fixture) ask(t *testing.T, m method, params string, h *attribution.Host) <-chan served {
	done := make(chan served, 1)
	r := request(f.task, origin, params)
	r.Host = h
	go func() {
		result, err := m(t.Context(), r)
		done <- served{result, err}
	}()
	return done
}

const sampling = `{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":5}`

func TestTheHostAnswers(t *testing.T) {
	elicitation := func(b *broker.Broker) method { return b.Elicit }
	completion := func(b *broker.Broker) method { return b.CreateMessage }
	tests := []struct {
		name      string
		method    func(*broker.Broker) method
		params    string
		says      hostSays
		headStart time.Duration
		want      string // of the server's result; empty if it gets an error
		reason    protocol.OutcomeReason
	}{
		{"a form", elicitation, elicit, hostSays{result: `{"action":"accept","content":{"name":"Ada"}}`}, time.Hour, `{"action":"accept","content":{"name":"Ada"}}`, protocol.OutcomeAnswered},
		{"a form, in both places", elicitation, elicit, hostSays{result: `{"action":"accept","content":{"name":"Ada"}}`}, 0, `{"action":"accept","content":{"name":"Ada"}}`, protocol.OutcomeAnswered},
		{"a form, and a member that it does not describe", elicitation, elicit, hostSays{result: `{"action":"accept","content":{"name":"Ada","email":"ada@example.com"}}`}, time.Hour, `{"action":"accept","content":{"name":"Ada"}}`, protocol.OutcomeAnswered},
		{"a form, after members that it does not describe", elicitation, elicit, hostSays{result: `{"action":"accept","content":{"a":{"name":1},"b":null,"name":"Ada"}}`}, time.Hour, `{"action":"accept","content":{"name":"Ada"}}`, protocol.OutcomeAnswered},
		{"a form, with null for what was left out", elicitation, `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"nick":{"type":["string","null"]}},"required":["name"]}}`, hostSays{result: `{"action":"accept","content":{"name":"Ada","age":null,"nick":null}}`}, time.Hour, `{"action":"accept","content":{"name":"Ada","nick":null}}`, protocol.OutcomeAnswered},
		{"a form and more, in both places", elicitation, elicit, hostSays{result: `{"action":"accept","content":{"Name":"Bob","name":"Ada"}}`}, 0, `{"action":"accept","content":{"name":"Ada"}}`, protocol.OutcomeAnswered},
		{"a refusal", elicitation, elicit, hostSays{result: `{"action":"decline"}`}, time.Hour, `{"action":"decline"}`, protocol.OutcomeDeclined},
		{"a refusal, in both places", elicitation, elicit, hostSays{result: `{"action":"decline"}`}, 0, `{"action":"decline"}`, protocol.OutcomeDeclined},
		{"put away", elicitation, elicit, hostSays{result: `{"action":"cancel"}`}, time.Hour, `{"action":"cancel"}`, protocol.OutcomeDismissed},
		{"a completion", completion, sampling, hostSays{result: `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`}, time.Hour, `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`, protocol.OutcomeAnswered},
		{"a completion, in both places", completion, sampling, hostSays{result: `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`}, 0, `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`, protocol.OutcomeAnswered},
		{"no completion", completion, sampling, hostSays{err: attribution.ErrHostDeclined}, time.Hour, "", protocol.OutcomeDeclined},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			got := <-f.ask(t, test.method(f.Broker), test.params, host(test.headStart, test.says))
			if test.want == "" {
				wantError(t, got.err, -1, "rejected")
			} else if wantJSON(t, got.result, test.want); got.err != nil {
				t.Error(got.err)
			}
			outcome := f.message(t).Outcome
			if outcome == nil || outcome.Reason != test.reason || outcome.By != "Claude Code" {
				t.Errorf("the task shows %+v", outcome)
			}
		})
	}
}

// If the host gives no answer, the person answers in Assent.
func TestTheHostDoesNotAnswer(t *testing.T) {
	tests := []struct {
		name      string
		says      hostSays
		headStart time.Duration
	}{
		{"it cannot", hostSays{err: errors.New("-32601")}, time.Hour},
		{"it showed no fields", hostSays{result: `{"action":"accept","content":{}}`}, time.Hour},
		{"it says nothing that MCP has", hostSays{result: `{"action":"yes"}`}, time.Hour},
		{"it put the question away, and Assent has it too", hostSays{result: `{"action":"cancel"}`}, 0},
		{"a value has another type", hostSays{result: `{"action":"accept","content":{"name":5}}`}, time.Hour},
		{"a field that is required is missing", hostSays{result: `{"action":"accept","content":{"x":1.50}}`}, time.Hour},
		{"its content has only members that the form does not describe", hostSays{result: `{"action":"accept","content":{"Name":"Bob","email":"bob@example.com"}}`}, time.Hour},
		{"its content names a field twice", hostSays{result: `{"action":"accept","content":{"name":"Bob","name":"Eve"}}`}, time.Hour},
		{"its content is no object", hostSays{result: `{"action":"accept","content":["Ada"]}`}, time.Hour},
		{"it sent no content", hostSays{result: `{"action":"accept"}`}, time.Hour},
		{"its answer does not fit, and Assent has the question too", hostSays{result: `{"action":"accept","content":{"x":1}}`}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, nil)
			done := f.ask(t, f.Elicit, elicit, host(test.headStart, test.says))
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"Ada"}`)}); err != nil {
				t.Fatal(err)
			}
			wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"Ada"}}`)
			if by := f.message(t).Outcome.By; by != "a test" {
				t.Errorf("it was answered by %q", by)
			}
		})
	}
}

// The first answer ends the question in the other program.
func TestAnAnswerInAssentEndsTheHostsQuestion(t *testing.T) {
	f := newFixture(t, nil)
	ended := make(chan error, 1)
	h := host(0, hostSays{})
	h.Ask = func(ctx context.Context, _ *attribution.Request) (json.RawMessage, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
	done := f.ask(t, f.Elicit, elicit, h)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, (<-done).result, `{"action":"decline"}`)
	if err := <-ended; err == nil {
		t.Error("the host's question ended for no reason")
	}
}
