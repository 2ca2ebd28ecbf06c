package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/workspace/rpc"
)

// readerCommand makes this program the reference of a stream: it reads a model's answer as the sidecar
// does, by the same provider, and does no more. Its arguments are the endpoint, the model's name, and
// what to do with each piece.
const readerCommand = "reader"

// What a reader does with a piece.
const (
	tellEach = "tell" // sends it as a separate notification
	tellNone = "drop"
)

// The ends of a measurement, as a reader reports them.
const (
	readerBegins = "begins"
	readerEnds   = "ends"
)

// readModel is the reader. It prints frames of the editor's connection on stdout.
func readModel(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s takes an endpoint, a model and what to do, not %q", readerCommand, args)
	}
	settings := modelSettings(args[0], args[1])
	models := model.NewSet(model.Endpoints(settings, http.DefaultClient), settings, model.DefaultTimeout)
	conn := rpc.New(ctx, os.Stdin, os.Stdout, rpc.Options{Serve: nobody, Peer: "the bench", Log: zerolog.Nop()})
	if err := conn.Notify(ctx, readerBegins, nil); err != nil {
		return err
	}
	var failed error
	sequence := int64(0)
	request := &protocol.McpSamplingRequest{MaxTokens: 1_000_000, Messages: []protocol.SamplingMessage{
		{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "?"}}},
	}}
	completion, err := models.Generate(ctx, string(protocol.ProviderOpenAI)+":"+args[1], request, func(chunk string) {
		if args[2] == tellNone {
			return
		}
		failed = errors.Join(failed, conn.Notify(ctx, progressMethod, protocol.McpSamplingProgressParams{
			TaskID: "a-task-of-the-bench", MessageID: 2, Sequence: sequence, Chunk: chunk,
		}))
		sequence++
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	// The sidecar, too, sends the whole text at the end.
	err = conn.Notify(ctx, readerEnds, protocol.McpSamplingResponse{Content: []protocol.ContentBlock{protocol.TextContent{Text: completion.Text}}})
	if err != nil {
		return err
	}
	return conn.Close()
}

const progressMethod = "mcpSamplingProgress"

func nobody(context.Context, string, json.RawMessage) (any, error) {
	return nil, errors.New("a reader serves nothing")
}

// streamed is what one answer cost.
type streamed struct {
	// wall is from the approval to the whole answer, cpu of the whole process.
	wall, cpu time.Duration
	// messages and bytes count the editor's connection during that time.
	messages, bytes int64
}

// stream measures a model's answer on its way to the front end, beside one that is sent on chunk by
// chunk; and beside one that is only read, because reading is most of the work of both. The same text in
// one chunk tells what the processes need for everything else.
func (b *bench) stream() (rows []row, err error) {
	endpoint, err := startEndpoint()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, endpoint.close()) }()
	many := shape{chunks: b.chunks, tokens: b.chunks}
	one := shape{chunks: 1, tokens: b.chunks}
	var rate, messages, kilobytes, cpu, above comparison
	for i := range b.rounds {
		of := func(kind string, measure func(shape) (streamed, error)) (streamed, error) {
			base, err := measure(one)
			if err != nil {
				return streamed{}, fmt.Errorf("%s, %v: %w", kind, one, err)
			}
			all, err := measure(many)
			if err != nil {
				return streamed{}, fmt.Errorf("%s, %v: %w", kind, many, err)
			}
			all.cpu -= base.cpu
			return all, nil
		}
		sidecar, err := of("the sidecar", func(s shape) (streamed, error) {
			return b.streamBySidecar(endpoint, b.dataDir(fmt.Sprint("stream", i, "-", s)), s)
		})
		if err != nil {
			return nil, err
		}
		each, err := of("chunk by chunk", func(s shape) (streamed, error) { return b.streamByReader(endpoint, tellEach, s) })
		if err != nil {
			return nil, err
		}
		read, err := of("only read", func(s shape) (streamed, error) { return b.streamByReader(endpoint, tellNone, s) })
		if err != nil {
			return nil, err
		}
		rate.add(float64(b.chunks)/sidecar.wall.Seconds()/1000, float64(b.chunks)/each.wall.Seconds()/1000)
		messages.add(float64(sidecar.messages), float64(each.messages))
		kilobytes.add(float64(sidecar.bytes)/1000, float64(each.bytes)/1000)
		cpu.add(milliseconds(sidecar.cpu), milliseconds(each.cpu))
		above.add(milliseconds(sidecar.cpu-read.cpu), milliseconds(each.cpu-read.cpu))
	}
	answer := fmt.Sprintf("an answer of %d chunks", b.chunks)
	const reference = "chunk by chunk"
	return []row{
		{what: answer + ", to the front end", unit: "k/s", figure: rate.figure, reference: rate.reference, referenceIs: reference},
		{what: answer + ", messages", figure: messages.figure, reference: messages.reference, referenceIs: reference},
		{what: answer + ", size", unit: "kB", figure: kilobytes.figure, reference: kilobytes.reference, referenceIs: reference},
		{what: answer + ", CPU for the chunks", unit: "ms", figure: cpu.figure, reference: cpu.reference, referenceIs: reference},
		{
			what: answer + ", CPU for the chunks but for reading them", unit: "ms", figure: above.figure, reference: above.reference,
			referenceIs: reference, bar: bar{limit: 0.1},
		},
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// streamByReader measures the reader.
func (b *bench) streamByReader(endpoint *modelEndpoint, tell string, answer shape) (streamed, error) {
	cmd := b.command(b.self, readerCommand, endpoint.base, answer.String(), tell)
	cmd.Stderr = os.Stderr // shows its errors
	f, err := attach(cmd)
	if err != nil {
		return streamed{}, err
	}
	var s streamed
	began := time.Now()
	written := 0
	for {
		m, err := f.read()
		if err != nil {
			return s, errors.Join(err, f.Close())
		}
		switch m.Method {
		case readerBegins:
			began, f.Messages, f.Bytes = time.Now(), 0, 0
		case progressMethod:
			written++
		case readerEnds:
			s.wall, s.messages, s.bytes = time.Since(began), f.Messages, f.Bytes
			if tell == tellEach && written != answer.chunks {
				return s, errors.Join(fmt.Errorf("%d chunks came, of %d", written, answer.chunks), f.Close())
			}
			err := f.Close()
			s.cpu = f.cpu()
			return s, err
		}
	}
}

// streamBySidecar measures the sidecar.
func (b *bench) streamBySidecar(endpoint *modelEndpoint, dataDir string, answer shape) (streamed, error) {
	f, err := b.startSidecar(dataDir, b.oneServer(), modelSettings(endpoint.base, answer.String()))
	if err != nil {
		return streamed{}, err
	}
	s, err := f.sampleOnce(answer)
	err = errors.Join(err, f.Close())
	s.cpu = f.cpu()
	return s, err
}

// sampleOnce runs the tool that samples, approves its request, and follows the answer to its end.
func (f *frontEnd) sampleOnce(answer shape) (streamed, error) {
	var s streamed
	var task protocol.Task
	if err := f.Call("task/create", protocol.CreateTaskParams{}, &task); err != nil {
		return s, err
	}
	if err := f.runTool(task.ID, "bench", sampleTool, struct{}{}); err != nil {
		return s, err
	}
	var began time.Time
	for {
		m, err := f.read()
		if err != nil {
			return s, err
		}
		if m.Method != "task/event" {
			continue
		}
		var p protocol.TaskEventParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return s, err
		}
		switch event := p.Event.(type) {
		case protocol.MessageAdded:
			ask, ok := event.Message.Body.(protocol.Ask)
			if !ok {
				continue
			}
			_, err := f.Send("askResponse", protocol.AskResponseParams{TaskID: task.ID, AskID: ask.AskID, AskResponse: protocol.YesButtonClicked})
			if err != nil {
				return s, err
			}
			began, f.Messages, f.Bytes = time.Now(), 0, 0
		case protocol.SamplingEnded:
			s.wall, s.messages, s.bytes = time.Since(began), f.Messages, f.Bytes
		case protocol.CallEnded:
			result, ok := event.Result.(protocol.ToolResult)
			if !ok || result.IsError {
				return s, fmt.Errorf("the tool ended with %+v", event.Result)
			}
			text, ok := result.Content[0].(protocol.TextContent)
			if !ok || text.Text != strconv.Itoa(answer.tokens*len(token)) {
				return s, fmt.Errorf("the server got %+v bytes of %v", result.Content[0], answer)
			}
			return s, nil
		}
	}
}

// cpu returns what a process that has ended used.
func (f *frontEnd) cpu() time.Duration {
	state := f.Cmd.ProcessState
	if state == nil {
		return 0
	}
	return state.UserTime() + state.SystemTime()
}
