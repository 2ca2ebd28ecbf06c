package visible

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters of names and the letter of ASCII as which each is drawn in most fonts, in pairs. It is the part of
// Unicode's confusables for Latin, Cyrillic, Greek and Armenian letters. Variants such as wide and mathematical letters are
// not here: normalization knows them.
const lookalikes = "1l Il |l ıi ɑa ɡg ɩi 0O ǀl ƽs " +
	"аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ѵv ьb гr пn кk АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT УY ХX ԚQ ԜW Ѵv Ӏl " +
	"αa οo ρp νv υu ιi κk γy σo ϲc ϳj ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX " +
	"օo ոn սu հh ցg զq աw ՕO ՏS ԼL " +
	"‐- ‑- ‒- –- —- −- ․."

// together are letters that look like another one side by side.
var together = strings.NewReplacer("rn", "m", "vv", "w")

var plain = func() *strings.Replacer {
	var pairs []string
	for pair := range strings.FieldsSeq(lookalikes) {
		_, size := utf8.DecodeRuneInString(pair)
		pairs = append(pairs, pair[:size], pair[size:])
	}
	return strings.NewReplacer(pairs...)
}()

// Skeleton returns a text that two names share if they look alike in most fonts. It is for comparing names, not for showing
// them: hidden characters are not in it, nor blanks that one does not see, and letters that look like one of ASCII are that
// letter.
func Skeleton(name string) string {
	shown := strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
	shown = plain.Replace(plain.Replace(shown)) // a capital Ι or І is first an I
	return together.Replace(strings.Join(strings.Fields(shown), " "))
}

// Spelled returns a name with each character outside ASCII as its code point, as [Text] writes hidden ones.
func Spelled(name string) string {
	return escape(name, func(_, r, _ rune) bool { return r >= utf8.RuneSelf || Hidden(r) })
}
