package terminal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assent/protocol"
)

// grantsCommand is "assent grants", with its subcommands.
func grantsCommand(o Options) *cobra.Command {
	list := command{
		use: "grants", short: "list the grants: permissions for completions without a question", keeps: true,
		long: `grants lists the grants, the newest first: the id, the server, the tool, whether it is in force, its models, its bounds and
usage, and its creator.`,
		example: "  assent grants\n  assent grants --data-dir kept --output json\n  assent grants revoke 0198f2c4",
		run:     atOnce(func(ctx context.Context, s *session) error { return s.listGrants(ctx) }),
	}.build(o)
	list.AddCommand(command{
		use: "revoke ID", short: "end a grant at once", words: otherWords, own: []string{"ID"}, keeps: true,
		long:    "revoke ends a grant; you review the answers under way under it. A unique beginning of the id is enough.",
		example: "  assent grants revoke 0198f2c4 --data-dir kept",
		run: func(ctx context.Context, s *session, words []string) error {
			return s.untilInterrupted(ctx, func(ctx context.Context) error { return s.revokeGrant(ctx, words[0]) })
		},
	}.build(o))
	return list
}

// grantList is what "assent grants --output json" prints.
type grantList struct {
	Grants []protocol.Grant `json:"grants,omitempty"`
}

// grants returns all grants, the newest first.
func (s *session) grants(ctx context.Context) (*grantList, error) {
	policy, err := s.sidecar.ListPolicy(ctx)
	if err != nil {
		return nil, err
	}
	var list grantList
	for _, e := range policy.Entries {
		if g, ok := e.(protocol.PolicyGrant); ok {
			list.Grants = append(list.Grants, g.Grant)
		}
	}
	return &list, nil
}

func (s *session) listGrants(ctx context.Context) error {
	list, err := s.grants(ctx)
	if err != nil {
		return err
	}
	t := table{columns: []column{
		{header: "id", ids: true}, {header: "server"}, {header: "tool"}, {header: "state"}, {header: "models"}, {header: "bounds"}, {header: "by"},
	}}
	for _, g := range list.Grants {
		state := "open"
		if g.EndedAt > 0 {
			state = "ended"
		}
		t.rows = append(t.rows, []string{g.ID, g.ServerName, g.ToolName, state, strings.Join(g.Models, " "), bounds(g), g.By})
	}
	return s.list(list, t, "There are no grants in "+s.line.dataDir+".")
}

// bounds lists the bounds of a grant, and how much of each is spent.
func bounds(g protocol.Grant) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if g.MaxRequests > 0 {
		add("%d of %d requests", g.Spent.Requests, g.MaxRequests)
	} else {
		add("%d requests", g.Spent.Requests)
	}
	if g.MaxTokens > 0 {
		add("%d of %d tokens", g.Spent.Tokens, g.MaxTokens)
	}
	if g.MaxCost > 0 {
		add("$%.2f of $%.2f", g.Spent.Cost, g.MaxCost)
	}
	if g.ExpiresAt > 0 {
		add("until %s", time.UnixMilli(g.ExpiresAt).Format(time.RFC3339))
	}
	if g.Session {
		add("for its session")
	}
	return strings.Join(parts, ", ")
}

func (s *session) revokeGrant(ctx context.Context, id string) error {
	list, err := s.grants(ctx)
	if err != nil {
		return err
	}
	var found, ids []string
	for _, g := range list.Grants {
		ids = append(ids, g.ID)
		if g.ID == id {
			found = []string{id}
			break
		}
		if strings.HasPrefix(g.ID, id) {
			found = append(found, g.ID)
		}
	}
	switch len(found) {
	case 0:
		return usagef("there is no grant %q%s", id, hint(id, ids))
	case 1:
	default:
		return usagef("several grants begin with %q: write more of it", id)
	}
	grant, err := s.sidecar.RevokeGrant(ctx, &protocol.RevokeGrantParams{GrantID: found[0]})
	if err != nil {
		return err
	}
	if s.line.json {
		return s.printJSON(grant)
	}
	return s.print("%s\t%s\tended\n", grant.ID, grant.ServerName)
}
