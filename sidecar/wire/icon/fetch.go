package icon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// FetchTimeout is how long an icon may take to arrive.
	FetchTimeout = 5 * time.Second
	// fetchesAtOnce is how many icons of a server are fetched at the same time.
	fetchesAtOnce = 4
	// maxURLs is how many icons of a server are fetched and kept, and maxFetches how often it is asked for one.
	maxURLs    = 64
	maxFetches = 256
)

// Origin is where the icons of a server may be fetched: from the server's own scheme, host and port, and nowhere else. The
// zero value is nowhere.
type Origin struct {
	scheme, host, port string
	// Way carries the requests.
	Way http.RoundTripper
}

// OriginOf returns the origin of a server at a URL; nil is a server without one.
func OriginOf(at *url.URL, way http.RoundTripper) Origin {
	if at == nil {
		return Origin{}
	}
	return Origin{scheme: at.Scheme, host: at.Hostname(), port: portOf(at), Way: way}
}

// has reports whether an icon is at the origin.
func (o Origin) has(src string) bool {
	u, err := url.Parse(src)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return o.Way != nil && u.Scheme == o.scheme && strings.EqualFold(u.Hostname(), o.host) && portOf(u) == o.port
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// Cache holds the fetched icons of one server. They stay in memory for as long as it does.
type Cache struct {
	log zerolog.Logger
	// busy has room for the one call of Collect that is under way.
	busy chan struct{}

	mu sync.Mutex // guards the fields below
	// images are the data: URIs of what was fetched, by URL; "" for what may not be shown.
	images map[string]string
	// fetches counts the requests so far.
	fetches int
}

// NewCache returns an empty cache.
func NewCache(log zerolog.Logger) *Cache {
	return &Cache{log: log, busy: make(chan struct{}, 1), images: map[string]string{}}
}

// known returns a fetched icon, and whether there is nothing more to find out about it.
func (c *Cache) known(src string) (image string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	image, known = c.images[src]
	return image, known || len(c.images) >= maxURLs || c.fetches >= maxFetches
}

// fetch fetches icons, a few at the same time, and returns when all have arrived or failed. One that failed is asked for again
// at the next time.
func (c *Cache) fetch(ctx context.Context, from Origin, urls []string) {
	slots := make(chan struct{}, fetchesAtOnce)
	var fetching sync.WaitGroup
	for _, src := range urls {
		slots <- struct{}{} // until one has ended
		if !c.count() || ctx.Err() != nil {
			break
		}
		fetching.Go(func() {
			defer func() { <-slots }()
			image, err := from.get(ctx, src)
			if err != nil {
				c.log.Debug().Err(err).Msg("an icon could not be fetched")
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.images[src] = image
		})
	}
	fetching.Wait()
}

// count counts a request, and reports whether it may be made.
func (c *Cache) count() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.images) >= maxURLs || c.fetches >= maxFetches {
		return false
	}
	c.fetches++
	return true
}

// errRedirect ends a request that is sent elsewhere.
var errRedirect = errors.New("the icon is elsewhere")

// get fetches a picture, and returns it as a data: URI, or "" if it may not be shown. The request has no cookies and no
// credentials, neither the server's nor the person's.
func (o Origin) get(ctx context.Context, src string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, src, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "image/*")
	client := http.Client{Transport: o.Way, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
	response, err := client.Do(request)
	switch {
	case errors.Is(err, errRedirect):
		return "", nil
	case err != nil:
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("HTTP %s", response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
	if err != nil {
		return "", err
	}
	return checked(data, response.Header.Get("Content-Type")), nil
}
