package booking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/flows"
)

// The arguments of the functions.
type (
	none struct{}

	size struct {
		People int `json:"people" jsonschema:"How many people come" minimum:"1" maximum:"12"`
	}
	moment struct {
		Day  string `json:"day" jsonschema:"Day of the visit, YYYY-MM-DD" format:"date"`
		Time string `json:"time" jsonschema:"Time of the visit, HH:MM" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$"`
	}
	otherMoment struct {
		Time string `json:"time" jsonschema:"Time of the visit, HH:MM" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$"`
		Day  string `json:"day,omitempty" jsonschema:"Day of the visit if it is another one, YYYY-MM-DD" format:"date"`
	}
	day struct {
		Day string `json:"day" jsonschema:"The day, YYYY-MM-DD" format:"date"`
	}
	guest struct {
		Name string `json:"name" jsonschema:"Name of the guest" minLength:"1" maxLength:"80"`
	}
	wishes struct {
		People int    `json:"people,omitempty" jsonschema:"How many people come" minimum:"1" maximum:"12"`
		Day    string `json:"day,omitempty" jsonschema:"Day of the visit, YYYY-MM-DD" format:"date"`
		Time   string `json:"time,omitempty" jsonschema:"Time of the visit, HH:MM" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$"`
	}
)

// hours is what the model is told of the opening hours.
type hours struct {
	Message string `json:"message"`
}

func (f *Flow) openingHours(context.Context, none, *flows.FlowManager) (hours, error) {
	return hours{"We are open every day from noon to eleven in the evening; the kitchen takes orders until half past nine."}, nil
}

func (f *Flow) bookTable(ctx context.Context, w wishes, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return f.save(ctx, w, fm)
}

func (f *Flow) setPartySize(ctx context.Context, s size, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return f.save(ctx, wishes{People: s.People}, fm)
}

func (f *Flow) setDateTime(ctx context.Context, m moment, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return f.save(ctx, wishes{Day: m.Day, Time: m.Time}, fm)
}

func (f *Flow) takeOtherTime(ctx context.Context, m otherMoment, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	return f.save(ctx, wishes{Day: m.Day, Time: m.Time}, fm)
}

func (f *Flow) setName(_ context.Context, g guest, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	GuestName.Set(fm.State(), g.Name)
	return saved, f.open(fm), nil
}

// saved is what the model is told when a node's work is done; what was saved is
// in the call's own arguments.
const saved = `{"status":"saved"}`

// save keeps what the guest said, checks that there is a table once day and time
// are known, and goes to the first node that is still open.
func (f *Flow) save(ctx context.Context, w wishes, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	s := fm.State()
	if w.Day == "" {
		w.Day = Day.Value(s)
	}
	if w.Time == "" {
		w.Time = Time.Value(s)
	}
	if w.People == 0 {
		w.People = People.Value(s)
	}
	var at time.Time
	if w.Day != "" && w.Time != "" {
		var err error
		if at, err = f.moment(w.Day, w.Time); err != nil {
			return "", nil, err
		}
	}
	if w.People > 0 {
		People.Set(s, w.People)
	}
	if w.Day != "" {
		Day.Set(s, w.Day)
	}
	if at.IsZero() {
		return saved, f.open(fm), nil
	}
	free, others, err := f.tables.Free(ctx, w.People, at)
	if err != nil {
		return "", nil, errors.New("the book of tables cannot be read now; apologize and try again")
	}
	if !free {
		Time.Delete(s)
		return full(at, others), f.otherTime, nil
	}
	Time.Set(s, w.Time)
	return saved, f.open(fm), nil
}

// moment reads a day and a time and refuses what cannot be booked.
func (f *Flow) moment(day, clock string) (time.Time, error) {
	now := f.now()
	at, err := time.ParseInLocation("2006-01-02 15:04", day+" "+clock, now.Location())
	switch {
	case err != nil:
		return at, errors.New("day or time cannot be read; ask for them again")
	case at.Before(now):
		return at, errors.New("that time has passed; please choose a later one")
	case at.After(now.AddDate(1, 0, 0)):
		return at, errors.New("that is more than a year ahead; please choose an earlier day")
	case at.Hour() < firstHour || at.Hour() > lastHour || at.Hour() == lastHour && at.Minute() > 0:
		return at, errors.New("tables can be booked from noon to nine in the evening; please choose a time in between")
	}
	return at, nil
}

func full(at time.Time, others []time.Time) string {
	times := ""
	for i, t := range others {
		if i > 0 {
			times += " or "
		}
		times += t.Format("15:04")
	}
	return fmt.Sprintf(`{"status":"full","requested":%q,"free_times":%q}`, at.Format("15:04"), times)
}

// open is the first node with something left to ask.
func (f *Flow) open(fm *flows.FlowManager) *flows.NodeConfig {
	s := fm.State()
	switch {
	case People.Value(s) == 0:
		return f.partySize
	case Day.Value(s) == "" || Time.Value(s) == "":
		return f.dateTime
	case GuestName.Value(s) == "":
		return f.name
	}
	return f.confirm
}

// freeTimes lists what is free on a day, at the full hours.
func (f *Flow) freeTimes(ctx context.Context, d day, fm *flows.FlowManager) (any, error) {
	var free []string
	for hour := firstHour; hour <= lastHour; hour++ {
		clock := fmt.Sprintf("%02d:00", hour)
		at, err := f.moment(d.Day, clock)
		if err != nil {
			continue
		}
		if ok, _, err := f.tables.Free(ctx, People.Value(fm.State()), at); err == nil && ok {
			free = append(free, clock)
		}
	}
	return map[string]any{"day": d.Day, "free_times": free}, nil
}

// confirmBooking makes the booking. Confirmed twice, it is made once.
func (f *Flow) confirmBooking(ctx context.Context, _ none, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	s := fm.State()
	at, err := f.moment(Day.Value(s), Time.Value(s))
	if err != nil {
		return "", nil, err
	}
	reference, err := f.tables.Reserve(ctx, People.Value(s), at, GuestName.Value(s))
	if err != nil {
		return "", nil, errors.New("the table could not be booked; apologize and try again")
	}
	Reference.Set(s, reference)
	return fmt.Sprintf(`{"status":"booked","reference":%q}`, reference), f.farewell, nil
}

// changeBooking changes what was said with it at once, and else asks what.
func (f *Flow) changeBooking(ctx context.Context, w wishes, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	if w == (wishes{}) {
		return saved, f.change, nil
	}
	return f.save(ctx, w, fm)
}

// forget clears variables, so that they are asked for again.
func (f *Flow) forget(names ...string) func(context.Context, *flows.FlowManager) (*flows.NodeConfig, error) {
	return func(_ context.Context, fm *flows.FlowManager) (*flows.NodeConfig, error) {
		for _, name := range names {
			fm.State().Delete(name)
		}
		return f.open(fm), nil
	}
}

// sendConfirmation stands for a message to the guest.
func (f *Flow) sendConfirmation(_ context.Context, _ flows.Action, fm *flows.FlowManager) error {
	fm.State().Set("confirmation", "sent")
	return nil
}
