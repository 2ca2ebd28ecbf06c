package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// People edit the shipped table, so this checks its rows.
func TestTheShippedTable(t *testing.T) {
	decoder := json.NewDecoder(strings.NewReader(string(shippedTable)))
	decoder.DisallowUnknownFields()
	var rows []protocol.ModelRow
	if err := decoder.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		within := func(what string, v *float64, most float64) {
			if v != nil && (*v < 0 || *v > most) {
				t.Errorf("%s: %s is %v", row.Match, what, *v)
			}
		}
		within("inputCost", row.InputCost, 1000)
		within("outputCost", row.OutputCost, 1000)
		within("speed", row.Speed, 1)
		within("intelligence", row.Intelligence, 1)
		switch {
		case row.Match != normal(row.Match) || row.Match == "":
			t.Errorf("%q would never match: write %q", row.Match, normal(row.Match))
		case seen[row.Match]:
			t.Errorf("%q is there twice", row.Match)
		case row.Family == "":
			t.Errorf("%q has no family", row.Match)
		case (row.InputCost == nil) != (row.OutputCost == nil):
			t.Errorf("%q has one price of two", row.Match)
		}
		seen[row.Match] = true
	}
}

func TestFacts(t *testing.T) {
	tests := []struct {
		name  string
		model protocol.Model
		own   []protocol.ModelRow
		want  protocol.ModelFacts
	}{
		{
			"by the longest match",
			protocol.Model{ID: "openai:gpt-4o-mini-2024-07-18", Provider: protocol.ProviderOpenAI},
			nil,
			protocol.ModelFacts{Family: "gpt-4o-mini", ContextTokens: 128000, InputCost: new(0.15), OutputCost: new(0.6), Images: new(true), Tools: new(true), Speed: new(0.8), Intelligence: new(0.45)},
		},
		{
			"in another spelling, and what the provider says first",
			protocol.Model{ID: "openrouter:anthropic/claude-3.5-haiku", ModelFacts: protocol.ModelFacts{ContextTokens: 7, Family: "claude-3.5"}},
			nil,
			protocol.ModelFacts{Family: "claude-haiku", ContextTokens: 7, InputCost: new(0.8), OutputCost: new(4.0), Images: new(true), Tools: new(true), Speed: new(0.75), Intelligence: new(0.55)},
		},
		{
			"what the person says before all, field by field",
			protocol.Model{ID: "ollama:phi4:14b", Name: "phi4:14b (Ollama)", ModelFacts: protocol.ModelFacts{InputCost: new(0.0), OutputCost: new(0.0)}},
			[]protocol.ModelRow{{Match: "ollama:phi4", ModelFacts: protocol.ModelFacts{Family: "mine", Speed: new(1.0), OutputCost: new(2.0)}}},
			protocol.ModelFacts{Family: "mine", InputCost: new(0.0), OutputCost: new(2.0), Images: new(false), Speed: new(1.0), Intelligence: new(0.42)},
		},
		{
			"the editor's are paid otherwise",
			protocol.Model{ID: "vscode:copilot/o3", Provider: protocol.ProviderVSCode},
			nil,
			protocol.ModelFacts{Family: "o3", ContextTokens: 200000, Images: new(true), Tools: new(true), Speed: new(0.35), Intelligence: new(0.85)},
		},
		{"a part of a word is no match", protocol.Model{ID: "openai:foo3-x", Name: "gpt-4omega"}, nil, protocol.ModelFacts{}},
		{"the demo is none of them", protocol.Model{ID: "demo:gpt-4o", Provider: protocol.ProviderDemo}, nil, protocol.ModelFacts{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, facts(tt.model, tt.own)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}
