package offline_test

import "testing"

func booking() flow {
	return flow{
		nodes: map[string]node{
			"greeting": {
				role: "You are the host of the restaurant La Maison. There is parking behind the house. Keep your sentences short.",
				task: "Greet the guest and ask how many people will be coming.",
				functions: []function{{
					name: "record_party_size", description: "Record the number of people in the party.", run: to("time"),
					schema: `{"type":"object","properties":{"size":{"type":"integer","minimum":1,"maximum":12,"description":"Number of people"}},"required":["size"]}`,
				}},
			},
			"time": {
				task: "Ask on which day and at what time they would like to come.",
				functions: []function{{
					name: "check_availability", description: "Check whether a table is free at the date and time the guest wants.",
					schema: `{"type":"object","properties":{"date":{"type":"string","format":"date"},"time":{"type":"string","description":"Time, HH:MM"}},"required":["date","time"]}`,
					run: func(args map[string]any) (string, string) {
						if args["time"] == "19:00" {
							return `{"available":false,"alternatives":["18:00","20:30"]}`, ""
						}
						return `{"available":true}`, "name"
					},
				}},
			},
			"name": {
				task: "Ask for the name for the booking.",
				functions: []function{{
					name: "record_name", description: "Record the guest's name.", run: to("confirm"),
					schema: `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
				}},
			},
			"confirm": {
				task: "Confirm the details back and ask whether everything is right.",
				functions: []function{
					{name: "confirm_booking", description: "The guest confirms the booking.", run: to("end")},
					{name: "change_booking", description: "The guest wants to change something.", run: to("greeting")},
				},
			},
			"end": {task: "Thank the guest and say goodbye politely."},
		},
		global: []function{
			{name: "opening_hours", description: "Tells when the restaurant is open.", run: stay("We are open from 12 to 23 every day.")},
			{name: "vegetarian_menu", description: "Answers questions about vegetarian dishes.", run: stay(`{"dishes":["risotto","ratatouille"]}`)},
		},
	}
}

func TestABookingGoesThrough(t *testing.T) {
	begin(t, booking(), "greeting").
		say("Four please").say("tomorrow at half past seven").say("It's Anna").say("Yes, that's right").say("bye").
		expect(`
			bot: Hello! How many people will be coming?
			user: Four please
			call: record_party_size {"size":4}
			bot: On which day and at what time would you like to come?
			user: tomorrow at half past seven
			call: check_availability {"date":"2026-06-04","time":"19:30"}
			bot: May I have the name for the booking, please?
			user: It's Anna
			call: record_name {"name":"Anna"}
			bot: Let me read that back: 4 people, on Thursday, 4 June, at 19:30, under the name Anna. Is everything right?
			user: Yes, that's right
			call: confirm_booking {}
			bot: Thank you! Goodbye!
			user: bye
			bot: Goodbye!`)
}

func TestAGuestAsksChangesAndCorrects(t *testing.T) {
	begin(t, booking(), "greeting").
		say("What are your opening hours?").say("Do you have anything vegetarian?").say("is there parking?").say("we'd be fifteen").say("no, twelve, sorry, eight").
		say("next friday").say("at seven").say("8:30 pm then").say("Is it far?").say("bob").say("how many people did I say?").say("no, that's wrong").
		expect(`
			bot: Hello! How many people will be coming?
			user: What are your opening hours?
			call: opening_hours {}
			bot: We are open from 12 to 23 every day. How many people will be coming?
			user: Do you have anything vegetarian?
			call: vegetarian_menu {}
			bot: Dishes: risotto and ratatouille. How many people will be coming?
			user: is there parking?
			bot: There is parking behind the house. How many people will be coming?
			user: we'd be fifteen
			bot: Sorry, 15 is too many: it can be from 1 to 12. How many people will be coming?
			user: no, twelve, sorry, eight
			call: record_party_size {"size":8}
			bot: On which day and at what time would you like to come?
			user: next friday
			bot: And at what time?
			user: at seven
			call: check_availability {"date":"2026-06-12","time":"19:00"}
			bot: Available: no, alternatives: 18:00 and 20:30. On which day and at what time would you like to come?
			user: 8:30 pm then
			call: check_availability {"date":"2026-06-12","time":"20:30"}
			bot: May I have the name for the booking, please?
			user: Is it far?
			bot: Sorry, I don't know that. May I have the name for the booking, please?
			user: bob
			call: record_name {"name":"Bob"}
			bot: Let me read that back: 8 people, on Friday, 12 June, at 20:30, under the name Bob. Is everything right?
			user: how many people did I say?
			bot: I have 8 people. Is everything right?
			user: no, that's wrong
			call: change_booking {}
			bot: Hello! How many people will be coming?`)
}
