package importer

import (
	"fmt"
	"slices"
	"strings"
)

// dialects are those of all hosts.
var dialects = []dialect{
	claudeDesktop, claudeCode, codex, cursor, vscode, copilot, gemini, qwen, opencode, cline, roo, kilo, kiloCLI, windsurf, zed, goose, continueDev, kiro, junie, amp,
}

// VariableTable returns a table in Markdown of the variables that hosts replace, and of what becomes of them.
func VariableTable() string {
	type row struct{ hosts, cells []string }
	var rows []row
	for _, d := range dialects {
		cells := d.variables.cells(d.passes)
		if i := slices.IndexFunc(rows, func(r row) bool { return slices.Equal(r.cells, cells) }); i >= 0 {
			rows[i].hosts = append(rows[i].hosts, d.id)
		} else {
			rows = append(rows, row{[]string{d.id}, cells})
		}
	}
	var out strings.Builder
	out.WriteString("| hosts | a variable | if it is not set | a default | others | reaches Assent |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s | %s |\n", strings.Join(slices.Compact(r.hosts), ", "), strings.Join(r.cells, " | "))
	}
	return out.String()
}

// cells returns the cells of a row.
func (v variables) cells(p passing) []string {
	passes := map[passing]string{passesAll: "with the environment", passesNamed: "by `env_vars`", passesFew: "by `env`"}[p]
	if v.find == nil {
		others := "-"
		if v.ownHeaders {
			others = "`$NAME` in the URL and headers: left alone"
		}
		if p != passesNamed {
			passes = "-"
		}
		return []string{"-", "-", "-", others, passes}
	}
	written := "`" + fmt.Sprintf(v.written, "NAME") + "`"
	unset, otherwise := "its text stays", "`${NAME:-default}`"
	var others []string
	if v.find().MatchString("$NAME") {
		written += ", `${NAME}`"
	}
	switch {
	case strings.Contains(v.written, "env:"):
		otherwise = "-"
		unset = "it is empty"
		if p != passesAll {
			unset = "as the host has it"
		}
	case p != passesAll && v.noDefaults:
		unset = "as the host has it"
	case v.emptied:
		unset = "it is empty in `env` and headers; elsewhere left alone"
	}
	if v.noDefaults {
		otherwise = "left alone"
	}
	for _, name := range v.names {
		others = append(others, "`${"+name+"}`")
	}
	if v.tildes {
		others = append(others, "`~` in arguments")
	}
	if v.ownTexts {
		others = append(others, "a name of the entry's `env`: left alone")
	}
	if v.written == "{env:%s}" {
		others = append(others, "`{file:…}`: left alone")
	}
	if len(others) == 0 {
		others = []string{"-"}
	}
	return []string{written, unset, otherwise, strings.Join(others, ", "), passes}
}

// MemberTable returns the table in Markdown. The names of hosts are those on a command line.
func MemberTable() string {
	var out strings.Builder
	out.WriteString("| members | hosts | meaning | what setup does |\n| --- | --- | --- | --- |\n")
	for i := 0; i < len(members); {
		m := members[i]
		var names []string
		for ; i < len(members) && members[i].Meaning == m.Meaning && members[i].Treatment == m.Treatment && slices.Equal(members[i].Hosts, m.Hosts); i++ {
			names = append(names, "`"+members[i].Name+"`")
		}
		hosts := strings.Join(m.Hosts, ", ")
		if hosts == "*" {
			hosts = "all"
		}
		meaning := m.Meaning
		if m.Treatment == Alone {
			meaning = "it " + meaning
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", strings.Join(names, ", "), hosts, meaning, m.Treatment)
	}
	return out.String()
}
