package secret_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/sidecar/base/secret"
)

const megabyte = 1 << 20

// filled repeats a text up to a megabyte.
func filled(text string) string {
	return strings.Repeat(text, megabyte/len(text)+1)[:megabyte]
}

// files joins the files of the project.
func files(b *testing.B, patterns ...string) string {
	b.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			all.Write(text)
		}
	}
	if all.Len() == 0 {
		b.Fatal("no files")
	}
	return filled(all.String())
}

func BenchmarkScan(b *testing.B) {
	var bait []string
	for _, tt := range examples {
		bait = append(bait, tt.misses...)
	}
	var known []secret.Known
	for i := range 50 {
		known = append(known, secret.Known{Value: fmt.Sprintf("sk-ant-api03-%d-%s", i, chars(90+i)), Description: "a key"})
	}
	texts := []struct{ name, text string }{
		{"prose", files(b, "../../../*.md")},
		{"code", files(b, "../*/*.go", "../../../extension/src/*.ts")},
		{"misses", filled(strings.Join(bait, " "))},
		{"sk-", filled("sk-")},
		{"sk-ant-api03-", filled("sk-ant-api03-")},
		{"glpat-", filled("glpat-")},
		{"xapp-", filled("xapp-1-A-1-")},
		{"url", filled("://a:b")},
		{"begin", filled("-----BEGIN PRIVATE KEY-----")},
		{"begins", "-----BEGIN PRIVATE KEY-----" + filled("aA1+")},
		{"jwt", filled(".eyJ")},
		{"keys", filled("ghp_" + chars(36) + " ")},
	}
	s := secret.New()
	s.Scan("", nil)
	for _, tt := range texts {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Scan(tt.text, nil)
			}
		})
		b.Run(tt.name+"/known=50", func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Scan(tt.text, known)
			}
		})
	}
}

func BenchmarkFirstScan(b *testing.B) {
	for b.Loop() {
		secret.New().Scan("", nil)
	}
}

// BenchmarkScanOfARecord scans a short text, as the journal does twice for every ask.
func BenchmarkScanOfARecord(b *testing.B) {
	s := secret.New()
	known := []secret.Known{{Value: "sk-ant-api03-" + chars(90), Description: "a key"}, {Value: chars(32), Description: "another"}}
	b.ReportAllocs()
	for b.Loop() {
		s.Scan(`{"messageId":1,"ask":"use_mcp_server","question":{"type":"mcp_elicitation","serverName":"s"}}`, known)
	}
}
