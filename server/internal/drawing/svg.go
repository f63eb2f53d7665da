package drawing

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The colours of a drawing that no style sheet touches.
const (
	ink    = "#1f2933"
	line   = "#7b8794"
	fill   = "#ffffff"
	border = "#9aa5b1"
)

// writer writes SVG.
type writer struct{ bytes.Buffer }

func (w *writer) put(format string, args ...any) { fmt.Fprintf(&w.Buffer, format, args...) }

// num writes a coordinate with one decimal at most.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// esc makes text safe for content and attributes.
func esc(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func (l *layout) write(title string) []byte {
	w := &writer{}
	w.put(`<svg xmlns="http://www.w3.org/2000/svg" class="flow-graph" role="img" aria-label="%s" width="%s" height="%s" viewBox="0 0 %s %s" font-family="system-ui, sans-serif">`+"\n",
		esc(title), num(l.bounds.w), num(l.bounds.h), num(l.bounds.w), num(l.bounds.h))
	starts, ends := l.ports()
	for i, e := range l.edges {
		l.writeEdge(w, e, starts[i], ends[i])
	}
	for i := range l.nodes {
		l.writeLoop(w, i)
		l.writeNode(w, i)
	}
	w.put("</svg>\n")
	return w.Bytes()
}

// ports spreads the edges of each node along its lower and upper side, in the
// order in which they leave.
func (l *layout) ports() (starts, ends []float64) {
	starts, ends = make([]float64, len(l.edges)), make([]float64, len(l.edges))
	type port struct {
		x  float64 // where the edge goes
		at *float64
	}
	lower, upper := make([][]port, len(l.nodes)), make([][]port, len(l.nodes))
	for i, e := range l.edges {
		lower[e.from] = append(lower[e.from], port{e.path[1].x, &starts[i]})
		upper[e.to] = append(upper[e.to], port{e.path[len(e.path)-2].x, &ends[i]})
	}
	spread := func(ports []port, n int) {
		slices.SortStableFunc(ports, func(a, b port) int { return cmp.Compare(a.x, b.x) })
		gap := min(portGap, (nodeWidth(l.nodes[n])-24)/float64(max(1, len(ports)-1)))
		left := l.items[n].x - gap*float64(len(ports)-1)/2
		for i, p := range ports {
			*p.at = left + gap*float64(i)
		}
	}
	for n := range l.nodes {
		spread(lower[n], n)
		spread(upper[n], n)
	}
	return starts, ends
}

const headLength, headWidth = 7.0, 7.0

// writeEdge draws an edge as a curve that is vertical wherever it meets a layer.
func (l *layout) writeEdge(w *writer, e *edge, start, end float64) {
	from, to := l.nodes[e.from].Name, l.nodes[e.to].Name
	if e.back {
		from, to = to, from
	}
	w.put(`<g class="edge" data-from="%s" data-to="%s"><title>%s</title>`, esc(from), esc(to),
		esc(strings.Join(append([]string{from + " → " + to}, e.labels...), "\n")))
	y := l.tops[e.path[0].rank] + nodeHeight
	last := l.tops[e.path[len(e.path)-1].rank]
	headX, headY, sign := end, last, 1.0
	if e.back {
		headX, headY, sign = start, y, -1.0
		y += headLength
	} else {
		last -= headLength
	}
	w.put(`<path class="line" fill="none" stroke="%s" stroke-width="1.4" d="`, line)
	l.writeCurve(w, e, point{start, y}, point{end, last})
	w.put(`"/><path class="head" fill="%s" d="M%s %sl%s %sh%sz"/>`, line, num(headX), num(headY),
		num(headWidth/2), num(-sign*headLength), num(-headWidth))
	for _, it := range e.path {
		if it.label {
			l.writeLabel(w, e, it)
		}
	}
	w.put("</g>\n")
}

// point is a place in the drawing.
type point struct{ x, y float64 }

// writeCurve draws the way of an edge: straight down where it passes a row of
// nodes, through the middle of its label, and in one sweep between these.
func (l *layout) writeCurve(w *writer, e *edge, at, end point) {
	w.put("M%s %s", num(at.x), num(at.y))
	var slope point // of the curve where it leaves at
	sweep := func(to point, arrive point) {
		third := (to.y - at.y) / 2
		if slope.y == 0 {
			slope = point{0, 1}
		}
		if arrive.y == 0 {
			arrive = point{0, 1}
		}
		w.put("C%s %s %s %s %s %s",
			num(at.x+slope.x/slope.y*third), num(at.y+third),
			num(to.x-arrive.x/arrive.y*third), num(to.y-third), num(to.x), num(to.y))
		at, slope = to, arrive
	}
	for i, it := range e.path[1 : len(e.path)-1] {
		top, h := l.tops[it.rank], l.height[it.rank]
		switch {
		case it.rank%2 == 0:
			sweep(point{it.x, top}, point{})
			at.y += h
			w.put("V%s", num(at.y))
		case it.label:
			next := end
			if n := e.path[i+2]; n.node < 0 {
				next = point{n.x, l.tops[n.rank]}
			}
			lean := point{next.x - at.x, next.y - at.y}
			if (it.x-at.x)*(next.x-it.x) <= 0 { // it bulges out: no overshoot
				lean = point{}
			}
			sweep(point{it.x, top + h/2}, lean)
		}
	}
	sweep(end, point{})
}

// writeLabel writes an edge's labels over its line, with a halo in the ground's
// colour.
func (l *layout) writeLabel(w *writer, e *edge, it *item) {
	y := l.tops[it.rank] + (l.height[it.rank]-it.h)/2 + lineHeight - 3.5
	for i, s := range e.labels {
		w.put(`<text class="label" x="%s" y="%s" text-anchor="middle" font-size="%s" fill="%s" stroke="%s" stroke-width="5" stroke-linejoin="round" paint-order="stroke">%s</text>`,
			num(it.x), num(y+float64(i)*lineHeight), num(labelFont), ink, fill, esc(cut(s, maxLabel)))
	}
}

// writeLoop draws the edges of a node to itself, as one loop at its right.
func (l *layout) writeLoop(w *writer, i int) {
	labels := l.loops[i]
	if len(labels) == 0 {
		return
	}
	name := l.nodes[i].Name
	x := l.items[i].x + nodeWidth(l.nodes[i])/2
	y := l.tops[l.items[i].rank] + nodeHeight/2
	w.put(`<g class="edge" data-from="%s" data-to="%s"><title>%s</title>`, esc(name), esc(name),
		esc(strings.Join(append([]string{name + " → " + name}, labels...), "\n")))
	w.put(`<path class="line" fill="none" stroke="%s" stroke-width="1.4" d="M%s %sh6a8 8 0 0 1 0 16"/>`, line, num(x), num(y-8))
	w.put(`<path class="head" fill="%s" d="M%s %sl%s %sv%sz"/></g>`+"\n", line, num(x), num(y+8), num(headLength), num(-headWidth/2), num(headWidth))
}

func (l *layout) writeNode(w *writer, i int) {
	n, it := l.nodes[i], l.items[i]
	class := "node"
	if i == 0 {
		class += " start"
	}
	if n.End {
		class += " end"
	}
	title := n.Title
	if title == "" {
		title = n.Name
	}
	width, top := nodeWidth(n), l.tops[it.rank]
	radius := 9.0
	if n.End {
		radius = nodeHeight / 2
	}
	w.put(`<g class="%s" id="node-%s" data-node="%s"><title>%s</title>`, class, esc(n.Name), esc(n.Name), esc(title))
	w.put(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s" fill="%s" stroke="%s" stroke-width="1.4"/>`,
		num(it.x-width/2), num(top), num(width), num(nodeHeight), num(radius), fill, border)
	w.put(`<text x="%s" y="%s" text-anchor="middle" font-size="%s" font-weight="500" fill="%s">%s</text></g>`+"\n",
		num(it.x), num(top+nodeHeight/2+nodeFont*0.35), num(nodeFont), ink, esc(caption(n)))
}
