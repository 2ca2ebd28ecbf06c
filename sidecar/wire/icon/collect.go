package icon

import "assent/protocol"

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

// Collect chooses an icon of each thing for each theme, among those that stand in the declaration as data: URIs.
func Collect(o Offered) *protocol.ListIconsResult {
	all := collection{checked: map[string]string{}, places: map[string]int{}}
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
	// checked are the images that were looked at, by their src.
	checked map[string]string
	images  []string
	places  map[string]int // of the images
	total   int            // the bytes of the images
}

// best returns the image of the icon that suits a theme best, or "" if there is none.
func (a *collection) best(icons []Icon, theme string) string {
	for _, icon := range ranked(icons, theme) {
		image, known := a.checked[icon.Src]
		if !known {
			image = fromDataURI(icon.Src)
			a.checked[icon.Src] = image
		}
		if image != "" {
			return image
		}
	}
	return ""
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
	image := a.best(icons, theme)
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
