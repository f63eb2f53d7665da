package booking

import (
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
)

const persona = "You take table bookings for the Linden Tree, a small restaurant. You are friendly and brief: one or two sentences at a time. " +
	"The restaurant is in 12 Mill Lane, five minutes from the station. There is parking behind the house. " +
	"The kitchen has vegetarian and vegan dishes. Dogs are welcome. Call a function as soon as you have what it needs, and never invent details."

// task is a node's instruction.
func task(text string) []frames.Message {
	return []frames.Message{{Role: frames.RoleDeveloper, Text: text}}
}

// makeNodes makes the graph. Which node is next is worked out from what is still
// missing, see open.
func (f *Flow) makeNodes() {
	setPartySize := flows.Func("set_party_size", "Saves how many people come.", f.setPartySize,
		flows.WithTargets("date_time", "other_time", "name", "confirm"), flows.WithExamples("there are four of us", "just me"))
	setDateTime := flows.Func("set_date_time", "Saves day and time and checks that there is a table.", f.setDateTime,
		flows.WithTargets("name", "other_time", "confirm"), flows.WithExamples("tomorrow at seven", "on Friday, half past six"),
		flows.WithFiller("One moment, I am looking in the book.", 0))
	setName := flows.Func("set_name", "Saves the name of the guest.", f.setName,
		flows.WithTargets("confirm"), flows.WithExamples("my name is Ada Lovelace", "it is for Turing"))
	f.goodbye = &flows.NodeConfig{
		Name: "goodbye", Title: "Goodbye",
		TaskMessages: task("Wish the guest a nice day and say goodbye."),
		PostActions:  []flows.Action{flows.EndConversation("")},
	}
	f.greeting = &flows.NodeConfig{
		Name: "greeting", Title: "Greeting", RoleMessage: persona,
		PreActions:   []flows.Action{flows.Say("Welcome to the Linden Tree!")},
		TaskMessages: task("Ask the guest if they would like to book a table."),
		Functions: []flows.NodeFunction{
			flows.Func("book_table", "Starts a booking, with whatever the guest has said about it. The guest says yes.", f.bookTable,
				flows.WithTargets("party_size", "date_time", "other_time", "name"),
				flows.WithExamples("I would like to book a table", "a table for four please", "yes please", "can I make a reservation for tomorrow at seven?")),
			flows.Edge("no_booking", "The guest says no: they do not want a table.", f.goodbye, flows.WithExamples("no thank you", "not today")),
		},
	}
	f.partySize = &flows.NodeConfig{
		Name: "party_size", Title: "Size of the party",
		TaskMessages: task("Ask how many people will come. We can seat up to twelve."),
		Functions: []flows.NodeFunction{
			setPartySize,
		},
	}
	f.dateTime = &flows.NodeConfig{
		Name: "date_time", Title: "Day and time",
		TaskMessages: task("Ask for which day and at what time they would like the table. Tables can be booked from noon to nine in the evening."),
		Functions: []flows.NodeFunction{
			setDateTime,
			flows.Data("free_times", "Tells which times are still free on a day.", f.freeTimes,
				flows.WithExamples("Which times are free on Friday?", "When do you have something free?")),
		},
	}
	f.otherTime = &flows.NodeConfig{
		Name: "other_time", Title: "Another time",
		TaskMessages: task("Tell the guest the free times. Ask which other time would suit them."),
		Functions: []flows.NodeFunction{
			flows.Func("take_other_time", "Takes another time on the same day, or on another one, and checks that there is a table.", f.takeOtherTime,
				flows.WithTargets("name", "other_time", "confirm"), flows.WithExamples("seven is fine", "then nine", "what about Saturday at eight?")),
			flows.Edge("no_booking", "None of the free times suits the guest; they do without.", f.goodbye,
				flows.WithExamples("neither", "none of them", "no, then not")),
		},
	}
	f.name = &flows.NodeConfig{
		Name: "name", Title: "Name",
		TaskMessages: task("Ask for the name for the booking."),
		Functions: []flows.NodeFunction{
			setName,
		},
	}
	f.confirm = &flows.NodeConfig{
		Name: "confirm", Title: "Read back",
		TaskMessages: task("Read the booking back to the guest and ask whether everything is right."),
		Functions: []flows.NodeFunction{
			flows.Func("confirm_booking", "The guest says yes: everything is right. Makes the booking.", f.confirmBooking,
				flows.WithTargets("farewell"), flows.WithExamples("yes, that is right", "perfect")),
			flows.Func("change_booking", "The guest says no, or wants to change something.", f.changeBooking,
				flows.WithTargets("change", "other_time", "confirm"),
				flows.WithExamples("no, that is wrong", "we are five instead", "can we make it eight o'clock?")),
		},
	}
	f.change = &flows.NodeConfig{
		Name: "change", Title: "Change something",
		TaskMessages: task("Ask what should be different: the number of people, the time or the name?"),
		Functions: []flows.NodeFunction{
			flows.EdgeTo("change_party_size", "The number of people is to be changed.", f.forget(People.Name()),
				flows.WithTargets("party_size"), flows.WithExamples("the number of people")),
			flows.EdgeTo("change_time", "Day or time are to be changed.", f.forget(Day.Name(), Time.Name()),
				flows.WithTargets("date_time"), flows.WithExamples("the time", "the day")),
			flows.EdgeTo("change_name", "The name is to be changed.", f.forget(GuestName.Name()),
				flows.WithTargets("name"), flows.WithExamples("the name")),
			setPartySize, setDateTime, setName,
		},
	}
	f.farewell = &flows.NodeConfig{
		Name: "farewell", Title: "Farewell",
		PreActions:   []flows.Action{flows.Run(f.sendConfirmation)},
		TaskMessages: task("Tell the guest the reference of the booking. Thank them and say goodbye."),
		PostActions:  []flows.Action{flows.EndConversation("")},
	}
}
