package drawing

import (
	"strings"
	"unicode/utf8"
)

// maxTitle is how many characters of a node's title are drawn; the whole is in the
// group's own title.
const maxTitle = 26

// caption is what is written in a node.
func caption(n Node) string {
	t := n.Title
	if t == "" {
		t = n.Name
	}
	return cut(t, maxTitle)
}

// cut shortens s to max characters.
func cut(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:max-1]), " ") + "…"
}

// textWidth estimates the width of s in a sans-serif face of that size. It errs on
// the wide side, since a browser's own font is not known here.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iIjlt.,:;'|!()[] ", r):
			w += 0.34
		case strings.ContainsRune("mwMW@%…", r):
			w += 0.92
		case r >= 'A' && r <= 'Z':
			w += 0.70
		case r < 0x2000:
			w += 0.57
		default:
			w += 1.05
		}
	}
	return w * size
}

func nodeWidth(n Node) float64 {
	return max(nodeMin, textWidth(caption(n), nodeFont)+2*nodePad)
}

// maxLabel is how many characters of a label are drawn.
const maxLabel = 30

func labelSize(labels []string) (w, h float64) {
	for _, s := range labels {
		w = max(w, textWidth(cut(s, maxLabel), labelFont))
	}
	return w + 6, float64(len(labels)) * lineHeight
}
