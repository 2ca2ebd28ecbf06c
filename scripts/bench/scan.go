package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assent/sidecar/base/secret"
)

// promptBytes is the length of the prompt that is scanned.
const promptBytes = 1 << 20

// scan measures the search for secrets in a prompt of this repository's own prose and code. The
// reference is the decoding of the same prompt from JSON, which every request goes through anyway: the
// ratio is by how much the scan makes reading a request dearer.
func (b *bench) scan() ([]row, error) {
	prompt, err := prompt()
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	encoded, err := json.Marshal(prompt)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	scanner := secret.New()
	scanner.Scan("", nil) // its preparation is not measured
	var scanned, decoded sample
	for range b.rounds {
		began := time.Now()
		scanner.Scan(prompt, nil)
		scanned = append(scanned, milliseconds(time.Since(began)))
		began = time.Now()
		var text string
		if err := json.Unmarshal(encoded, &text); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		decoded = append(decoded, milliseconds(time.Since(began)))
	}
	return []row{{what: "prompt scan, 1 MB", unit: "ms", figure: scanned, reference: decoded, referenceIs: "its JSON decoded"}}, nil
}

// prompt returns this repository's prose and code, as often as it takes.
func prompt() (string, error) {
	var all strings.Builder
	for _, pattern := range []string{"*.md", "sidecar/*/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			all.Write(text)
		}
	}
	if all.Len() == 0 {
		return "", errors.New("there is nothing to scan: run it in the repository")
	}
	return strings.Repeat(all.String(), promptBytes/all.Len()+1)[:promptBytes], nil
}
