package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/atomicfile"
	"assent/sidecar/gateway"
	"assent/sidecar/hub"
)

// listsAge is the age at which stored lists are read again, even if no host uses their server.
const listsAge = 24 * time.Hour

// serverLists stores the servers' descriptions and lists, so that a host's session begins without the servers. The data
// belongs to one definition of a server. It is refreshed in the background: after a session has used the server, when
// the server says that a list has changed, and once a day.
type serverLists struct {
	path string
	hub  listReader
	// changed is called when a list differs from the stored one.
	changed func(server, list string)
	log     zerolog.Logger

	// ctx ends the reading in the background, which reading counts.
	ctx     context.Context
	end     context.CancelFunc
	reading sync.WaitGroup
	saving  sync.Mutex // held while the file is written

	mu    sync.Mutex // guards what follows
	saved map[string]savedLists
	firstReads
	// isReading are the servers with lists that are being read. Those in again are read again after
	// that.
	isReading, again map[string]bool
	closed           bool
}

// listReader is the part of [hub.Hub] that reads lists.
type listReader interface {
	Identity(server string) (identity, command string)
	Introduction(ctx context.Context, server string) (hub.Introduction, error)
	Pages(ctx context.Context, server string, kind protocol.ListKind) ([]json.RawMessage, error)
	IsRunning(server string) bool
}

// listsFormat is that of the stored lists. Those of another format are read from their servers again: before 2, odd items
// were passed on to hosts.
const listsFormat = 2

// savedLists are those of one server.
type savedLists struct {
	Format int `json:"format"`
	// Identity is that of the server's definition.
	Identity string    `json:"identity"`
	Read     time.Time `json:"read"`
	// Introduction is nil if it was not asked for.
	Introduction *savedIntroduction `json:"introduction,omitempty"`
	// Lists has the pages of the lists that were asked for.
	Lists map[string][]verbatimJSON `json:"lists"`
}

// savedIntroduction is a [gateway.Description].
type savedIntroduction struct {
	Info         verbatimJSON `json:"info"`
	Capabilities verbatimJSON `json:"capabilities"`
	Instructions verbatimJSON `json:"rawInstructions,omitempty"`
}

// verbatimJSON is JSON that is kept as a text, so that each byte stays.
type verbatimJSON json.RawMessage

// MarshalText implements [encoding.TextMarshaler].
func (e verbatimJSON) MarshalText() ([]byte, error) { return e, nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (e *verbatimJSON) UnmarshalText(text []byte) error {
	*e = bytes.Clone(text)
	return nil
}

// isSame reports whether two lists of pages are the same.
func isSame(a, b []verbatimJSON) bool {
	return slices.EqualFunc(a, b, func(a, b verbatimJSON) bool { return bytes.Equal(a, b) })
}

func newLists(path string, reader listReader, changed func(server, list string), log zerolog.Logger) *serverLists {
	l := &serverLists{
		path: path, hub: reader, changed: changed, log: log, isReading: map[string]bool{}, again: map[string]bool{},
		firstReads: firstReads{running: map[listOf]*firstRead{}, failures: map[listOf]*readFailure{}},
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// close ends the reading in the background, and waits for it.
func (l *serverLists) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end()
	l.reading.Wait()
}

// introduction returns what a server says about itself.
func (l *serverLists) introduction(ctx context.Context, server string) (gateway.Description, error) {
	saved := l.of(server)
	i := saved.Introduction
	if i == nil {
		read, err := l.readFirst(ctx, listOf{server, ""}, saved.Identity, 0)
		if err != nil {
			return gateway.Description{}, err
		}
		i = read.introduction
	}
	return gateway.Description{
		Info: json.RawMessage(i.Info), Capabilities: json.RawMessage(i.Capabilities), Instructions: json.RawMessage(i.Instructions),
	}, nil
}

// list returns the pages of a list. The caller must not change them. With a waitLimit, it waits for that long at most for a
// server that starts; see [gateway.Upstream].
func (l *serverLists) list(ctx context.Context, server, list string, waitLimit time.Duration) ([]json.RawMessage, error) {
	saved := l.of(server)
	pages, ok := saved.Lists[list]
	if !ok {
		read, err := l.readFirst(ctx, listOf{server, list}, saved.Identity, waitLimit)
		if err != nil {
			return nil, err
		}
		pages = read.pages
	}
	return rawPages(pages), nil
}

// rawPages returns pages for a caller that must not change them.
func rawPages(saved []verbatimJSON) (pages []json.RawMessage) {
	for _, page := range saved {
		pages = append(pages, json.RawMessage(slices.Clip(page)))
	}
	return pages
}

// advertised returns the pages of a list as hosts got them last; nil if none did. It starts no server. The caller must not
// change them.
func (l *serverLists) advertised(server, list string) []verbatimJSON {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadLocked()
	return l.saved[server].Lists[list]
}

func (l *serverLists) readIntroduction(ctx context.Context, server string) (*savedIntroduction, error) {
	i, err := l.hub.Introduction(ctx, server)
	return &savedIntroduction{Info: verbatimJSON(i.Info), Capabilities: verbatimJSON(i.Capabilities), Instructions: verbatimJSON(i.Instructions)}, err
}

func (l *serverLists) readList(ctx context.Context, server, list string) (pages []verbatimJSON, err error) {
	read, err := l.hub.Pages(ctx, server, protocol.ListKind(list))
	for _, page := range read {
		pages = append(pages, verbatimJSON(page))
	}
	return pages, err
}

// of returns the stored data for a server's present definition. The caller must not change the
// maps.
func (l *serverLists) of(server string) savedLists {
	identity, _ := l.hub.Identity(server)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadLocked()
	saved, ok := l.saved[server]
	if !ok || saved.Identity != identity {
		return savedLists{Identity: identity}
	}
	if time.Since(saved.Read) > listsAge {
		l.readLocked(server)
	}
	return saved
}

// readAgain refreshes the stored data of a server, in the background. It is a no-op if there is none, or if the server
// does not run.
func (l *serverLists) readAgain(server string) {
	if !l.hub.IsRunning(server) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadLocked()
	l.readLocked(server)
}

func (l *serverLists) readLocked(server string) {
	saved, ok := l.saved[server]
	switch {
	case !ok || l.closed:
		return
	case l.isReading[server]:
		l.again[server] = true
		return
	}
	l.isReading[server] = true
	l.reading.Go(func() { l.compare(server, saved) })
}

// compare reads a server's lists, keeps them, and says which of them differ.
func (l *serverLists) compare(server string, before savedLists) {
	now := savedLists{Lists: map[string][]verbatimJSON{}}
	var err error
	if before.Introduction != nil {
		now.Introduction, err = l.readIntroduction(l.ctx, server)
	}
	var differ []string
	for list, pages := range before.Lists {
		if err != nil {
			break
		}
		if now.Lists[list], err = l.readList(l.ctx, server, list); !isSame(now.Lists[list], pages) {
			differ = append(differ, list)
		}
	}
	if err != nil {
		l.log.Info().Str("server", server).Err(err).Msg("the lists for hosts stay as they were")
	} else {
		l.update(server, before.Identity, func(k *savedLists) {
			if now.Introduction != nil {
				k.Introduction = now.Introduction
			}
			maps.Copy(k.Lists, now.Lists)
		})
		for _, list := range differ {
			l.changed(server, list)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.isReading, server)
	if l.again[server] {
		delete(l.again, server)
		l.readLocked(server)
	}
}

// update changes the stored data for a definition of a server, and saves all.
func (l *serverLists) update(server, identity string, change func(*savedLists)) {
	l.mu.Lock()
	l.updateLocked(server, identity, change)
	l.mu.Unlock()
	l.save()
}

func (l *serverLists) updateLocked(server, identity string, change func(*savedLists)) {
	now := savedLists{Format: listsFormat, Identity: identity, Read: time.Now(), Lists: map[string][]verbatimJSON{}}
	if saved := l.saved[server]; saved.Identity == identity {
		now.Introduction = saved.Introduction
		maps.Copy(now.Lists, saved.Lists)
	}
	change(&now)
	l.saved[server] = now
}

// save writes the file. Calls of tools do not wait for it.
func (l *serverLists) save() {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	all := maps.Clone(l.saved) // updateLocked replaces the values, and changes none
	l.mu.Unlock()
	data, err := json.Marshal(all)
	if err == nil {
		err = atomicfile.Write(l.path, data)
	}
	if err != nil {
		l.log.Info().Err(err).Msg("cannot save the lists for hosts")
	}
}

func (l *serverLists) loadLocked() {
	if l.saved != nil {
		return
	}
	l.saved = map[string]savedLists{}
	data, err := os.ReadFile(l.path)
	if err == nil {
		err = json.Unmarshal(data, &l.saved)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Info().Err(err).Msg("cannot read the stored lists for hosts")
		l.saved = map[string]savedLists{}
	}
	maps.DeleteFunc(l.saved, func(_ string, saved savedLists) bool { return saved.Format != listsFormat })
}
