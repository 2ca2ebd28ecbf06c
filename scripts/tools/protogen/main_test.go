package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const protocolDir = "../../../protocol"

func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := Generate(protocolDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(protocolDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale, run go generate ./protocol (-want +got):\n%s", name, diff)
		}
	}
}

func TestGenerateRefusesWhatItCannotWrite(t *testing.T) {
	tests := []struct {
		name, source, want string
	}{
		{
			name:   "type without doc",
			source: "package p\ntype A struct{ X int `json:\"x\"` }",
			want:   "A: has no doc comment",
		},
		{
			name:   "variant of nothing",
			source: "package p\ntype tag[V any] struct{}\n// A is.\n//\n//protocol:variant U a\ntype A struct{ Type tag[A] `json:\"type\"` }",
			want:   "A: no union U",
		},
		{
			name:   "variant without its tag",
			source: "package p\n// A is.\n//\n//protocol:variant U a\ntype A struct{ X int `json:\"x\"` }",
			want:   "A: a variant begins with Type tag[A] `json:\"type\"`",
		},
		{
			name: "variant with the tag of another",
			source: "package p\ntype tag[V any] struct{}\n// U is.\n//\n//protocol:union\ntype U interface{ isU() }\n// A is.\n//\n//protocol:variant U a\ntype A struct{ Type tag[A] `json:\"type\"` }\n" +
				"// B is.\n//\n//protocol:variant U b\ntype B struct{ Type tag[A] `json:\"type\"` }",
			want: "B: a variant begins with Type tag[B] `json:\"type\"`",
		},
		{
			name:   "union of nothing",
			source: "package p\n// U is.\n//\n//protocol:union\ntype U interface{ isU() }",
			want:   "union U has no variants",
		},
		{
			name:   "method without a wire name",
			source: "package p\n// S is.\ntype S interface{ M() error }",
			want:   "M wants //protocol:method NAME",
		},
		{
			name: "an embedded struct with unions",
			source: "package p\ntype tag[V any] struct{}\n// U is.\n//\n//protocol:union\ntype U interface{ isU() }\n// V is.\n//\n//protocol:variant U v\ntype V struct{ Type tag[V] `json:\"type\"` }\n" +
				"// A is.\ntype A struct{ U U `json:\"u\"` }\n// B is.\ntype B struct{ A }",
			want: "B cannot embed A, which has unions",
		},
		{
			name:   "field with no TypeScript",
			source: "package p\n// A is.\ntype A struct{ X chan int `json:\"x\"` }",
			want:   "no TypeScript for chan int",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(tt.source), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Generate(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
