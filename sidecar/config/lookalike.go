package config

import (
	"fmt"

	"assent/protocol"
	"assent/sidecar/base/visible"
)

// lookalikes reports the servers with a name that looks like that of another one. Of the person's own servers and others, the
// others are reported: a file of a workspace may imitate a name that the person knows.
func (l *loader) lookalikes() {
	alike := map[string][]int{} // by skeleton
	for i, s := range l.result.Servers {
		skeleton := visible.Skeleton(s.Name)
		alike[skeleton] = append(alike[skeleton], i)
	}
	for i := range l.result.Servers {
		s := &l.result.Servers[i]
		others := alike[visible.Skeleton(s.Name)]
		if len(others) < 2 {
			continue
		}
		known := others[0] // the one whose name is imitated: an own one, or the first
		for _, at := range others {
			if l.result.Servers[at].Own && !l.result.Servers[known].Own {
				known = at
			}
		}
		if i == known {
			continue
		}
		text := resembles(s.Name, l.result.Servers[known])
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
