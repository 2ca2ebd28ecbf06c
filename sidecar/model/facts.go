package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"assent/protocol"
)

// models.json is Assent's own table of models: published prices in dollars, limits and abilities; speed
// and intelligence are a rough order. A model that is not in it has no disadvantage. The facts in the
// setting assent.model.endpoints are added to it.
//
//go:embed models.json
var shippedTable []byte

var shipped = sync.OnceValue(func() []protocol.ModelRow {
	var rows []protocol.ModelRow
	if err := json.Unmarshal(shippedTable, &rows); err != nil {
		panic(fmt.Sprintf("models.json, which a test reads, cannot be read: %v", err))
	}
	return rows
})

// facts returns the known facts about a model. The person's facts take precedence over the
// provider's, and those over the shipped table. Families are taken from the shipped table first,
// because the provider's names include versions.
func facts(m protocol.Model, own []protocol.ModelRow) protocol.ModelFacts {
	_, name, _ := strings.Cut(m.ID, ":")
	known := lookup(shipped(), name, m.Name)
	if m.Provider == protocol.ProviderVSCode {
		known.InputCost, known.OutputCost = nil, nil // these models belong to a subscription
	}
	if m.Provider == protocol.ProviderDemo {
		known = protocol.ModelFacts{} // its name is not a model's
	}
	mine := lookup(own, m.ID, m.Name)
	result := over(mine, over(m.ModelFacts, known))
	if mine.Family == "" && known.Family != "" {
		result.Family = known.Family
	}
	return result
}

// lookup returns the facts of the row with the longest match.
func lookup(rows []protocol.ModelRow, names ...string) protocol.ModelFacts {
	var best protocol.ModelRow
	for _, row := range rows {
		if len(row.Match) <= len(best.Match) {
			continue
		}
		for _, name := range names {
			if hasWord(normal(name), normal(row.Match)) {
				best = row
				break
			}
		}
	}
	return best.ModelFacts
}

// normal maps the spellings of a name to one: "Claude Sonnet 4.5", "anthropic/claude-sonnet-4-5".
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '.', ' ', '_', ':':
			return '-'
		default:
			return r
		}
	}, strings.ToLower(name))
}

// hasWord reports whether name contains part as a whole word: "gpt-4" is not in "gpt-4o".
func hasWord(name, part string) bool {
	for from := 0; part != ""; {
		i := strings.Index(name[from:], part)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(part)
		if (start == 0 || !isWord(name[start-1])) && (end == len(name) || !isWord(name[end])) {
			return true
		}
		from = start + 1
	}
	return false
}

func isWord(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' }

// over returns the facts of a, completed by those of b.
func over(a, b protocol.ModelFacts) protocol.ModelFacts {
	if a.Family == "" {
		a.Family = b.Family
	}
	if a.ContextTokens == 0 {
		a.ContextTokens = b.ContextTokens
	}
	orElse(&a.InputCost, b.InputCost)
	orElse(&a.OutputCost, b.OutputCost)
	orElse(&a.Images, b.Images)
	orElse(&a.Tools, b.Tools)
	orElse(&a.Speed, b.Speed)
	orElse(&a.Intelligence, b.Intelligence)
	return a
}

func orElse[T any](p **T, other *T) {
	if *p == nil {
		*p = other
	}
}
