package icon

import (
	"context"
	"slices"
	"strings"

	"assent/protocol"
)

// maxTotal is the most bytes of all images of a server, as data: URIs.
const maxTotal = 2 << 20

// Offered are a server and what it offers, with their icons as the server declares them.
type Offered struct {
	Server    []Icon
	Tools     []Thing
	Resources []Thing
	Templates []Thing
	Prompts   []Thing
}

// maxRounds is how many icons of one thing are fetched at most: one that cannot be had gives way to the next.
const maxRounds = 2

// collectTimeout is how long all icons of a server may take to arrive.
const collectTimeout = 2 * FetchTimeout

// Collect chooses an icon of each thing for each theme, and fetches those that are not in the declaration. What does not arrive
// in time is left out, and asked for again by the next call.
func (c *Cache) Collect(ctx context.Context, from Origin, o Offered) *protocol.ListIconsResult {
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	case <-ctx.Done():
		return &protocol.ListIconsResult{}
	}
	all := collection{cache: c, from: from, asked: map[string]bool{}, checked: map[string]string{}, places: map[string]int{}}
	fetching, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	for range maxRounds {
		missing := all.missing(o)
		c.fetch(fetching, from, missing)
		for _, url := range missing {
			all.asked[url] = true
		}
	}
	all.complete = true
	result := &protocol.ListIconsResult{}
	if icons, ok := all.choose(o.Server); ok {
		result.Server = &icons
	}
	result.Tools = all.chooseEach(o.Tools)
	result.Prompts = all.chooseEach(o.Prompts)
	result.Resources = all.chooseEach(o.Resources)
	result.ResourceTemplates = all.chooseEach(o.Templates)
	result.Images = all.images
	return result
}

// collection is the icons that one call of Collect has chosen.
type collection struct {
	cache *Cache
	from  Origin
	// asked are the URLs that this call has asked for. complete: it asks for no more.
	asked    map[string]bool
	complete bool
	// checked are the data: URIs that were looked at, by their src.
	checked map[string]string
	images  []string
	places  map[string]int // of the images
	total   int            // the bytes of the images
}

// missing returns the URLs of the icons that have to be fetched before they can be chosen.
func (a *collection) missing(o Offered) []string {
	var urls []string
	for _, things := range [][]Thing{{{Icons: o.Server}}, o.Tools, o.Prompts, o.Resources, o.Templates} {
		for _, thing := range things {
			for _, theme := range []string{light, dark} {
				if _, url := a.best(thing.Icons, theme); url != "" && !slices.Contains(urls, url) && len(urls) < maxURLs {
					urls = append(urls, url)
				}
			}
		}
	}
	return urls
}

// best returns the image of the icon that suits a theme best, or the URL of one that is not known yet and suits it better. Both
// are empty if there is none.
func (a *collection) best(icons []Icon, theme string) (image, url string) {
	for _, icon := range ranked(icons, theme) {
		if strings.HasPrefix(icon.Src, "http") {
			if !a.from.has(icon.Src) {
				continue
			}
			image, known := a.cache.known(icon.Src)
			if !known && !a.complete && !a.asked[icon.Src] {
				return "", icon.Src
			}
			if image != "" {
				return image, ""
			}
			continue
		}
		image, known := a.checked[icon.Src]
		if !known {
			image = fromDataURI(icon.Src)
			a.checked[icon.Src] = image
		}
		if image != "" {
			return image, ""
		}
	}
	return "", ""
}

// choose returns the icons of a thing, and whether it has any.
func (a *collection) choose(icons []Icon) (protocol.Icons, bool) {
	forLight, ok := a.place(icons, light)
	if !ok {
		return protocol.Icons{}, false
	}
	forDark, ok := a.place(icons, dark)
	return protocol.Icons{Light: forLight, Dark: forDark}, ok
}

// place returns the place of the best image for a theme.
func (a *collection) place(icons []Icon, theme string) (place int, ok bool) {
	image, _ := a.best(icons, theme)
	if image == "" {
		return 0, false
	}
	if place, ok = a.places[image]; ok {
		return place, true
	}
	if a.total += len(image); a.total > maxTotal {
		return 0, false
	}
	a.places[image] = len(a.images)
	a.images = append(a.images, image)
	return a.places[image], true
}

func (a *collection) chooseEach(things []Thing) map[string]protocol.Icons {
	var chosen map[string]protocol.Icons
	for _, thing := range things {
		if icons, ok := a.choose(thing.Icons); ok {
			if chosen == nil {
				chosen = map[string]protocol.Icons{}
			}
			chosen[thing.Key] = icons
		}
	}
	return chosen
}
