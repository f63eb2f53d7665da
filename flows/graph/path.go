package graph

import (
	"strconv"
	"strings"
)

// Path is where something stands in a flow: nodes.load.next[0].when. A key that is no
// plain name is quoted: tools["claims.load"].
type Path string

// Key is the path of what stands under a key.
func (p Path) Key(name string) Path {
	if !plainName(name) {
		return p + Path("["+strconv.Quote(name)+"]")
	}
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index is the path of an element of a list.
func (p Path) Index(i int) Path { return p + Path("["+strconv.Itoa(i)+"]") }

// Parent is the path without its last step.
func (p Path) Parent() Path {
	s := string(p)
	if strings.HasSuffix(s, `"]`) {
		for i := len(s) - 3; i > 0; i-- {
			if s[i] == '"' && s[i-1] == '[' {
				return p[:i-1]
			}
		}
	}
	return p[:max(0, strings.LastIndexAny(s, ".["))]
}

// plainName tells whether a name consists of letters, digits, _ and -.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '_' && s[i] != '-' {
			return false
		}
	}
	return s != ""
}
