package terminal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"assent/protocol"
)

// permissionText returns the text above the question whether an agent may do something: the exact command comes first. It is
// safe to show.
func permissionText(q protocol.HostPermission) string {
	var b strings.Builder
	if q.Plan != "" {
		fmt.Fprintf(&b, "%s has a plan, and asks whether it may follow it:\n\n%s\n", safe(q.ServerName), safe(q.Plan))
	} else {
		fmt.Fprintf(&b, "%s asks whether it may use %s:\n", safe(q.ServerName), safe(q.Tool))
	}
	if q.Command != "" {
		fmt.Fprintf(&b, "\n%s\n", safe(q.Command))
	}
	fmt.Fprintf(&b, "\nThe whole input:\n%s\n", safe(indented([]byte(q.Input))))
	if q.AskFirst != "" {
		fmt.Fprintf(&b, "\n%s\n", safe(q.AskFirst))
	}
	if q.Folder != "" {
		fmt.Fprintf(&b, "\nIn %s\n", safe(q.Folder))
	}
	if q.Agent != "" {
		fmt.Fprintf(&b, "A sub-agent asks: %s\n", safe(q.Agent))
	}
	if q.Claim != "" {
		fmt.Fprintf(&b, "The model says about it: %s\n", safe(q.Claim))
	}
	if q.DeclineMeans != "" {
		fmt.Fprintf(&b, "%s\n", safe(q.DeclineMeans))
	}
	for i, o := range q.Options[min(1, len(q.Options)):] {
		fmt.Fprintf(&b, "%d: %s. %s\n", i+1, safe(o.Name), safe(o.Means))
	}
	return b.String()
}

// permit asks whether an agent may do something.
func (p *person) permit(ctx context.Context, a *openAsk, q protocol.HostPermission) (*protocol.AskResponseParams, error) {
	p.s.note("\n%s", permissionText(q))
	words := []string{"yes", "no"}
	for i := range q.Options[min(1, len(q.Options)):] {
		words = append(words, strconv.Itoa(i+1))
	}
	word, err := p.choose(ctx, "Allow it? ("+strings.Join(words, ", ")+"; :cancel leaves it to the prompt there): ", words...)
	switch {
	case err != nil:
		return nil, err
	case word == "no":
		return nil, errDeclined
	}
	at, _ := strconv.Atoi(word) // yes is 0
	return a.permitted(q, at), nil
}

// permit asks whether an agent may do something.
func (q *dialogs) permit(ctx context.Context, a *openAsk, of protocol.HostPermission) (*protocol.AskResponseParams, error) {
	names := []string{"Allow it once"}
	for i, o := range of.Options[min(1, len(of.Options)):] {
		names = append(names, fmt.Sprintf("%d: %s", i+1, oneLine(o.Name, 200)))
	}
	at, err := q.choose(ctx, permissionText(of), "May it?", true, append(names, "Decline, and tell the model", "Leave it to the prompt there")...)
	switch {
	case err != nil:
		return nil, err
	case at == len(names):
		return nil, errDeclined
	case at > len(names):
		return nil, errDismissed
	}
	return a.permitted(of, at), nil
}

// permitted returns the answer that allows something in one of the ways that the host offered.
func (a *openAsk) permitted(q protocol.HostPermission, at int) *protocol.AskResponseParams {
	response := a.response(protocol.YesButtonClicked)
	if at < len(q.Options) {
		response.Permission = &protocol.PermissionAnswer{OptionID: q.Options[at].ID}
	}
	return response
}
