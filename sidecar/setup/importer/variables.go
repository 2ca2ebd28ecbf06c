package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// variables is how a host writes variables, and how it replaces them.
type variables struct {
	// find finds one. It is nil if there are none, which is the zero value.
	find func() *regexp.Regexp
	// translate returns one as mcp.json has it, or why Assent does not have it. The sentence ends a text that names it.
	translate func(t *translation, match string) (text, why string)
	// written is how the host writes one of the environment, with %s for its name.
	written string
	// names are those of an editor's variables.
	names []string
	// tildes says that the host replaces ~ in arguments, too.
	tildes bool
	// ownHeaders says that $NAME in a header or the URL is a variable of the entry itself. ownTexts says so of NAME
	// everywhere, except in the variables of the entry.
	ownHeaders, ownTexts bool
	// noDefaults says that the host may not know ${NAME:-default}.
	noDefaults bool
	// emptied says that the host makes a variable empty that is not set, in env and headers. Elsewhere its text stays.
	emptied bool
}

var (
	// prefixed: as in mcp.json, ${env:NAME} and others.
	prefixed = variables{find: inBraces, translate: editorVariable, written: "${env:%s}", names: editorNames}
	ofVSCode = variables{find: inBraces, translate: editorVariable, written: "${env:%s}", names: editorNames, tildes: true}
	// ofRoo: ${env:NAME} and the folder. onlyEnv: ${env:NAME} alone.
	ofRoo   = variables{find: inBraces, translate: editorVariable, written: "${env:%s}", names: []string{"workspaceFolder"}}
	onlyEnv = variables{find: inBraces, translate: editorVariable, written: "${env:%s}"}
	// shell: ${NAME} and ${NAME:-default}. The text of one that is not set stays. shellPlain: without defaults.
	shell      = variables{find: inBraces, translate: shellVariable, written: "${%s}"}
	shellPlain = variables{find: inBraces, translate: shellVariable, written: "${%s}", noDefaults: true}
	// The next three: also $NAME.
	ofCopilot = variables{find: bareOrInBraces, translate: shellVariable, written: "$%s", ownTexts: true}
	ofGemini  = variables{find: bareOrInBraces, translate: shellVariable, written: "$%s", emptied: true}
	ofQwen    = variables{find: bareOrInBraces, translate: shellVariable, written: "$%s", noDefaults: true}
	// braces: {env:NAME}, which is empty if it is not set.
	braces  = variables{find: singleBraces, translate: singleVariable, written: "{env:%s}"}
	ofGoose = variables{ownHeaders: true}

	editorNames = []string{"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"}
)

var (
	inBraces       = lazyregexp.New(`\$\{[^}]+\}`)
	bareOrInBraces = lazyregexp.New(`\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}]+\})`)
	singleBraces   = lazyregexp.New(`\{(?:env|file):[^}]*\}`)
	// ours is a variable of mcp.json.
	ours         = lazyregexp.New(`\$\{[^}]*\}`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// text translates the variables in a text. The rest of it must not have variables of mcp.json.
func (t *translation) text(where, text string) string {
	var out strings.Builder
	plain := func(text string) {
		if match := ours().FindString(text); match != "" {
			t.fail("%s holds %s, which %s uses as text; Assent replaces it by a variable's value, or does not start the server if there is none.",
				upper(where), t.shown(match, "the text of a variable", ""), t.dialect.name)
		}
		out.WriteString(text)
	}
	end := 0
	if t.variables.find != nil {
		for _, at := range t.variables.find().FindAllStringIndex(text, -1) {
			plain(text[end:at[0]])
			match := text[at[0]:at[1]]
			if t.variables.emptied && (t.inEnv || t.inHeaders) && strings.HasSuffix(text[end:at[0]], "$") {
				t.fail("%s has a $ before a variable, and %s reads the value of both as another variable.", upper(where), t.dialect.name)
			}
			end = at[1]
			translated, why := t.variables.translate(t, match)
			if why != "" {
				if !t.moves {
					why += ": the server will not start until it is replaced"
				}
				t.fail("%s holds %s, %s.", upper(where), t.shown(match, "a variable", "the variable "), why)
				translated = match
			}
			out.WriteString(translated)
		}
	}
	plain(text[end:])
	return out.String()
}

// shown returns a variable after some words, without its default, which may be a secret. In a secret it returns other words.
func (t *translation) shown(match, inSecret, words string) string {
	if t.inSecret {
		return inSecret
	}
	if name, _, ok := strings.Cut(match, ":-"); ok {
		match = name + ":-…}"
	}
	return fmt.Sprintf("%s%.100s", words, match)
}

// Replaces reports whether the host replaces a part of a text, such as an argument of Assent, by the value of a variable.
func (pl Place) Replaces(text string) bool {
	return pl.variables.find != nil && pl.variables.find().MatchString(text)
}

// editorVariable translates a variable of VS Code.
func editorVariable(t *translation, match string) (text, why string) {
	kind, id, hasID := strings.Cut(match[2:len(match)-1], ":")
	switch {
	case kind == "env" && hasID && !strings.Contains(id, ":-") && (t.passes == passesAll || variableName().MatchString(id)):
		return match, ""
	case kind == "input" && t.dialect.hasInputs:
		t.input(id)
		return match, ""
	case !hasID && slices.Contains(t.variables.names, kind):
		return match, ""
	}
	return "", "which Assent does not know"
}

// shellVariable translates a variable in the way of a shell. The host leaves the text of one that is not set. So does Assent
// for a server that moves, because the server may read it, or it may be no variable at all.
func shellVariable(t *translation, match string) (text, why string) {
	inside, braced := strings.CutPrefix(match[1:], "{")
	if braced {
		inside = strings.TrimSuffix(inside, "}")
	}
	name, otherwise, hasDefault := strings.Cut(inside, ":-")
	isProject := name == "CLAUDE_PROJECT_DIR" && (!t.moves || t.id == "claude-code")
	switch {
	case isProject && t.moves && !hasDefault:
		return "", "which Claude Code leaves as text without a default, as in ${CLAUDE_PROJECT_DIR:-.}"
	case isProject && !t.moves:
		return "${workspaceFolder}", ""
	case !variableName().MatchString(name):
		return "", "which Assent does not know"
	case strings.ContainsAny(otherwise, "${}") || strings.Contains(otherwise, ":-"):
		return "", "with a default that Assent reads in another way"
	case t.moves && hasDefault && t.variables.noDefaults:
		return "", fmt.Sprintf("with a default, which %s may use as text", t.dialect.name)
	case t.moves && t.variables.ownTexts && !t.inEnv && t.ownNames[name]:
		return "", "which is one of the entry itself, and not of the environment"
	case isProject:
		return otherwise, "" // it is set for servers, and not yet when Claude Code reads its file
	case hasDefault && otherwise == "" && t.passes == passesAll:
		text = "${env:" + name + "}"
	case hasDefault:
		text = "${env:" + name + ":-" + otherwise + "}"
	case !t.moves || t.env(name) != "":
		text = "${env:" + name + "}"
	case slices.Contains(editorNames, name):
		return "", "which is not set, and Assent has a variable with the same text"
	case t.variables.emptied && !t.inEnv && !t.inHeaders:
		return "", "which is not set where setup runs"
	default:
		text = "${env:" + name + ":-" + match + "}"
	}
	if was, ok := t.uses[name]; ok && was != text && t.moves && t.passes != passesAll {
		return "", fmt.Sprintf("and another one with the name %s, but %s can give Assent only one of them", name, t.dialect.name)
	}
	t.uses[name] = text
	return text, ""
}

// singleVariable translates a variable of opencode.
func singleVariable(_ *translation, match string) (text, why string) {
	kind, name, _ := strings.Cut(match[1:len(match)-1], ":")
	switch {
	case kind == "file":
		return "", "which stands for the text of a file, and Assent has no such variable"
	case !variableName().MatchString(name):
		return "", "which Assent does not know"
	}
	return "${env:" + name + "}", ""
}

// home translates a path that begins with the person's folder.
func (t *translation) home(text string) (prefix, rest string) {
	if text == "~" || strings.HasPrefix(text, "~/") || strings.HasPrefix(text, `~\`) {
		return "${userHome}", text[1:]
	}
	return "", text
}

// passedOn returns the environment's variables in an entry of mcp.json, each with the text of the host that stands for it.
func (v variables) passedOn(entry []byte) map[string]string {
	all := map[string]string{}
	for _, match := range ofEnvironment().FindAllSubmatch(entry, -1) {
		name, otherwise := string(match[1]), string(match[2])
		switch {
		case all[name] != "" || slices.Contains(usual, name):
		case match[2] == nil:
			all[name] = fmt.Sprintf(cmp.Or(v.written, "%s"), name)
		case strings.HasPrefix(otherwise, "$"):
			all[name] = otherwise
		default:
			all[name] = "${" + name + ":-" + otherwise + "}"
		}
	}
	return all
}

// usual are variables that every host passes on.
var usual = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}

var ofEnvironment = lazyregexp.New(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^{}]|\{[^{}]*\})*))?\}`)
