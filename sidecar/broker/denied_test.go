package broker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task"
)

// deniedTask records the journal entries of refused requests.
type deniedTask struct {
	*task.Task
	records []string
	counts  []int64
}

func (d *deniedTask) Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	d.records = append(d.records, strings.Join([]string{origin.ServerName, method, string(outcome.Reason), outcome.Detail}, " "))
	d.counts = append(d.counts, count)
}

func TestTheJournalHearsOfWhatIsRefusedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &scripted{})
		f.limits = &protocol.SamplingLimits{RequestsPerMinute: new(int64(0))}
		d := &deniedTask{Task: f.task}
		for range 5 {
			_, err := f.CreateMessage(t.Context(), request(d, origin, sample))
			wantLimit(t, err, "requestsPerMinute", 0)
		}
		time.Sleep(time.Minute)
		_, err := f.CreateMessage(t.Context(), request(d, origin, sample))
		wantLimit(t, err, "requestsPerMinute", 0)
		if diff := cmp.Diff([]int64{1, 5}, d.counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		const want = "s sampling/createMessage denied 1 sampling requests came within a minute"
		if got := d.records[0]; !strings.HasPrefix(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
	})
}

func TestRequestsThatNoFrontEndCanShowAreRefused(t *testing.T) {
	f := newFixture(t, &scripted{})
	d := &deniedTask{Task: f.task}
	for name, serve := range map[string]func(*broker.Broker) (any, error){
		"elicitation/create": func(b *broker.Broker) (any, error) {
			return b.Elicit(t.Context(), request(d, origin, elicit))
		},
		"sampling/createMessage": func(b *broker.Broker) (any, error) {
			return b.CreateMessage(t.Context(), request(d, origin, sample))
		},
	} {
		d.records = nil
		_, err := serve(broker.New(broker.Options{Log: zerolog.Nop()}))
		wantError(t, err, jsonrpc.CodeMethodNotFound, name+" was not declared by this client")
		if len(d.records) != 1 || !strings.HasPrefix(d.records[0], "s "+name+" noFrontEnd") {
			t.Errorf("recorded %q", d.records)
		}
	}
	if n := f.task.Info().LastNumber; n != 1 {
		t.Error("the person was shown it all the same")
	}
}

// invalidTask records the questions that cannot be shown.
type invalidTask struct {
	*task.Task
	records []string
}

func (i *invalidTask) Invalid(origin protocol.Origin, method, why string) {
	i.records = append(i.records, strings.Join([]string{origin.ServerName, method, why}, " "))
	i.Task.Invalid(origin, method, why)
}

func TestThePersonIsToldOfAQuestionThatCannotBeShown(t *testing.T) {
	const address = `{"message":"Where?","requestedSchema":{"type":"object","properties":{"address":{"type":"object"}}}}`
	tests := []struct{ name, method, params, server, want string }{
		{"a form", "elicitation/create", address, "requestedSchema: property address is an object", "property address is an object, which a form cannot show"},
		{"a form without a message", "elicitation/create", `{"requestedSchema":{}}`, "message is missing", "message is missing"},
		{"a page", "elicitation/create", `{"mode":"url","message":"Sign in","url":"https://example.com"}`, "elicitation mode", `elicitation mode "url" was not declared by this client`},
		{"a completion", "sampling/createMessage", `{"messages":[],"maxTokens":1}`, "messages is missing or empty", "messages is missing or empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			i := &invalidTask{Task: f.task}
			r := request(i, origin, tt.params)
			r.Method = tt.method
			_, err := f.Serve(t.Context(), r)
			wantError(t, err, jsonrpc.CodeInvalidParams, tt.server)
			if len(i.records) != 1 || i.records[0] != "s "+tt.method+" "+tt.want {
				t.Errorf("told %q", i.records)
			}
			opened, err := f.task.Open(t.Context(), 0, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			want := protocol.Notice{Level: protocol.NoticeWarning, Text: `The MCP server "s" asked a question that cannot be shown: ` + tt.want + "."}
			if diff := cmp.Diff(protocol.Body(want), opened.Messages[len(opened.Messages)-1].Body); diff != "" {
				t.Errorf("the conversation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFloodOfQuestionsThatCannotBeShownIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, &scripted{})
		i := &invalidTask{Task: f.task}
		for range 50 {
			if _, err := f.Elicit(t.Context(), request(i, origin, `{}`)); err == nil {
				t.Fatal("no error")
			}
		}
		if len(i.records) != 10 {
			t.Errorf("told %d times", len(i.records))
		}
	})
}
