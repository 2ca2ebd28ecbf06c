package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// api is what the generator needs to know of the package, in the order of its files and
// declarations.
type api struct {
	name string
	// consts are those marked //protocol:const, by their names in TypeScript.
	consts   []*constant
	services []*service
	decls    []*decl
	unions   map[string]*union
}

// service is one of the two interfaces of the wire.
type service struct {
	name    string
	doc     string
	methods []*method
}

// method is a request, or a notification if it has no result. Params and result are names of
// structs, or empty.
type method struct {
	name, wire, doc string
	params, result  string
}

// decl is a type that both languages have.
type decl struct {
	name   string
	doc    string
	typ    types.Type
	fields []*field // of a struct
	embeds []string // of a struct
	consts []*constant
	// unions and unionTag are set on a variant. The member that has the tag is not among its fields.
	unions   []string
	unionTag string
}

type field struct {
	name, json, doc string
	typ             types.Type
	optional        bool
}

type constant struct {
	name, value, doc string
}

type union struct {
	name, doc string
	variants  []*decl
}

// load reads the package's own source, without its generated file: stale output must never stand in
// the way of its renewal.
func load(dir string) (*api, error) {
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}

	if build.Default.GOROOT == "" { // built with -trimpath
		where, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("go env GOROOT: %w", err)
		}
		build.Default.GOROOT = strings.TrimSpace(string(where))
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	pkg, err := config.Check(files[0].Name.Name, fset, files, info)
	if err != nil {
		return nil, err
	}

	a := &api{name: pkg.Name(), unions: map[string]*union{}}
	for _, file := range files {
		for _, d := range file.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			if err := a.addDecl(gen, info); err != nil {
				return nil, fmt.Errorf("%s: %w", fset.Position(gen.Pos()), err)
			}
		}
	}
	return a, a.link()
}

func (a *api) addDecl(gen *ast.GenDecl, info *types.Info) error {
	switch gen.Tok {
	case token.TYPE:
		for _, spec := range gen.Specs {
			ts := spec.(*ast.TypeSpec)
			comment := ts.Doc
			if comment == nil {
				comment = gen.Doc
			}
			if err := a.addType(ts, comment, info); err != nil {
				return fmt.Errorf("%s: %w", ts.Name.Name, err)
			}
		}
	case token.CONST:
		for _, spec := range gen.Specs {
			if err := a.addConst(spec.(*ast.ValueSpec), gen, info); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *api) addType(ts *ast.TypeSpec, comment *ast.CommentGroup, info *types.Info) error {
	if !ts.Name.IsExported() {
		return nil
	}
	doc, directive, args := splitDoc(comment)
	if doc == "" {
		return fmt.Errorf("has no doc comment")
	}
	obj := info.Defs[ts.Name]
	if iface, ok := ts.Type.(*ast.InterfaceType); ok {
		if directive == "union" {
			a.unions[ts.Name.Name] = &union{name: ts.Name.Name, doc: doc}
			a.decls = append(a.decls, &decl{name: ts.Name.Name, doc: doc, typ: obj.Type()})
			return nil
		}
		if ts.Name.Name == "Conn" {
			return nil
		}
		return a.addService(ts.Name.Name, doc, iface)
	}
	d := &decl{name: ts.Name.Name, doc: doc, typ: obj.Type()}
	if directive == "variant" {
		if len(args) != 2 {
			return fmt.Errorf("//protocol:variant wants a union, or several with commas, and a tag")
		}
		d.unions, d.unionTag = strings.Split(args[0], ","), args[1]
	}
	if st, ok := ts.Type.(*ast.StructType); ok {
		typ := obj.Type().Underlying().(*types.Struct)
		if err := d.addFields(st, typ); err != nil {
			return err
		}
		if d.unionTag != "" {
			if err := d.cutTag(typ); err != nil {
				return err
			}
		}
	}
	// A struct without one json tag (Error) is Go's own and never travels.
	if len(d.fields) > 0 && !slices.ContainsFunc(d.fields, func(f *field) bool { return f.json != "" }) {
		return nil
	}
	a.decls = append(a.decls, d)
	return nil
}

func (d *decl) addFields(st *ast.StructType, typ *types.Struct) error {
	i := 0
	for _, astField := range st.Fields.List {
		doc, _, _ := splitDoc(astField.Doc)
		if len(astField.Names) == 0 {
			d.embeds = append(d.embeds, typ.Field(i).Name())
			i++
			continue
		}
		for range astField.Names {
			v := typ.Field(i)
			tag := reflect.StructTag(typ.Tag(i)).Get("json")
			name, options, _ := strings.Cut(tag, ",")
			d.fields = append(d.fields, &field{
				name: v.Name(), json: name, doc: doc, typ: v.Type(),
				optional: strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"),
			})
			i++
		}
	}
	return nil
}

// cutTag takes the tag off a variant's fields. It has to be the first, as it is on the wire.
func (d *decl) cutTag(typ *types.Struct) error {
	want := fmt.Sprintf("Type tag[%s] `json:\"type\"`", d.name)
	if typ.NumFields() > 0 {
		first := types.TypeString(typ.Field(0).Type(), func(*types.Package) string { return "" })
		if fmt.Sprintf("%s %s `%s`", typ.Field(0).Name(), first, typ.Tag(0)) == want {
			d.fields = d.fields[1:]
			return nil
		}
	}
	return fmt.Errorf("a variant begins with %s", want)
}

func (a *api) addService(name, doc string, iface *ast.InterfaceType) error {
	s := &service{name: name, doc: doc}
	for _, m := range iface.Methods.List {
		doc, directive, args := splitDoc(m.Doc)
		if directive != "method" || len(args) != 1 {
			return fmt.Errorf("%s wants //protocol:method NAME", m.Names[0].Name)
		}
		fn := m.Type.(*ast.FuncType)
		out := &method{name: m.Names[0].Name, wire: args[0], doc: doc}
		if len(fn.Params.List) == 2 {
			out.params = pointee(fn.Params.List[1].Type)
		}
		if len(fn.Results.List) == 2 {
			out.result = pointee(fn.Results.List[0].Type)
		}
		if len(fn.Params.List) == 2 && out.params == "" || len(fn.Results.List) == 2 && out.result == "" {
			return fmt.Errorf("%s: params and result must be pointers to structs", out.name)
		}
		s.methods = append(s.methods, out)
	}
	a.services = append(a.services, s)
	return nil
}

// pointee returns X for *X.
func pointee(e ast.Expr) string {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return ""
	}
	id, ok := star.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return id.Name
}

func (a *api) addConst(spec *ast.ValueSpec, gen *ast.GenDecl, info *types.Info) error {
	for _, name := range spec.Names {
		if !name.IsExported() {
			continue
		}
		c := info.Defs[name].(*types.Const)
		comment := spec.Doc
		if comment == nil && !gen.Lparen.IsValid() {
			comment = gen.Doc
		}
		doc, directive, args := splitDoc(comment)
		value := c.Val().ExactString()
		if directive == "const" && len(args) == 1 {
			a.consts = append(a.consts, &constant{name: args[0], value: value, doc: doc})
			continue
		}
		named, ok := c.Type().(*types.Named)
		if !ok {
			return fmt.Errorf("constant %s has no type of its own", name.Name)
		}
		d := a.decl(named.Obj().Name())
		if d == nil {
			return fmt.Errorf("constant %s stands before its type", name.Name)
		}
		d.consts = append(d.consts, &constant{name: name.Name, value: value, doc: doc})
	}
	return nil
}

func (a *api) decl(name string) *decl {
	i := slices.IndexFunc(a.decls, func(d *decl) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return a.decls[i]
}

// link ties variants to their unions.
func (a *api) link() error {
	for _, d := range a.decls {
		for _, name := range d.unions {
			u := a.unions[name]
			if u == nil {
				return fmt.Errorf("%s: no union %s", d.name, name)
			}
			u.variants = append(u.variants, d)
		}
	}
	for _, u := range a.unions {
		if len(u.variants) == 0 {
			return fmt.Errorf("union %s has no variants", u.name)
		}
	}
	return nil
}

// splitDoc separates a comment's text from its //protocol: directive.
func splitDoc(g *ast.CommentGroup) (doc, directive string, args []string) {
	if g == nil {
		return "", "", nil
	}
	for _, c := range g.List {
		if rest, ok := strings.CutPrefix(c.Text, "//protocol:"); ok {
			words := strings.Fields(rest)
			directive, args = words[0], words[1:]
		}
	}
	return strings.TrimSpace(g.Text()), directive, args
}

// unionOf returns the union that a field's type is, or is a slice of.
func (a *api) unionOf(t types.Type) (name string, slice bool) {
	if s, ok := t.(*types.Slice); ok {
		name, _ = a.unionOf(s.Elem())
		return name, true
	}
	if n, ok := t.(*types.Named); ok && a.unions[n.Obj().Name()] != nil {
		return n.Obj().Name(), false
	}
	return "", false
}
