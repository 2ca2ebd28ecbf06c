package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/config"
)

func TestVariablesThatAreNotSetAreWarnings(t *testing.T) {
	s := config.Server{
		Command: "${env:BIN}/x", Args: []string{"${env:SET}", "--key=${env:KEY}", "${env:KEY}", "${input:KEY}"},
		Env:     map[string]*string{"TOKEN": new("${env:TOKEN}"), "EMPTY": new("${env:EMPTY}"), "GONE": nil},
		Headers: map[string]string{"Authorization": "Bearer ${env:TOKEN}"},
	}
	want := []string{
		`"command" has ${env:BIN}, and the environment of Assent has no variable "BIN", so that it is empty.`,
		`"args" has ${env:KEY}, and the environment of Assent has no variable "KEY", so that it is empty.`,
		`"TOKEN" in "env" has ${env:TOKEN}, and the environment of Assent has no variable "TOKEN", so that it is empty.`,
		`"Authorization" in "headers" has ${env:TOKEN}, and the environment of Assent has no variable "TOKEN", so that it is empty.`,
	}
	got := s.Warnings(config.Environment{Environ: []string{"SET=1", "EMPTY="}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
