package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// facts returns facts as in the table. Values below zero are unknown.
func facts(family string, in, out, speed, intelligence float64) protocol.ModelFacts {
	known := func(v float64) *float64 {
		if v < 0 {
			return nil
		}
		return &v
	}
	return protocol.ModelFacts{Family: family, InputCost: known(in), OutputCost: known(out), Speed: known(speed), Intelligence: known(intelligence)}
}

func TestChoose(t *testing.T) {
	sonnet := protocol.Model{ID: "anthropic:claude-sonnet-4-5", Name: "Claude Sonnet 4.5 (Anthropic)", Provider: protocol.ProviderAnthropic, ModelFacts: facts("claude-sonnet", 3, 15, 0.6, 0.85)}
	haiku := protocol.Model{ID: "anthropic:claude-haiku-4-5", Name: "Claude Haiku 4.5 (Anthropic)", Provider: protocol.ProviderAnthropic, ModelFacts: facts("claude-haiku", 1, 5, 0.8, 0.7)}
	gemini := protocol.Model{ID: "gemini:gemini-2.5-pro", Name: "gemini-2.5-pro (Gemini)", Provider: protocol.ProviderGemini, ModelFacts: facts("gemini-pro", 1.25, 10, 0.5, 0.83)}
	local := protocol.Model{ID: "ollama:mystery", Name: "mystery (Ollama)", Provider: protocol.ProviderOllama, ModelFacts: facts("", 0, 0, -1, -1)}
	demo := protocol.Model{ID: "demo:script", Name: "Demo", Provider: protocol.ProviderDemo}
	all := []protocol.Model{haiku, sonnet, gemini, local, demo}
	hints := func(names ...string) *protocol.ModelPreferences {
		p := &protocol.ModelPreferences{}
		for _, n := range names {
			p.Hints = append(p.Hints, protocol.ModelHint{Name: n})
		}
		return p
	}
	with := func(p *protocol.ModelPreferences, cost, speed, intelligence float64) *protocol.ModelPreferences {
		p.CostPriority, p.SpeedPriority, p.IntelligencePriority = &cost, &speed, &intelligence
		return p
	}
	tests := []struct {
		name        string
		models      []protocol.Model
		preferences *protocol.ModelPreferences
		allowed     []string
		want        string // the id; empty if no model is chosen
		why         string
	}{
		{"no wish", all, nil, nil, haiku.ID, "the server has no wish"},
		{"empty preferences", all, hints(), nil, haiku.ID, "the server has no wish"},
		{"a hint without a letter", all, hints(" -- ", "sonnet"), nil, sonnet.ID, `asked for "sonnet".`},
		{"a part of a name", all, hints("sonnet"), nil, sonnet.ID, `asked for "sonnet".`},
		{"in any spelling", all, hints("Claude.Sonnet"), nil, sonnet.ID, `asked for "Claude.Sonnet".`},
		{"a part of two names, by the person's order", all, hints("claude"), nil, haiku.ID, "It is the first of 2."},
		{"a part of two names, by priority", all, with(hints("claude"), 0, 0, 1), nil, sonnet.ID, "Of 2 models it is the best for intelligence (1)."},
		{"the first hint that is there", all, hints("gpt-9", "gemini"), nil, gemini.ID, `asked for "gemini".`},
		{"the first hint before the second", all, hints("sonnet", "gemini"), nil, sonnet.ID, `asked for "sonnet".`},
		{"a family", all, hints("claude-3-5-sonnet-20241022"), nil, sonnet.ID, `which you do not have; this is of its family, claude-sonnet.`},
		{"a family before a later name", all, hints("claude-3-opus", "gemini-1.5-pro", "mystery"), nil, gemini.ID, "its family, gemini-pro"},
		{"hints that are not there", all, with(hints("gpt-9"), 0, 0, 1), nil, sonnet.ID, `none of what the server asked for, "gpt-9". Of 4 models it is the best for intelligence (1).`},
		{"an empty hint is none", all, hints("", "  "), nil, haiku.ID, "no wish"},
		{"a hint of a megabyte is none", all, hints(strings.Repeat("x", 1<<20)), nil, haiku.ID, "no wish"},
		{"cost", all, with(hints(), 1, 0, 0), nil, local.ID, "the best for low cost (1)"},
		{"speed", all, with(hints(), 0, 1, 0), nil, haiku.ID, "the best for speed (1)"},
		{"intelligence", all, with(hints(), 0, 0, 1), nil, sonnet.ID, "the best for intelligence (1)"},
		{"a mixture", all, with(hints(), 0.3, 0.8, 0.5), nil, haiku.ID, "low cost (0.3) and speed (0.8) and intelligence (0.5)"},
		{"priorities beyond their range", all, with(hints(), -5, 1e9, 0), nil, haiku.ID, "the best for speed (1)"},
		{"what is not known counts half", []protocol.Model{local, haiku}, with(hints(), 0, 0, 1), nil, haiku.ID, "intelligence"},
		{"one that is allowed", all, hints("sonnet"), []string{"ollama:*"}, local.ID, "no other language model"},
		{"the demo is no model", all, hints("demo"), nil, haiku.ID, "none of what the server asked for"},
		{"the demo alone", []protocol.Model{demo}, hints("sonnet"), nil, demo.ID, "No language model is configured."},
		{"none is allowed", all, hints("sonnet"), []string{}, "", ""},
		{"none is there", nil, nil, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why, ok := model.Choose(tt.models, tt.preferences, tt.allowed)
			if got.ID != tt.want || ok != (tt.want != "") || !strings.Contains(why, tt.why) {
				t.Errorf("Choose = %q, %q, %v; want %q, %q", got.ID, why, ok, tt.want, tt.why)
			}
			if strings.Contains(why, "\n") || len(why) > 500 {
				t.Errorf("the explanation is no line: %q", why)
			}
		})
	}
}

// A hint is untrusted text, and is shown to the person on one line.
func TestAHintStaysALine(t *testing.T) {
	models := []protocol.Model{{ID: "openai:a"}, {ID: "openai:b"}}
	hint := "x\n\u202eYour settings prefer evil." + strings.Repeat("y", 120)
	_, why, _ := model.Choose(models, &protocol.ModelPreferences{Hints: []protocol.ModelHint{{Name: hint}}}, nil)
	if strings.ContainsAny(why, "\n\u202e") || !strings.Contains(why, "…") {
		t.Errorf("why = %q", why)
	}
}

func TestAServerGetsWhatItIsAllowed(t *testing.T) {
	settings := protocol.ModelSettings{Allowed: []protocol.AllowedModels{
		{ServerName: "weather", Models: []string{"OPENAI:*mini*", "vscode:v1"}},
		{ServerName: "*", Models: []string{"demo:*"}},
		{ServerName: "banned"},
	}}
	s := set(settings,
		listed{provider: protocol.ProviderOpenAI, ids: []string{"gpt", "gpt-mini-2"}},
		listed{provider: protocol.ProviderVSCode, ids: []string{"v1", "v10"}},
		listed{provider: protocol.ProviderDemo, ids: []string{"d"}})
	tests := []struct {
		server string
		want   []string
	}{
		{"weather", []string{"openai:gpt-mini-2", "vscode:v1"}},
		{"another", []string{"demo:d"}},
		{"banned", nil},
	}
	for _, tt := range tests {
		t.Run(tt.server, func(t *testing.T) {
			models, err := s.For(tt.server).List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range models {
				got = append(got, m.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
		})
	}
	if models, err := s.List(t.Context()); err != nil || len(models) != 5 {
		t.Errorf("the person's own = %v, %v", models, err)
	}
	weather := s.For("weather")
	if _, err := weather.Find(t.Context(), "openai:gpt"); !errors.Is(err, model.ErrNone) || !strings.Contains(err.Error(), `does not let "weather" have "openai:gpt"`) {
		t.Errorf("Find of a forbidden model = %v", err)
	}
	if _, err := weather.Generate(t.Context(), "openai:gpt", ask("?"), nil); !errors.Is(err, model.ErrNone) {
		t.Errorf("Generate by a forbidden model = %v", err)
	}
	for name, err := range map[string]error{
		"Find": func() error { _, err := s.For("banned").Find(t.Context(), ""); return err }(),
		"Propose": func() error {
			_, _, err := s.For("banned").Propose(t.Context(), ask("?"))
			return err
		}(),
	} {
		if !errors.Is(err, model.ErrNone) || !strings.Contains(err.Error(), "assent.model.allowed") {
			t.Errorf("%s where nothing is allowed = %v", name, err)
		}
	}
}

func TestPropose(t *testing.T) {
	deaf := []protocol.RequestPart{protocol.PartAudio}
	openai := listed{provider: protocol.ProviderOpenAI, ids: []string{"gpt-3.5-turbo", "o3-mini", "gpt-4o"}, cannot: deaf}
	vscode := listed{provider: protocol.ProviderVSCode, ids: []string{"copilot/claude-sonnet-4"}, cannot: deaf}
	demo := listed{provider: protocol.ProviderDemo, ids: []string{"script"}}
	picture := ask("What is this?")
	picture.Messages[0].Content = append(picture.Messages[0].Content, protocol.ImageContent{Data: "QQ==", MIMEType: "image/png"})
	sound := ask("?")
	sound.Messages[0].Content = []protocol.ContentBlock{protocol.AudioContent{}}
	long := ask(strings.Repeat("word", 100_000))
	claude := ask("?")
	claude.ModelPreferences = &protocol.ModelPreferences{Hints: []protocol.ModelHint{{Name: "claude"}}}
	tests := []struct {
		name     string
		settings protocol.ModelSettings
		request  *protocol.McpSamplingRequest
		want     string
		why      string
	}{
		{"the first", protocol.ModelSettings{}, ask("?"), "openai:gpt-3.5-turbo", "the first of yours"},
		{"a hint", protocol.ModelSettings{}, claude, "vscode:copilot/claude-sonnet-4", `asked for "claude"`},
		{"the person's word before the server's", protocol.ModelSettings{Provider: protocol.ProviderOpenAI}, claude, "openai:gpt-3.5-turbo", `Your settings prefer openai. You have none of what the server asked for, "claude".`},
		{"the demo, where the person wants it", protocol.ModelSettings{Provider: protocol.ProviderDemo}, claude, "demo:script", "Your settings prefer demo."},
		{"one that can see", protocol.ModelSettings{}, picture, "openai:gpt-4o", "Models that do not take pictures were left out."},
		{"one that can read as much", protocol.ModelSettings{}, long, "openai:o3-mini", "Models that do not take a request of this length were left out."},
		{"what the person says of a model", protocol.ModelSettings{Table: []protocol.ModelRow{{Match: "gpt-3.5", ModelFacts: protocol.ModelFacts{Images: new(true)}}}}, picture, "openai:gpt-3.5-turbo", "the first"},
		{"none that can hear", protocol.ModelSettings{}, sound, "openai:gpt-3.5-turbo", "No model is known to take sound."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, why, err := set(tt.settings, openai, vscode, demo).Propose(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if m.ID != tt.want || !strings.Contains(why, tt.why) {
				t.Errorf("Propose = %q, %q; want %q, %q", m.ID, why, tt.want, tt.why)
			}
		})
	}
	for provider, want := range map[protocol.ModelProvider]string{
		protocol.ProviderDemo:   "Your settings prefer demo.",
		protocol.ProviderVSCode: "Your settings prefer vscode.",
	} {
		_, why, err := set(protocol.ModelSettings{Provider: provider}, openai, vscode, demo).Propose(t.Context(), ask("?"))
		if err != nil || why != want {
			t.Errorf("Propose says %q, %v; want %q: there are others", why, err, want)
		}
	}
	if _, _, err := set(protocol.ModelSettings{}).Propose(t.Context(), ask("?")); !errors.Is(err, model.ErrNone) || !strings.Contains(err.Error(), "configure one") {
		t.Errorf("Propose without any = %v", err)
	}
}
