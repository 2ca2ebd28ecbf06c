package main

import (
	"bytes"
	"fmt"
	"go/types"
	"regexp"
	"strings"
)

// typeScript writes protocol.ts.
func (a *api) typeScript() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	for i, c := range a.consts {
		if i > 0 {
			b.WriteString("\n")
		}
		writeTSDoc(&b, "", c.doc)
		fmt.Fprintf(&b, "export const %s = %s;\n", c.name, c.value)
	}
	for _, s := range a.services {
		a.writeService(&b, s)
	}
	for _, d := range a.decls {
		if err := a.writeType(&b, d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return b.Bytes(), nil
}

func (a *api) writeService(b *bytes.Buffer, s *service) {
	fmt.Fprintf(b, "\n/** The requests of {@link %[1]s}: params and result by method. */\nexport interface %[1]sRequests {\n", s.name)
	for _, m := range s.methods {
		if m.result != "" {
			writeTSDoc(b, "  ", m.doc)
			fmt.Fprintf(b, "  %q: { params: %s; result: %s };\n", m.wire, orUndefined(m.params), m.result)
		}
	}
	fmt.Fprintf(b, "}\n\n/** The notifications of {@link %[1]s}: params by method. */\nexport interface %[1]sNotifications {\n", s.name)
	for _, m := range s.methods {
		if m.result == "" {
			writeTSDoc(b, "  ", m.doc)
			fmt.Fprintf(b, "  %q: %s;\n", m.wire, orUndefined(m.params))
		}
	}
	b.WriteString("}\n\n")
	writeTSDoc(b, "", s.doc)
	fmt.Fprintf(b, "export interface %[1]s {\n  requests: %[1]sRequests;\n  notifications: %[1]sNotifications;\n}\n", s.name)
}

func orUndefined(name string) string {
	if name == "" {
		return "undefined"
	}
	return name
}

func (a *api) writeType(b *bytes.Buffer, d *decl) error {
	b.WriteByte('\n')
	writeTSDoc(b, "", d.doc)
	if u := a.unions[d.name]; u != nil {
		fmt.Fprintf(b, "export type %s =", d.name)
		for _, v := range u.variants {
			fmt.Fprintf(b, "\n  | %s", v.name)
		}
		b.WriteString(";\n")
		return nil
	}
	switch t := d.typ.Underlying().(type) {
	case *types.Struct:
		return a.writeInterface(b, d)
	case *types.Basic:
		return writeEnum(b, d, t)
	default:
		return fmt.Errorf("cannot write %s", t)
	}
}

func (a *api) writeInterface(b *bytes.Buffer, d *decl) error {
	fmt.Fprintf(b, "export interface %s", d.name)
	if len(d.embeds) > 0 {
		fmt.Fprintf(b, " extends %s", strings.Join(d.embeds, ", "))
	}
	b.WriteString(" {\n")
	if d.unionTag != "" {
		fmt.Fprintf(b, "  type: %q;\n", d.unionTag)
	}
	for _, f := range d.fields {
		if f.json == "-" {
			continue // it does not travel
		}
		if f.json == "" {
			return fmt.Errorf("field %s has no json name", f.name)
		}
		typ, nullable, err := tsType(f.typ)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
		mark := ""
		switch {
		case f.optional:
			mark = "?"
		case nullable:
			typ += " | null"
		}
		writeTSDoc(b, "  ", f.doc)
		fmt.Fprintf(b, "  %s%s: %s;\n", f.json, mark, typ)
	}
	b.WriteString("}\n")
	return nil
}

// writeEnum writes a type with constants: a union of literals for strings, and for numbers an
// object too, because -32104 says less than its name.
func writeEnum(b *bytes.Buffer, d *decl, t *types.Basic) error {
	if len(d.consts) == 0 {
		return fmt.Errorf("a %s without constants", t)
	}
	if t.Info()&types.IsString != 0 {
		fmt.Fprintf(b, "export type %s =", d.name)
		for _, c := range d.consts {
			b.WriteByte('\n')
			writeTSDoc(b, "  ", c.doc)
			fmt.Fprintf(b, "  | %s", c.value)
		}
		b.WriteString(";\n")
		return nil
	}
	fmt.Fprintf(b, "export const %s = {\n", d.name)
	prefix := strings.TrimPrefix(d.name, "Error")
	for _, c := range d.consts {
		writeTSDoc(b, "  ", c.doc)
		fmt.Fprintf(b, "  %s: %s,\n", strings.TrimPrefix(c.name, prefix), c.value)
	}
	fmt.Fprintf(b, "} as const;\nexport type %[1]s = (typeof %[1]s)[keyof typeof %[1]s];\n", d.name)
	return nil
}

// tsType returns t in TypeScript, and whether encoding/json may write null for it.
func tsType(t types.Type) (text string, nullable bool, err error) {
	switch t := t.(type) {
	case *types.Pointer:
		text, _, err = tsType(t.Elem())
		return text, true, err
	case *types.Slice:
		text, _, err = tsType(t.Elem())
		if strings.ContainsAny(text, " |") {
			text = "(" + text + ")"
		}
		return "readonly " + text + "[]", true, err
	case *types.Map:
		if key, ok := t.Key().(*types.Basic); !ok || key.Info()&types.IsString == 0 {
			return "", false, fmt.Errorf("no TypeScript for %s", t)
		}
		text, _, err = tsType(t.Elem())
		return "Readonly<Record<string, " + text + ">>", true, err
	case *types.Alias:
		if t.Obj().Name() == "any" {
			return "unknown", false, nil
		}
	case *types.Named:
		if t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "encoding/json" {
			return "unknown", false, nil
		}
		return t.Obj().Name(), false, nil
	case *types.Basic:
		switch {
		case t.Info()&types.IsString != 0:
			return "string", false, nil
		case t.Info()&types.IsBoolean != 0:
			return "boolean", false, nil
		case t.Info()&types.IsNumeric != 0:
			return "number", false, nil
		}
	}
	return "", false, fmt.Errorf("no TypeScript for %s", t)
}

var docLink = regexp.MustCompile(`\[([A-Z][A-Za-z.]*)\]`)

// writeTSDoc writes a Go comment as TSDoc; Go's links become code, since the names they lead to are
// Go's.
func writeTSDoc(b *bytes.Buffer, indent, doc string) {
	if doc == "" {
		return
	}
	doc = docLink.ReplaceAllString(strings.ReplaceAll(doc, "*/", "*\\/"), "`$1`")
	lines := strings.Split(doc, "\n")
	if len(lines) == 1 {
		fmt.Fprintf(b, "%s/** %s */\n", indent, lines[0])
		return
	}
	fmt.Fprintf(b, "%s/**\n", indent)
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	fmt.Fprintf(b, "%s */\n", indent)
}
