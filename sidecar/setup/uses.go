package setup

import (
	"os"
	"path/filepath"
	"slices"
)

// Use is a host's own file, and how the host reaches the MCP servers in it.
type Use struct {
	// Host is the host's name, and Path the path of its file.
	Host string
	Path string
	// Through are the names in Assent of the servers that it uses through Assent. An empty name stands for all servers.
	Through []string
	// Missing is the program that it would start for that, if there is no such program.
	Missing string
	// Direct are the names of the servers that it uses itself.
	Direct []string
}

// Uses returns the files of the hosts, in the order in which Find read them. Files in project folders that do not start
// Assent are left out.
func (p *Plan) Uses() []Use {
	var uses []Use
	for _, c := range p.copies {
		if c.Project && !c.Routed {
			continue
		}
		i := slices.IndexFunc(uses, func(u Use) bool { return u.Path == c.Path })
		if i < 0 {
			uses = append(uses, Use{Host: c.Host, Path: c.Path})
			i = len(uses) - 1
		}
		u := &uses[i]
		switch {
		case !c.Routed:
			u.Direct = addOnce(u.Direct, c.Name)
		default:
			u.Through = addOnce(u.Through, c.routed.Server)
			if !p.isThere(c.routed.Program) {
				u.Missing = c.routed.Program
			}
		}
	}
	return uses
}

// isThere reports whether a host can start a program, by its name or its absolute path.
func (p *Plan) isThere(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	return p.options.Installed == nil || p.options.Installed(program)
}

func addOnce(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
