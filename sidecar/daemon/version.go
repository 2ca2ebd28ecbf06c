package daemon

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Development is the prefix of builds without a version. The rest is the build time, in RFC 3339 and UTC.
const Development = "dev "

// Newer reports whether a build is newer than another: by the numbers of versions such as 1.10.0, or by the times of
// development builds. A pre-release such as 1.10.0-rc.1 is older than its release, and the parts after the first "-"
// are compared by the rules of semver.org. Parts after a "+" are ignored. Other builds are not comparable, so none is
// newer.
func Newer(build, than string) bool {
	a, aDev := strings.CutPrefix(build, Development)
	b, bDev := strings.CutPrefix(than, Development)
	if aDev || bDev {
		return aDev && bDev && a > b
	}
	a, _, _ = strings.Cut(a, "+")
	b, _, _ = strings.Cut(b, "+")
	a, aPre, aIsPre := strings.Cut(a, "-")
	b, bPre, bIsPre := strings.Cut(b, "-")
	order, ok := compareNumbers(a, b)
	switch {
	case !ok:
		return false
	case order != 0:
		return order > 0
	case aIsPre != bIsPre:
		return bIsPre
	default:
		return slices.CompareFunc(strings.Split(aPre, "."), strings.Split(bPre, "."), comparePre) > 0
	}
}

// comparePre compares identifiers of pre-releases: numbers by their values, before all texts.
func comparePre(a, b string) int {
	aText, bText := strings.Trim(a, "0123456789") != "", strings.Trim(b, "0123456789") != ""
	switch {
	case aText && bText:
		return strings.Compare(a, b)
	case aText:
		return 1
	case bText:
		return -1
	default: // of any length, without leading zeros
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
}

// compareNumbers compares numbers with dots between them.
func compareNumbers(a, b string) (order int, ok bool) {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, xOK := numberAt(as, i)
		y, yOK := numberAt(bs, i)
		if !xOK || !yOK {
			return 0, false
		}
		if order == 0 {
			order = cmp.Compare(x, y)
		}
	}
	return order, true
}

func numberAt(parts []string, i int) (n uint64, ok bool) {
	if i >= len(parts) {
		return 0, true
	}
	n, err := strconv.ParseUint(parts[i], 10, 64)
	return n, err == nil
}
