package run_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

// claim is the example of the format, with the flow it uses beside it.
func claim(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/parcel-claim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(raw), "idempotent: true}", "idempotent: true}\n  claims.unpay: {go: claims.unpay}", 1) + `
flows:
  front-desk:
    inputs: {words: {type: string}}
    start: help
    nodes:
      help: {task: "Help with: {{ inputs.words }}", next: over}
      over: {end: {outcome: helped}}
`
}

// claimTools answer like the claims service.
func claimTools() tools {
	return tools{
		"claims.load":         gives(map[string]any{"code": "open"}),
		"claims.survey":       gives(map[string]any{"status": "started"}),
		"claims.pay":          gives(map[string]any{"paid": true}),
		"claims.unpay":        gives(map[string]any{}),
		"depot.opening_hours": gives(map[string]any{"text": "We open at nine."}),
	}
}

// startClaim begins a claim of a caller who may be paid.
func startClaim(t *testing.T) *host {
	t.Helper()
	source := strings.Replace(claim(t), `permissions: ["claims:pay"]`, "permissions: [pay]", 1)
	source = strings.Replace(source, "depot.opening_hours]}", "depot.opening_hours, claims.unpay]}", 1)
	return start(t, source, run.Start{Inputs: map[string]any{"customer": "c-7"}}, claimTools())
}

func TestTheExampleOfTheFormatRunsToItsEnd(t *testing.T) {
	h := startClaim(t)
	if h.said() != "Claims desk, good morning." || h.run.Key != "c-7" {
		t.Fatalf("said %q, key %q", h.said(), h.run.Key)
	}
	h.say("it begins with nine")
	got := h.call("record", map[string]any{"parcel_no": "91234567"})
	if rejected, _ := got["rejected"].(map[string]any); rejected["parcel_no"] != "Numbers that begin with nine are letters, not parcels." {
		t.Errorf("the model is told %v", got)
	}
	h.say("when do you open?")
	h.call("opening_hours", nil)
	h.at("ask_parcel")
	h.say("12345678")
	h.call("record", map[string]any{"parcel_no": "12345678"})
	h.at("ask_damage")
	if task := h.talk().Task; !strings.Contains(task, "parcel 12345678") {
		t.Errorf("task %q", task)
	}
	if got := h.call("record_damage", map[string]any{"damage": "cup"}); got["error"] == nil {
		t.Errorf("a damage that is not listed was taken: %v", got)
	}
	h.call("record_damage", map[string]any{"damage": "screen"})
	if talk := h.talk(); talk.Node != "meanwhile" || h.run.Status != run.StatusWaiting {
		t.Fatalf("the talk is at %s, the run is %s", talk.Node, h.run.Status)
	}
	h.do(run.Answer{Interrupt: h.interrupt("callback").ID, Value: map[string]any{"verdict": "accept"}})
	i := h.interrupt("answer")
	if i.Audience != run.AudienceOperator || i.Title != "Pay claim 12345678?" || !i.Deadline.Equal(h.now.Add(10*time.Minute)) {
		t.Errorf("%+v", i)
	}
	h.do(run.Answer{Interrupt: i.ID, Value: map[string]any{"decision": "approve"}})
	if h.tally("claims.pay") != 0 {
		t.Error("paid before it was confirmed")
	}
	h.say("yes please")
	h.call(run.FunctionConfirm, map[string]any{"approved": true})
	h.at("questions")
	h.say("Thanks!")
	h.outcome("paid")
	want := "Claims desk, good morning. | We open at nine. | I am checking with a colleague. | Shall I pay it out now? | The claim for 12345678 is paid. Goodbye."
	if h.said() != want {
		t.Errorf("said %q", h.said())
	}
	if h.tally("claims.pay") != 1 || h.tally("claims.load") != 1 {
		t.Errorf("paid %d times, loaded %d times", h.tally("claims.pay"), h.tally("claims.load"))
	}
	h.state(map[string]any{"parcel_no": "12345678", "parcel": map[string]any{"code": "open"}, "damage": "screen", "verdict": map[string]any{"verdict": "accept"}})
}

func TestTheExampleDeclinesWhenNobodyDecides(t *testing.T) {
	h := startClaim(t)
	h.call("record", map[string]any{"parcel_no": "12345678"})
	h.call("record_damage", map[string]any{"damage": "glass"})
	h.do(run.Answer{Interrupt: h.interrupt("callback").ID, Value: map[string]any{"verdict": "accept"}})
	h.pass(10 * time.Minute)
	if o := h.outcome("declined"); o.Success || !reflect.DeepEqual(h.run.Scopes[""].Outputs["approve"], map[string]any{"output": nil}) && h.tally("claims.pay") != 0 {
		t.Errorf("%+v", o)
	}
}
