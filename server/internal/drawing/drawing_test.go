package drawing_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/server/internal/drawing"
)

func booking() drawing.Graph {
	return drawing.Graph{
		Title: "Table booking",
		Nodes: []drawing.Node{
			{Name: "greeting", Title: "Greeting"}, {Name: "date", Title: "Date and time"},
			{Name: "other_time", Title: "Offer another time"}, {Name: "contact", Title: "Name and phone"},
			{Name: "confirm", Title: "Read back"}, {Name: "goodbye", Title: "Farewell", End: true},
		},
		Edges: []drawing.Edge{
			{From: "greeting", To: "date", Label: "set_party_size"},
			{From: "date", To: "contact", Label: "check_table"},
			{From: "date", To: "other_time", Label: "check_table"},
			{From: "other_time", To: "contact", Label: "take_other_time"},
			{From: "other_time", To: "goodbye", Label: "no_thanks"},
			{From: "contact", To: "confirm", Label: "set_contact"},
			{From: "contact", To: "contact", Label: "add_wish"},
			{From: "confirm", To: "date", Label: "change_time"},
			{From: "confirm", To: "goodbye", Label: "book"},
		},
	}
}

// element is a part of the drawing that matters to a page.
type element struct {
	name, id, class, node, from, to string
}

func elements(t *testing.T, svg []byte) []element {
	t.Helper()
	var out []element
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("the drawing is not well-formed: %v", err)
		}
		s, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		e := element{name: s.Name.Local}
		for _, a := range s.Attr {
			switch a.Name.Local {
			case "id":
				e.id = a.Value
			case "class":
				e.class = a.Value
			case "data-node":
				e.node = a.Value
			case "data-from":
				e.from = a.Value
			case "data-to":
				e.to = a.Value
			}
		}
		out = append(out, e)
	}
}

func TestEveryNodeAndEdgeCanBeFoundInTheDrawing(t *testing.T) {
	g := booking()
	svg, err := drawing.SVG(g)
	if err != nil {
		t.Fatal(err)
	}
	nodes, edges := map[string]string{}, map[[2]string]bool{}
	for _, e := range elements(t, svg) {
		if e.node != "" {
			if e.id != "node-"+e.node {
				t.Errorf("node %q has the id %q", e.node, e.id)
			}
			nodes[e.node] = e.class
		}
		if e.from != "" {
			edges[[2]string{e.from, e.to}] = true
		}
	}
	for _, n := range g.Nodes {
		if _, ok := nodes[n.Name]; !ok {
			t.Errorf("node %q is not drawn", n.Name)
		}
	}
	for _, e := range g.Edges {
		if !edges[[2]string{e.From, e.To}] {
			t.Errorf("edge %s → %s is not drawn", e.From, e.To)
		}
	}
	if !strings.Contains(nodes["greeting"], "start") || !strings.Contains(nodes["goodbye"], "end") {
		t.Errorf("start and end are not marked: %v", nodes)
	}
	if dir := os.Getenv("TURNWISE_KEEP"); dir != "" {
		_ = os.WriteFile(dir+"/graph.svg", svg, 0o644)
	}
}

func TestTheSameGraphGivesTheSameDrawing(t *testing.T) {
	first, _ := drawing.SVG(booking())
	for range 20 {
		if again, _ := drawing.SVG(booking()); !bytes.Equal(first, again) {
			t.Fatal("two drawings of one graph differ")
		}
	}
}

func TestNamesAreWrittenSafely(t *testing.T) {
	evil := `<script>alert("1")</script>&'`
	svg, err := drawing.SVG(drawing.Graph{Title: evil, Nodes: []drawing.Node{{Name: evil}, {Name: "b", Title: evil}},
		Edges: []drawing.Edge{{From: evil, To: "b", Label: evil}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range elements(t, svg) {
		if e.name == "script" {
			t.Fatal("a node's name became an element")
		}
	}
}

func TestGraphsThatAreNoneAreRefused(t *testing.T) {
	for name, g := range map[string]drawing.Graph{
		"a node without a name":       {Nodes: []drawing.Node{{Title: "x"}}},
		"two nodes of one name":       {Nodes: []drawing.Node{{Name: "a"}, {Name: "a"}}},
		"an edge from an unknown one": {Nodes: []drawing.Node{{Name: "a"}}, Edges: []drawing.Edge{{From: "b", To: "a"}}},
		"an edge to an unknown one":   {Nodes: []drawing.Node{{Name: "a"}}, Edges: []drawing.Edge{{From: "a", To: "b"}}},
		"too many nodes":              {Nodes: make([]drawing.Node, drawing.MaxNodes+1)},
	} {
		if _, err := drawing.SVG(g); !errors.Is(err, drawing.ErrGraph) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var rect = regexp.MustCompile(`<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"`)
var size = regexp.MustCompile(`viewBox="0 0 ([\d.]+) ([\d.]+)"`)

func floats(t *testing.T, text []string) []float64 {
	t.Helper()
	out := make([]float64, len(text))
	for i, s := range text {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

// TestBoxesNeverOverlap draws random graphs, with cycles, loops and parts that
// hang together with nothing.
func TestBoxesNeverOverlap(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var g drawing.Graph
		n := 1 + r.IntN(14)
		for i := range n {
			g.Nodes = append(g.Nodes, drawing.Node{Name: fmt.Sprint("n", i), Title: strings.Repeat("title ", r.IntN(5))})
		}
		for range r.IntN(3 * n) {
			g.Edges = append(g.Edges, drawing.Edge{From: fmt.Sprint("n", r.IntN(n)), To: fmt.Sprint("n", r.IntN(n)), Label: fmt.Sprint("label_", r.IntN(9))})
		}
		svg, err := drawing.SVG(g)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		all := floats(t, size.FindStringSubmatch(string(svg))[1:])
		var boxes [][]float64
		for _, m := range rect.FindAllStringSubmatch(string(svg), -1) {
			b := floats(t, m[1:])
			if b[0] < 0 || b[1] < 0 || b[0]+b[2] > all[0] || b[1]+b[3] > all[1] {
				t.Fatalf("seed %d: a box stands outside the drawing", seed)
			}
			for _, o := range boxes {
				if b[0] < o[0]+o[2] && o[0] < b[0]+b[2] && b[1] < o[1]+o[3] && o[1] < b[1]+b[3] {
					t.Fatalf("seed %d: two boxes overlap", seed)
				}
			}
			boxes = append(boxes, b)
		}
		if len(boxes) != n {
			t.Fatalf("seed %d: %d boxes for %d nodes", seed, len(boxes), n)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	g := booking()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := drawing.SVG(g); err != nil {
			b.Fatal(err)
		}
	}
}
