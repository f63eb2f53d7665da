package drawing

import (
	"cmp"
	"slices"
)

// sweeps is how often the layers are gone through, down and up in turn.
const sweeps = 16

// maxOrdered is the largest number of boxes that are arranged; a larger drawing
// keeps the order in which it was given.
const maxOrdered = 4000

// order arranges each layer so that few edges cross: by the mean place of the
// neighbours, and then by swapping neighbours where that helps. The best
// arrangement met is kept.
func (l *layout) order() {
	boxes := 0
	for _, layer := range l.layers {
		boxes += len(layer)
	}
	if boxes > maxOrdered {
		return
	}
	best, fewest := l.arrangement(), l.crossings()
	for sweep := 0; sweep < sweeps && fewest > 0; sweep++ {
		if sweep%2 == 0 {
			for r := 1; r < len(l.layers); r++ {
				l.sortLayer(r, func(it *item) []link { return it.up })
			}
		} else {
			for r := len(l.layers) - 2; r >= 0; r-- {
				l.sortLayer(r, func(it *item) []link { return it.down })
			}
		}
		l.swapNeighbours()
		if n := l.crossings(); n < fewest {
			best, fewest = l.arrangement(), n
		}
	}
	for r, layer := range best {
		copy(l.layers[r], layer)
		renumber(l.layers[r])
	}
}

func (l *layout) arrangement() [][]*item {
	a := make([][]*item, len(l.layers))
	for r, layer := range l.layers {
		a[r] = slices.Clone(layer)
	}
	return a
}

// sortLayer sorts a layer by the mean place of each item's neighbours; items
// without any keep theirs.
func (l *layout) sortLayer(r int, side func(*item) []link) {
	key := make(map[*item]float64, len(l.layers[r]))
	for _, it := range l.layers[r] {
		links := side(it)
		if len(links) == 0 {
			key[it] = float64(it.pos)
			continue
		}
		sum := 0.0
		for _, k := range links {
			sum += float64(k.to.pos)
		}
		key[it] = sum / float64(len(links))
	}
	slices.SortStableFunc(l.layers[r], func(a, b *item) int { return cmp.Compare(key[a], key[b]) })
	renumber(l.layers[r])
}

func renumber(layer []*item) {
	for i, it := range layer {
		it.pos = i
	}
}

// swapNeighbours swaps items next to each other as long as that takes crossings
// away.
func (l *layout) swapNeighbours() {
	for again := true; again; {
		again = false
		for _, layer := range l.layers {
			for i := 0; i+1 < len(layer); i++ {
				a, b := layer[i], layer[i+1]
				now := cross(a.up, b.up) + cross(a.down, b.down)
				then := cross(b.up, a.up) + cross(b.down, a.down)
				if then < now {
					layer[i], layer[i+1] = b, a
					a.pos, b.pos = i+1, i
					again = true
				}
			}
		}
	}
}

// cross counts the crossings between the links of an item and those of one to its
// right.
func cross(left, right []link) int {
	n := 0
	for _, a := range left {
		for _, b := range right {
			if a.to.pos > b.to.pos {
				n++
			}
		}
	}
	return n
}

// crossings counts all of them.
func (l *layout) crossings() int {
	n := 0
	for _, layer := range l.layers {
		for i, a := range layer {
			for _, b := range layer[i+1:] {
				n += cross(a.down, b.down)
			}
		}
	}
	return n
}
