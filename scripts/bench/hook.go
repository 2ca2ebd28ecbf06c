package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"assent/protocol"
)

const (
	// hookRuns is how often a round runs each hook.
	hookRuns = 20
	// ruleGoal and cardGoal are what a hook may take, in milliseconds: for a use that a rule is about, and until its question
	// is at a front end. A browser paints it some 20 ms later; see the group "pixels".
	ruleGoal, cardGoal = 30, 100
)

// hook measures the hook of an agent, from the start of its process, while the daemon runs.
func (b *bench) hook() ([]row, error) {
	var none, ruled, shown comparison
	for range b.rounds {
		if err := b.withHome(func(h *home) error { return h.hooks(&none, &ruled, &shown) }); err != nil {
			return nil, fmt.Errorf("hook: %w", err)
		}
	}
	atMost := bar{limit: 1}
	return []row{
		{what: "an agent's hook for a use without a rule", unit: "ms", figure: none.figure, reference: none.reference, referenceIs: "start of the program"},
		{what: "a hook that a rule answers", unit: "ms", figure: ruled.figure, reference: ruled.reference, referenceIs: "goal", bar: atMost},
		{what: "from a hook's start to its question at a front end", unit: "ms", figure: shown.figure, reference: shown.reference, referenceIs: "goal", bar: atMost},
	}, nil
}

func (h *home) hooks(none, ruled, shown *comparison) error {
	relay := h.relay("data")
	relay.Env = append(relay.Env, h.personal()...)
	w, err := attach(relay)
	if err != nil {
		return err
	}
	h.windows = append(h.windows, w)
	if err := w.shakeHands(map[string]any{}); err != nil {
		return err
	}
	if err := w.Call("askFirst/add", protocol.AskFirstTerms{Command: "git push"}, nil); err != nil {
		return err
	}
	var start, without, with, card sample
	for n := range hookRuns {
		began := time.Now()
		if _, err := h.runHook("--version"); err != nil {
			return err
		}
		start = append(start, milliseconds(time.Since(began)))
		for command, into := range map[string]*sample{"git pull": &without, "cd x && git push": &with} {
			began := time.Now()
			printed, err := h.runHook("PreToolUse", command)
			if err != nil {
				return err
			}
			*into = append(*into, milliseconds(time.Since(began)))
			if bytes.Contains(printed, []byte(`"ask"`)) != (into == &with) {
				return fmt.Errorf("the hook for %q printed %q", command, printed)
			}
		}
		took, err := h.askByHook(w, n)
		if err != nil {
			return err
		}
		card = append(card, took)
	}
	none.add(without.median(), start.median())
	ruled.add(with.median(), ruleGoal)
	shown.add(card.median(), cardGoal)
	return nil
}

// hookCommand is the process of a hook with the frame of an event, or with "--version" one that only starts.
func (h *home) hookCommand(event string, command ...string) (*exec.Cmd, error) {
	c := h.command(h.sidecar, "hook", "claude")
	if len(command) == 0 {
		c = h.command(h.sidecar, event)
	}
	for _, text := range command {
		frame, err := json.Marshal(map[string]any{
			"session_id": "bench", "prompt_id": text, "cwd": h.folder, "hook_event_name": event, "tool_name": "Bash",
			"tool_input": map[string]string{"command": text},
		})
		if err != nil {
			return nil, err
		}
		c.Stdin = bytes.NewReader(frame)
	}
	c.Dir = h.folder
	c.Env = append(append(os.Environ(), "ASSENT_DAEMON_DIR="+h.folder), h.personal()...)
	return c, nil
}

// personal is the environment in which the person's own files are in the folder of the bench.
func (h *home) personal() []string {
	return []string{"HOME=" + h.folder, "XDG_CONFIG_HOME=" + filepath.Join(h.folder, "config")}
}

func (h *home) runHook(event string, command ...string) ([]byte, error) {
	c, err := h.hookCommand(event, command...)
	if err != nil {
		return nil, err
	}
	return c.Output()
}

// askByHook has a hook ask, and returns how many milliseconds later a front end can show the question. Then it ends the hook.
func (h *home) askByHook(w *frontEnd, n int) (took float64, err error) {
	c, err := h.hookCommand("PermissionRequest", fmt.Sprint("touch ", n))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Process.Kill(), ignoreExit(c.Wait())) }()
	for {
		var list protocol.ListOpenAsksResult
		if err := w.Call("ask/list", nil, &list); err != nil {
			return 0, err
		}
		for _, ask := range list.Asks {
			if ask.Text == fmt.Sprint("touch ", n) {
				return milliseconds(time.Since(began)), nil
			}
		}
	}
}

// ignoreExit is an error of a process that was not killed by this program.
func ignoreExit(err error) error {
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil
	}
	return err
}
