package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"assent/protocol"
)

const (
	// largeText and largeImage are sizes of results, in bytes.
	largeText  = 10 << 20
	largeImage = 8 << 20
	// largeCPU is how many milliseconds of CPU a large text may cost, and largeMB how many megabytes of memory.
	largeCPU = 700
	largeMB  = 100
	// formFields and listedTools are a large form and a large list.
	formFields  = 500
	listedTools = 5000
	// A page of so many tools with so many bytes more each has 9 MB, and may take pageMB megabytes of memory.
	pageTools, pageBytes, pageMB = 1000, 8300, 64
)

// large measures what few servers send, and what must not stop the others: large results, forms and lists. Panel and pixels
// have the conversation of 100,000 messages.
func (b *bench) large() ([]row, error) {
	var cpu, mb, imageMB, gatewayMB, form, list, page comparison
	for i := range b.rounds {
		if err := b.largeResults(i, &cpu, &mb, &imageMB); err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
		if err := b.largeThrough(&gatewayMB); err != nil {
			return nil, fmt.Errorf("through the gateway: %w", err)
		}
		if err := b.largeForms(i, &form); err != nil {
			return nil, fmt.Errorf("forms: %w", err)
		}
		if err := b.largeLists(i, &list, &page); err != nil {
			return nil, fmt.Errorf("lists: %w", err)
		}
	}
	atMost := bar{limit: 1}
	return []row{
		{what: "CPU for a result of 10 MB", unit: "ms", figure: cpu.figure, reference: cpu.reference, referenceIs: "goal", bar: atMost},
		{what: "memory for it, at its peak", unit: "MB", figure: mb.figure, reference: mb.reference, referenceIs: "goal", bar: atMost},
		{what: "memory for an image of 8 MB, at its peak", unit: "MB", figure: imageMB.figure, reference: imageMB.reference, referenceIs: "goal", bar: atMost},
		{what: "memory of the daemon for 10 MB through the gateway", unit: "MB", figure: gatewayMB.figure, reference: gatewayMB.reference, referenceIs: "twice its size", bar: atMost},
		{what: fmt.Sprintf("an ask with a form of %d fields, p50", formFields), unit: "us", figure: form.figure, reference: form.reference, referenceIs: "one field"},
		{what: fmt.Sprintf("a list of %d tools", listedTools), unit: "ms", figure: list.figure, reference: list.reference, referenceIs: fmt.Sprintf("%d tools", listedTools/10)},
		{what: "memory for a page of 9 MB, at its peak", unit: "MB", figure: page.figure, reference: page.reference, referenceIs: "goal", bar: atMost},
	}, nil
}

// peak returns how many megabytes a process has at its peak while f runs, beyond what it had before.
func peak(pid int, f func() error) (float64, error) {
	// Linux forgets the peak that was.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600); err != nil {
		return 0, err
	}
	before, err := residentMB(pid, wholeMemory)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	most, err := residentMB(pid, "VmHWM:")
	return most - before, err
}

// returned runs the tool, and waits for the end of the call.
func (f *frontEnd) returned(taskID string, in askInput) error {
	if err := f.runTool(taskID, "bench", askTool, in); err != nil {
		return err
	}
	for {
		h, err := f.happens()
		if err != nil || h.result != nil {
			return err
		}
	}
}

func (b *bench) largeResults(round int, cpu, mb, imageMB *comparison) error {
	return b.withSidecar(b.roundDir("large", round), b.oneServer(rawServerCommand), func(f *frontEnd) error {
		taskID, err := f.newTask()
		if err != nil {
			return err
		}
		if err := f.returned(taskID, askInput{}); err != nil {
			return err
		}
		pid := f.Cmd.Process.Pid
		before, err := cpuMicros(pid)
		if err != nil {
			return err
		}
		text, err := peak(pid, func() error { return f.returned(taskID, askInput{Bytes: largeText}) })
		if err != nil {
			return err
		}
		after, err := cpuMicros(pid)
		if err != nil {
			return err
		}
		image, err := peak(pid, func() error { return f.returned(taskID, askInput{Bytes: largeImage, Image: true}) })
		cpu.add((after-before)/1000, largeCPU)
		mb.add(text, largeMB)
		imageMB.add(image, largeMB)
		return err
	})
}

// largeThrough measures the daemon while a host gets a large result.
func (b *bench) largeThrough(mb *comparison) error {
	return b.withGateway(b.rawServers(1), func(h *home) error {
		c, err := h.host("raw0")
		if err != nil {
			return err
		}
		if _, err := c.calls(askTool, 1, 1); err != nil {
			return err
		}
		daemon, err := h.daemonPID()
		if err != nil {
			return err
		}
		most, err := peak(daemon, func() error {
			_, err := c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"bytes":%d}}`, askTool, largeText))
			return err
		})
		mb.add(most, 2*largeText>>20)
		return errors.Join(err, c.close())
	})
}

func (b *bench) largeForms(round int, form *comparison) error {
	return b.withSidecar(b.roundDir("form", round), b.oneServer(rawServerCommand), func(f *frontEnd) error {
		taskID, err := f.newTask()
		if err != nil {
			return err
		}
		p50 := func(fields int) (float64, error) {
			times, err := f.answerAsks(taskID, askInput{N: max(b.asks/20, 10), AtOnce: 1, Fields: fields})
			return times.micros().median(), err
		}
		one, err := p50(1)
		if err != nil {
			return err
		}
		many, err := p50(formFields)
		form.add(many, one)
		return err
	})
}

func (b *bench) largeLists(round int, list, page *comparison) error {
	listed := func(tools, padding int) (took, mb float64, err error) {
		args := []string{rawServerCommand, strconv.Itoa(tools), strconv.Itoa(padding)}
		servers := map[string]any{"bench": map[string]any{"command": b.self, "args": args}}
		err = b.withSidecar(b.roundDir(fmt.Sprint("list-", tools, "-"), round), servers, func(f *frontEnd) error {
			began := time.Now()
			mb, err = peak(f.Cmd.Process.Pid, func() error {
				return f.Call("tools/list", protocol.ServerParams{ServerName: "bench"}, &protocol.ListToolsResult{})
			})
			took = milliseconds(time.Since(began))
			return err
		})
		return took, mb, err
	}
	many, _, err := listed(listedTools, 0)
	if err != nil {
		return err
	}
	fewer, _, err := listed(listedTools/10, 0)
	if err != nil {
		return err
	}
	list.add(many, fewer)
	_, mb, err := listed(pageTools, pageBytes)
	page.add(mb, pageMB)
	return err
}
