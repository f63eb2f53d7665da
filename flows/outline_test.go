package flows_test

import (
	"encoding/json"
	"testing"

	"github.com/turnwise/turnwise/flows"
)

func TestOutline(t *testing.T) {
	bye := node("bye")
	bye.PostActions = []flows.Action{flows.EndConversation("")}
	bye.Title = "Farewell"
	look := fn("look", "", nil)
	check := fn("check", "", nil)
	check.To = []string{"bye", "elsewhere"}
	help := fn("help", "", nil)
	leave := flows.Edge("leave", "ends it", bye)
	o := flows.NewOutline([]flows.NodeFunction{help, leave}, node("start", look, check), bye, nil, node("start"))
	got, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"nodes":[{"name":"start","title":"start","functions":[{"name":"look","description":"does look"}]},` +
		`{"name":"bye","title":"Farewell","end":true},{"name":"elsewhere","title":"elsewhere"}],` +
		`"edges":[{"from":"start","to":"bye","function":"check"},{"from":"start","to":"elsewhere","function":"check"}],` +
		`"globalFunctions":[{"name":"help","description":"does help"},{"name":"leave","description":"ends it","to":["bye"]}]}`
	if string(got) != want {
		t.Errorf("the outline is\n%s\nwant\n%s", got, want)
	}
}
