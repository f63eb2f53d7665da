package offline

import (
	"encoding/json"

	"github.com/turnwise/turnwise/internal/schema"
)

// gate checks whole argument objects before a call is made. The zero gate refuses
// everything: a call that cannot be checked is not made.
type gate struct{ schema *schema.Schema }

// newGate compiles a schema, which may come from anywhere. A broken one gives the
// zero gate.
func newGate(raw json.RawMessage) gate {
	s, err := schema.Compile(raw)
	if err != nil {
		return gate{}
	}
	return gate{s}
}

func (g gate) accepts(args json.RawMessage) bool { return g.schema.Check(args) == nil }
