package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/base/wildcard"
)

// The bounds of a server's hints. Further hints are ignored.
const (
	mostHints = 20
	mostHint  = 200 // bytes of one
)

// Choose returns the model that a server's preferences select, and the reason in a line for the
// person. The models are in the person's order, which decides between equals. If allowed is not nil,
// it holds ids, with * for any text, of the models that may be chosen. Choose returns false if no
// model is allowed.
//
// Hints come first, in order: as a part of a model's name, or as the name of a model of the same
// family. Priorities decide between the remaining models (2025-11-25, "Model Preferences"). The demo is
// chosen only if there is no other model.
func Choose(models []protocol.Model, preferences *protocol.ModelPreferences, allowed []string) (protocol.Model, string, bool) {
	var candidates []protocol.Model
	for _, m := range models {
		if Permits(allowed, m.ID) {
			candidates = append(candidates, m)
		}
	}
	if actual := withoutScripts(candidates); len(actual) > 0 {
		candidates = actual
	}
	switch {
	case len(candidates) == 0:
		return protocol.Model{}, "", false
	case len(candidates) == 1 && candidates[0].Provider == protocol.ProviderDemo:
		return candidates[0], "No language model is configured.", true
	case len(candidates) == 1:
		return candidates[0], "There is no other language model to choose.", true
	case preferences == nil:
		return candidates[0], "It is the first of yours; the server has no wish.", true
	}

	var why []string
	hints := hintsOf(preferences)
	for _, hint := range hints {
		if found := named(candidates, hint); len(found) > 0 {
			candidates = found
			why = append(why, "The server asked for "+quote(hint)+".")
			break
		}
		family := lookup(shipped(), hint).Family
		if found := familyOf(candidates, family); len(found) > 0 {
			candidates = found
			why = append(why, fmt.Sprintf("The server asked for %s, which you do not have; this is of its family, %s.", quote(hint), family))
			break
		}
	}
	if len(hints) > 0 && len(why) == 0 {
		why = append(why, "You have none of what the server asked for, "+quote(strings.Join(hints, ", "))+".")
	}
	wishes := wishesOf(preferences)
	switch {
	case len(candidates) == 1:
	case len(wishes) > 0:
		why = append(why, fmt.Sprintf("Of %d models it is the best for %s.", len(candidates), wishes))
		candidates = []protocol.Model{best(candidates, wishes)}
	case len(why) == 0:
		why = append(why, "It is the first of yours; the server has no wish.")
	default:
		why = append(why, fmt.Sprintf("It is the first of %d.", len(candidates)))
	}
	return candidates[0], strings.Join(why, " "), true
}

// withoutScripts returns the models without the demo.
func withoutScripts(models []protocol.Model) []protocol.Model {
	var actual []protocol.Model
	for _, m := range models {
		if m.Provider != protocol.ProviderDemo {
			actual = append(actual, m)
		}
	}
	return actual
}

func hintsOf(p *protocol.ModelPreferences) []string {
	var hints []string
	for _, h := range p.Hints {
		name := strings.TrimSpace(h.Name)
		if normal(name) != "" && len(name) <= mostHint && utf8.ValidString(name) && len(hints) < mostHints {
			hints = append(hints, name)
		}
	}
	return hints
}

// named returns the models with the hint in their names.
func named(models []protocol.Model, hint string) []protocol.Model {
	part := normal(hint)
	var found []protocol.Model
	for _, m := range models {
		if strings.Contains(normal(m.ID), part) || strings.Contains(normal(m.Name), part) || strings.Contains(normal(m.Family), part) {
			found = append(found, m)
		}
	}
	return found
}

func familyOf(models []protocol.Model, family string) []protocol.Model {
	var found []protocol.Model
	for _, m := range models {
		if family != "" && m.Family == family {
			found = append(found, m)
		}
	}
	return found
}

// wish is a priority of a server.
type wish struct {
	name   string
	weight float64
	of     func(protocol.ModelFacts) float64
}

type wishes []wish

// String formats the wishes for a sentence: "low cost (0.3) and speed (0.8)".
func (w wishes) String() string {
	var parts []string
	for _, wish := range w {
		parts = append(parts, fmt.Sprintf("%s (%.2g)", wish.name, wish.weight))
	}
	return strings.Join(parts, " and ")
}

// unknown is the neutral score of a model with unknown facts.
const unknown = 0.5

// wishesOf returns the priorities above zero. A server may send any number.
func wishesOf(p *protocol.ModelPreferences) wishes {
	value := func(of func(protocol.ModelFacts) *float64) func(protocol.ModelFacts) float64 {
		return func(f protocol.ModelFacts) float64 {
			if v := of(f); v != nil {
				return min(max(*v, 0), 1)
			}
			return unknown
		}
	}
	all := []struct {
		name     string
		priority *float64
		of       func(protocol.ModelFacts) float64
	}{
		{"low cost", p.CostPriority, cheapness},
		{"speed", p.SpeedPriority, value(func(f protocol.ModelFacts) *float64 { return f.Speed })},
		{"intelligence", p.IntelligencePriority, value(func(f protocol.ModelFacts) *float64 { return f.Intelligence })},
	}
	var w wishes
	for _, a := range all {
		if a.priority != nil && *a.priority > 0 {
			w = append(w, wish{a.name, min(*a.priority, 1), a.of})
		}
	}
	return w
}

// cheapness is 1 for a free model, and falls with the price. Requests of servers are mostly longer
// than their answers, so the input price weighs more.
func cheapness(f protocol.ModelFacts) float64 {
	if f.InputCost == nil || f.OutputCost == nil {
		return unknown
	}
	const half = 5 // dollars per million tokens at which the score is half that of a free model
	return half / (half + max(0, (3**f.InputCost+*f.OutputCost)/4))
}

// best returns the first of the models with the highest score.
func best(models []protocol.Model, w wishes) protocol.Model {
	return slices.MaxFunc(models, func(a, b protocol.Model) int {
		var difference float64
		for _, wish := range w {
			difference += wish.weight * (wish.of(a.ModelFacts) - wish.of(b.ModelFacts))
		}
		const even = 1e-9
		switch {
		case difference > even:
			return 1
		case difference < -even:
			return -1
		default:
			return 0 // MaxFunc takes the first
		}
	})
}

// Suits reports whether no known fact keeps a model from answering a request.
func Suits(m protocol.Model, request *protocol.McpSamplingRequest) bool {
	_, lacking := suited([]protocol.Model{m}, request)
	return lacking == ""
}

// suited returns the models that are not known to be unable to answer a request, and a line for the
// person about the request's needs. A need that no model is known to meet is ignored, and the line says
// so.
func suited(models []protocol.Model, request *protocol.McpSamplingRequest) ([]protocol.Model, string) {
	images, audio := false, false
	tokens := Estimate(request)
	for _, m := range request.Messages {
		for _, block := range m.Content {
			switch block.(type) {
			case protocol.ImageContent:
				images = true
			case protocol.AudioContent:
				audio = true
			}
		}
	}
	var picked, lacking []string
	need := func(what string, able func(protocol.Model) bool) {
		var left []protocol.Model
		for _, m := range models {
			if able(m) {
				left = append(left, m)
			}
		}
		if len(left) == 0 {
			lacking = append(lacking, what)
			return
		}
		if len(left) < len(models) {
			picked = append(picked, what)
		}
		models = left
	}
	is := func(m protocol.Model, part protocol.RequestPart, known *bool) bool {
		return !slices.Contains(m.Cannot, part) && (known == nil || *known)
	}
	if images {
		need("pictures", func(m protocol.Model) bool { return is(m, protocol.PartImages, m.Images) })
	}
	if audio {
		need("sound", func(m protocol.Model) bool { return is(m, protocol.PartAudio, nil) })
	}
	if len(request.Tools) > 0 {
		need("tools", func(m protocol.Model) bool { return is(m, protocol.PartTools, m.Tools) })
	}
	need("a request of this length", func(m protocol.Model) bool {
		return m.ContextTokens == 0 || tokens <= m.ContextTokens-request.MaxTokens
	})
	var why []string
	if len(picked) > 0 {
		why = append(why, "Models that do not take "+strings.Join(picked, " and ")+" were left out.")
	}
	if len(lacking) > 0 {
		why = append(why, "No model is known to take "+strings.Join(lacking, " and ")+".")
	}
	return models, strings.Join(why, " ")
}

// Permits reports whether a model's id matches one of allowed, in which * stands for any text, ignoring
// case. A nil list allows all.
func Permits(allowed []string, id string) bool {
	if allowed == nil {
		return true
	}
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		return wildcard.Match(strings.ToLower(pattern), strings.ToLower(id))
	})
}
