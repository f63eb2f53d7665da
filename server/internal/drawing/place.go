package drawing

// The measures of a drawing, in SVG user units.
const (
	nodeHeight = 34.0
	nodePad    = 16.0 // left and right of the text
	nodeMin    = 72.0
	passWidth  = 4.0
	loopWidth  = 18.0
	gapX       = 18.0 // between nodes of a layer
	gapPass    = 9.0  // beside an edge that passes
	gapY       = 13.0 // between layers
	margin     = 10.0
	portGap    = 22.0
	lineHeight = 14.0 // of labels

	nodeFont  = 13.0
	labelFont = 11.0
)

// rounds is how often the boxes are pulled towards their neighbours.
const rounds = 60

// place gives every item its coordinates: first packed, then pulled towards the
// mean of its neighbours, keeping order and distance.
func (l *layout) place() {
	for _, layer := range l.layers {
		x := 0.0
		for _, it := range layer {
			it.x = x + it.w/2
			x += it.w + gapX // pulled together below
		}
	}
	up := func(it *item) []link { return it.up }
	down := func(it *item) []link { return it.down }
	both := func(it *item) []link { return append(append([]link(nil), it.up...), it.down...) }
	for range rounds {
		for r := range l.layers {
			pull(l.layers[r], up)
		}
		for r := len(l.layers) - 1; r >= 0; r-- {
			pull(l.layers[r], down)
		}
	}
	for range rounds {
		for r := range l.layers {
			pull(l.layers[r], both)
		}
	}
	l.fit()
}

// run is a stretch of boxes that touch and so move together.
type run struct {
	sum, weight float64 // of the wishes, less the boxes' offsets in the layer
	n           int
}

func (r run) at() float64 { return r.sum / r.weight }

// gap is the distance to keep between neighbours.
func gap(a, b *item) float64 {
	if a.w == passWidth || b.w == passWidth {
		return gapPass
	}
	return gapX
}

// pull moves a layer's boxes as near to where their neighbours are as order and
// distances allow: the exact least-squares answer, by pooling boxes that push
// against each other.
func pull(layer []*item, side func(*item) []link) {
	runs := make([]run, 0, len(layer))
	offsets := make([]float64, len(layer))
	for i, it := range layer {
		if i > 0 {
			before := layer[i-1]
			offsets[i] = offsets[i-1] + (before.w+it.w)/2 + gap(before, it)
		}
		wish, weight := it.x, 0.01
		if links := side(it); len(links) > 0 {
			wish, weight = 0, 0
			for _, k := range links {
				wish += k.to.x * k.weight
				weight += k.weight
			}
			wish /= weight
		}
		runs = append(runs, run{(wish - offsets[i]) * weight, weight, 1})
		for n := len(runs); n > 1 && runs[n-2].at() > runs[n-1].at(); n = len(runs) {
			a, b := runs[n-2], runs[n-1]
			runs = append(runs[:n-2], run{a.sum + b.sum, a.weight + b.weight, a.n + b.n})
		}
	}
	i := 0
	for _, r := range runs {
		for range r.n {
			layer[i].x = r.at() + offsets[i]
			i++
		}
	}
}

// fit moves the drawing to the origin and gives the layers their heights.
func (l *layout) fit() {
	left, right := 0.0, 0.0
	first := true
	for _, layer := range l.layers {
		for _, it := range layer {
			if first {
				left, right, first = it.x-it.w/2, it.x+it.w/2, false
			}
			left, right = min(left, it.x-it.w/2), max(right, it.x+it.w/2)
		}
	}
	for _, layer := range l.layers {
		for _, it := range layer {
			it.x += margin - left
		}
	}
	l.tops, l.height = make([]float64, len(l.layers)), make([]float64, len(l.layers))
	y := margin
	for r, layer := range l.layers {
		for _, it := range layer {
			l.height[r] = max(l.height[r], it.h)
		}
		l.tops[r] = y
		y += l.height[r] + gapY
	}
	l.bounds.w, l.bounds.h = right-left+2*margin, y-gapY+margin
	if len(l.layers) == 0 {
		l.bounds.h = 2 * margin
	}
}
