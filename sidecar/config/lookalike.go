package config

import (
	"fmt"

	"assent/protocol"
	"assent/sidecar/base/visible"
)

// lookalikes reports the servers with a name that looks like that of another one. Of the person's own servers and others, the
// others are reported: a file of a workspace may imitate a name that the person knows.
func (l *loader) lookalikes() {
	// The one with the name that others imitate, by skeleton: an own one, or the first.
	known := map[string]int{}
	for i, s := range l.result.Servers {
		skeleton := visible.Skeleton(s.Name)
		if at, ok := known[skeleton]; !ok || s.Own && !l.result.Servers[at].Own {
			known[skeleton] = i
		}
	}
	for i := range l.result.Servers {
		s := &l.result.Servers[i]
		at := known[visible.Skeleton(s.Name)]
		if i == at {
			continue
		}
		text := resembles(s.Name, l.result.Servers[at])
		problem := l.places[s.Name]
		if problem.Source == "" {
			problem = protocol.ConfigProblem{Source: s.Source}
		}
		problem.Message = fmt.Sprintf("the server %q: %s", s.Name, text)
		l.result.Problems = append(l.result.Problems, problem)
		if !s.Own {
			s.Resembles = text
		}
	}
}

// resembles says that a name looks like that of another server.
func resembles(name string, other Server) string {
	text := fmt.Sprintf("Its name looks like that of another server, %q of %s.", other.Name, other.Source)
	if spelled := visible.Spelled(name); spelled != name {
		text += fmt.Sprintf(" Its own is written %s.", spelled)
	}
	return text
}
