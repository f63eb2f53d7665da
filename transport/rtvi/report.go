package rtvi

// ReportLevel is how much of a function call a client is told.
type ReportLevel uint8

// The levels.
const (
	// ReportNone tells that a call runs, by its id alone. It is the default.
	ReportNone ReportLevel = iota
	// ReportName tells the function's name too. Tools that run in the client need
	// ReportFull.
	ReportName
	// ReportFull tells the arguments and the result too.
	ReportFull
	// ReportDisabled tells nothing.
	ReportDisabled
)

// String is the level's name in the protocol.
func (l ReportLevel) String() string {
	switch l {
	case ReportNone:
		return "none"
	case ReportName:
		return "name"
	case ReportFull:
		return "full"
	case ReportDisabled:
		return "disabled"
	}
	return "unknown"
}

// FunctionReport says how much of which function call a client is told.
type FunctionReport struct {
	// Level is for every function that ByName does not hold.
	Level ReportLevel
	// ByName has the exceptions, by the function's name. It must not be changed
	// while sessions use it.
	ByName map[string]ReportLevel
}

func (r *FunctionReport) level(name string) ReportLevel {
	if l, ok := r.ByName[name]; ok {
		return l
	}
	return r.Level
}
