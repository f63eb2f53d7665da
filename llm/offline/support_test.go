package offline_test

import "testing"

func support() flow {
	return flow{
		nodes: map[string]node{
			"topic": {
				role: "You work for the support desk of a web shop.",
				task: "Welcome the customer to the support desk and ask what they need help with.",
				functions: []function{{
					name: "choose_topic", description: "The customer says what the request is about.", run: to("problem"),
					schema: `{"type":"object","properties":{"topic":{"type":"string","enum":["billing","delivery","technical_problem"],"description":"What the customer needs help with"}},"required":["topic"]}`,
				}},
			},
			"problem": {
				task: "Ask the customer to describe the problem.",
				functions: []function{{
					name: "describe_problem", description: "Record the description of the problem in the customer's words.", run: to("order"),
					schema: `{"type":"object","properties":{"description":{"type":"string","minLength":5}},"required":["description"]}`,
				}},
			},
			"order": {
				task: "Ask for the order number.",
				functions: []function{{
					name: "look_up_order", description: "Look up an order by its number.", run: func(args map[string]any) (string, string) {
						return `{"status":"shipped","arrives":"2026-06-05"}`, "satisfied"
					},
					schema: `{"type":"object","properties":{"order_number":{"type":"string","pattern":"^[A-Z]{2}[0-9]{4}$"}},"required":["order_number"]}`,
				}},
			},
			"satisfied": {
				task: "Tell the customer when the order arrives. Ask whether they are satisfied.",
				functions: []function{{
					name: "close_ticket", description: "Close the ticket.",
					run: func(args map[string]any) (string, string) {
						if args["satisfied"] == true {
							return "ok", "end"
						}
						return "ok", "person"
					},
					schema: `{"type":"object","properties":{"satisfied":{"type":"boolean","description":"Whether the customer is satisfied"}},"required":["satisfied"]}`,
				}},
			},
			"person": {task: "Tell the customer that a colleague will call them back. Wish them a nice day."},
			"end":    {task: "Thank them for their patience and say goodbye."},
		},
		global: []function{{name: "escalate", description: "Escalate to a person.", examples: []string{"let me talk to a human"}, run: to("person")}},
	}
}

func TestASupportRequestIsSolved(t *testing.T) {
	begin(t, support(), "topic").
		say("my parcel has not arrived").say("I ordered a lamp two weeks ago and it is still not here").say("12345").say("ab 1234").say("not really").
		expect(`
			bot: Welcome to the support desk! What do you need help with: billing, delivery or technical problem?
			user: my parcel has not arrived
			call: choose_topic {"topic":"delivery"}
			bot: Please describe the problem.
			user: I ordered a lamp two weeks ago and it is still not here
			call: describe_problem {"description":"I ordered a lamp two weeks ago and it is still not here"}
			bot: May I have the order number, please?
			user: 12345
			bot: Sorry, that does not look like an order number; it should look like AB1234. May I have the order number, please?
			user: ab 1234
			call: look_up_order {"order_number":"AB1234"}
			bot: Arrives: Friday, 5 June. Are you satisfied?
			user: not really
			call: close_ticket {"satisfied":false}
			bot: A colleague will call you back. Have a nice day!`)
}

func TestACustomerWantsAPerson(t *testing.T) {
	d := begin(t, support(), "topic")
	d.say("I don't want to talk to a person").say("are you a robot?").say("the second one").say("I'd rather speak to someone").
		expect(`
			bot: Welcome to the support desk! What do you need help with: billing, delivery or technical problem?
			user: I don't want to talk to a person
			bot: Sorry, I didn't get that. What do you need help with: billing, delivery or technical problem?
			user: are you a robot?
			bot: I'm a small built-in stand-in, not an AI model: I follow this conversation by simple rules, without any network. What do you need help with: billing, delivery or technical problem?
			user: the second one
			call: choose_topic {"topic":"delivery"}
			bot: Please describe the problem.
			user: I'd rather speak to someone
			call: escalate {}
			bot: A colleague will call you back. Have a nice day!`)
}
