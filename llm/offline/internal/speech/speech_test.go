package speech

import (
	"strings"
	"testing"
)

func spoken(task string) string {
	var out []string
	for _, p := range NewScript(task, []string{"record_party_size", "opening_hours"}).Parts {
		text := p.Text
		switch p.Kind {
		case Greet:
			text = "<hello>"
		case Close:
			text = strings.TrimSpace("<bye> " + text)
		case Recap:
			text = "<recap " + text + ">"
		case Values:
			text = "<values " + text + ">"
		case Offer:
			text = "<offer " + text + ">"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestInstructionsAreTurnedIntoSpeech(t *testing.T) {
	for task, want := range map[string]string{
		"Greet the guest and ask how many people will be dining.":                "<hello> How many people will be dining?",
		"Greet the guest warmly, then ask how many people are coming (1 to 12).": "<hello> How many people are coming?",
		"Welcome the guest to La Maison and ask for the party size.":             "Welcome to La Maison! Could you tell me the party size, please?",
		"Ask how many people.":                                                                      "How many people?",
		"Ask the guest for their name.":                                                             "May I have your name, please?",
		"Ask for the guest's name":                                                                  "May I have your name, please?",
		"Ask the guest what date and time they would like.":                                         "What date and time would you like?",
		"Ask which day and time they want to come.":                                                 "Which day and time do you want to come?",
		"Ask when the party should arrive.":                                                         "When should the party arrive?",
		"Ask the user what the problem is.":                                                         "What is the problem?",
		"Ask the caller to describe the problem.":                                                   "Please describe the problem.",
		"Ask them to describe their problem in their own words.":                                    "Please describe your problem in your own words.",
		"Ask whether everything is correct.":                                                        "Is everything correct?",
		"Ask if they have any allergies.":                                                           "Do you have any allergies?",
		"Ask if there's anything else you can help with.":                                           "Is there anything else I can help with?",
		"Ask the customer if the issue has been resolved.":                                          "Has the issue been resolved?",
		"Ask whether the guest wants a vegetarian menu.":                                            "Do you want a vegetarian menu?",
		"Find out what broke and how the caller wants to go on.":                                    "What broke? How do you want to go on?",
		"Get the parcel number.":                                                                    "May I have the parcel number, please?",
		"Collect the date and time of the booking.":                                                 "Could you tell me the date and time of the booking, please?",
		"Thank the guest and say goodbye politely.":                                                 "Thank you! <bye>",
		"Thank them for calling and wish them a nice evening.":                                      "Thank you for calling! <bye> Have a nice evening!",
		"Confirm the details back and ask whether they are right.":                                  "<recap the details> Is that right?",
		"Read the booking back to the guest and ask if everything is right.":                        "<recap the booking> Is everything right?",
		"Confirm the booking: 4 people on Friday at 19:30 for Anna, and ask whether that is right.": "Let me confirm: 4 people on Friday at 19:30 for Anna. Is that right?",
		"Tell the guest that their table is booked.":                                                "Your table is booked.",
		"Tell them the kitchen closes at ten, then say goodbye.":                                    "The kitchen closes at ten. <bye>",
		"Apologize for the delay and offer to connect them to a person.":                            "I'm sorry for the delay. Would you like me to connect you to a person?",
		"Offer the alternatives.":                                                                   "<offer the alternatives>",
		`Say: "Hello there! How are you?"`:                                                          "Hello there! How are you?",
		`Say "Welcome to Bella's. I am a bot." Then ask for the name.`:                              "Welcome to Bella's. I am a bot. May I have the name, please?",
		"Ask for the size, then call record_party_size.":                                            "Could you tell me the size, please?",
		"Use the record_party_size function to record it.":                                          "",
		"Ask how many people, and if it is more than 12, tell them to call us.":                     "How many people?",
		"If the guest asks for the menu, tell them it is online.":                                   "",
		"You are at the first step. Your task is to greet the guest. Do not be chatty.":             "<hello>",
		"You must ask whether they'd like wine. Keep it short.":                                     "Would you like wine?",
		"Start by greeting the guest. Never mention prices.":                                        "<hello>",
		"How many people will be coming?":                                                           "How many people will be coming?",
		"Welcome to La Maison! How many of you are there?":                                          "Welcome to La Maison! How many of you are there?",
		"- Greet the user\n- Ask for their e-mail address":                                          "<hello> May I have your e-mail address, please?",
		"1. Greet the user\n2. Ask about the topic of their request":                                "<hello> Could you tell me about the topic of your request?",
		"Introduce yourself as the assistant of the support desk.":                                  "I'm the assistant of the support desk.",
		"Tell the user that you are looking up their order.":                                        "I am looking up your order.",
		"Let the customer know that a colleague will call them back within an hour.":                "A colleague will call you back within an hour.",
		"End the conversation.":                                                                     "<bye>",
		"Suggest another day.":                                                                      "<offer another day>",
		"Tell the guest the opening hours.":                                                         "<values the opening hours>",
		"Ask for the order number (two letters and four digits).":                                   "May I have the order number, please?",
		"Ask the guest their name.":                                                                 "What is your name?",
		"Ask what they need help with: billing, delivery or something technical.":                   "What do you need help with: billing, delivery or something technical?",
		"Ask how many people the table is for.":                                                     "How many people is the table for?",
		"Ask under which name to book it.":                                                          "Under which name should I book it?",
		"Ask whether to book it.":                                                                   "Should I book it?",
		"Say you are looking into it and ask for a moment.":                                         "I am looking into it. One moment, please.",
		"Apologise and ask for the code again; it is like AB12":                                     "I'm sorry. Could you tell me the code, please?",
		"Offer the guest to talk to a person instead.":                                              "Would you like to talk to a person instead?",
		"Ask if the guest would sit inside or on the terrace.":                                      "Would you sit inside or on the terrace?",
		"You are in the last step; say goodbye.":                                                    "<bye>",
		"Say something nice, then ask if they want dessert.":                                        "Do you want dessert?",
		"Offer these times: 18:00 or 20:30.":                                                        "I can offer 18:00 or 20:30.",
		"Greet the caller by saying \"Good evening, La Maison!\"":                                   "Good evening, La Maison!",
		"Our kitchen is open until ten in the evening.":                                             "",
		"": "",
	} {
		if got := spoken(task); got != want {
			t.Errorf("%q is spoken as\n  %q, want\n  %q", task, got, want)
		}
	}
}

func TestFactsAreKept(t *testing.T) {
	s := NewScript("You are a host. The restaurant has parking behind the house. Ask for the name.", nil)
	if len(s.Facts) != 1 || s.Facts[0] != "The restaurant has parking behind the house." {
		t.Errorf("the facts are %q", s.Facts)
	}
}

func TestARequestForASummaryIsSeen(t *testing.T) {
	for _, task := range []string{"Summarize the conversation so far in two sentences.", "Please summarise this chat."} {
		if !NewScript(task, nil).Summary {
			t.Errorf("%q is not seen to ask for a summary", task)
		}
	}
	if NewScript("Summarize the booking.", nil).Summary {
		t.Error("reading a booking back was taken for a summary of the conversation")
	}
}

func TestDescriptionsBecomeQuestions(t *testing.T) {
	for description, want := range map[string]string{
		"Number of people in the party":             "What is the number of people in the party?",
		"How many people will come":                 "How many people will come?",
		"The guest's name":                          "What is your name?",
		"Whether the guest wants wine":              "Do you want wine?",
		"True if the details are correct":           "Are the details correct?",
		"Date of the booking, YYYY-MM-DD":           "What is the date of the booking?",
		"Order number, two letters and four digits": "What is the order number, two letters and four digits?",
		"The order number (e.g. AB1234)":            "What is the order number?",
		"Time (24-hour clock)":                      "What is the time?",
		"ISO date":                                  "What is the ISO date?",
		"":                                          "",
	} {
		if got := Describe(description); got != want {
			t.Errorf("%q is asked for as %q, want %q", description, got, want)
		}
	}
}

func FuzzScriptNeverPanics(f *testing.F) {
	for _, s := range []string{"Greet the guest and ask", `Say "`, "Ask her", "Tell to", "Confirm that", "ask for", "If", "1. ", "Ask whether they", "“”", "Ask if it's"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, task string) {
		for _, p := range NewScript(task, []string{"f_g"}).Parts {
			if len(p.Text) > 3*len(task)+60 {
				t.Errorf("%q grew to %q", task, p.Text)
			}
		}
		Describe(task)
		Question(task)
	})
}
