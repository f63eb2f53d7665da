package telephony

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// HangUp ends calls at their carrier.
type HangUp interface {
	// HangUp ends a call. One that is over already is no error.
	HangUp(ctx context.Context, call Info) error
}

// TwilioAPI hangs up through Twilio's HTTP interface. AccountSID and AuthToken are
// required. Source: Twilio's documentation of the Calls resource.
type TwilioAPI struct {
	// AccountSID and AuthToken are the credentials, or those of an API key.
	AccountSID string
	AuthToken  string `json:"-"`
	// BaseURL is the interface's address; the default is https://api.twilio.com.
	BaseURL string
	// Client sends the requests; the default is [http.DefaultClient].
	Client *http.Client
}

// HangUp implements the interface.
func (a *TwilioAPI) HangUp(ctx context.Context, call Info) error {
	account := first(call.Account, a.AccountSID)
	to := base(a.BaseURL, "https://api.twilio.com") + "/2010-04-01/Accounts/" + url.PathEscape(account) + "/Calls/" + url.PathEscape(call.Call) + ".json"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader("Status=completed"))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(a.AccountSID, a.AuthToken)
	return ask(a.Client, r, func(status, code int) bool { return status == http.StatusNotFound && code == 20404 })
}

// TelnyxAPI hangs up through Telnyx's HTTP interface. Key is required. Source: Telnyx's
// documentation of call control commands.
type TelnyxAPI struct {
	// Key is the API key.
	Key string `json:"-"`
	// BaseURL is the interface's address; the default is https://api.telnyx.com.
	BaseURL string
	// Client sends the requests; the default is [http.DefaultClient].
	Client *http.Client
}

// HangUp implements the interface.
func (a *TelnyxAPI) HangUp(ctx context.Context, call Info) error {
	to := base(a.BaseURL, "https://api.telnyx.com") + "/v2/calls/" + url.PathEscape(call.Call) + "/actions/hangup"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+a.Key)
	return ask(a.Client, r, func(status, code int) bool { return status == http.StatusUnprocessableEntity && code == 90018 })
}

// PlivoAPI hangs up through Plivo's HTTP interface. AuthID and AuthToken are required.
// Source: Plivo's documentation of the Call resource.
type PlivoAPI struct {
	// AuthID and AuthToken are the credentials.
	AuthID    string
	AuthToken string `json:"-"`
	// BaseURL is the interface's address; the default is https://api.plivo.com.
	BaseURL string
	// Client sends the requests; the default is [http.DefaultClient].
	Client *http.Client
}

// HangUp implements the interface.
func (a *PlivoAPI) HangUp(ctx context.Context, call Info) error {
	to := base(a.BaseURL, "https://api.plivo.com") + "/v1/Account/" + url.PathEscape(a.AuthID) + "/Call/" + url.PathEscape(call.Call) + "/"
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, to, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth(a.AuthID, a.AuthToken)
	return ask(a.Client, r, func(status, _ int) bool { return status == http.StatusNotFound })
}

func base(given, standard string) string {
	if given == "" {
		return standard
	}
	return strings.TrimRight(given, "/")
}

// ask sends a request; over tells which refusals mean that the call has ended. What
// the carrier says is not repeated: it could hold what was sent.
func ask(client *http.Client, r *http.Request, over func(status, code int) bool) error {
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("telephony: hang up: %w", err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // without it there is no code
	if response.StatusCode/100 == 2 || over(response.StatusCode, errorCode(body)) {
		return nil
	}
	return fmt.Errorf("telephony: hang up: the carrier answered %s", response.Status)
}

// errorCode finds the carrier's own code of an error.
func errorCode(body []byte) int {
	var e struct {
		Code   json.Number `json:"code"`
		Errors []struct {
			Code json.Number `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &e) != nil {
		return 0
	}
	code := e.Code
	if len(e.Errors) > 0 {
		code = e.Errors[0].Code
	}
	n, _ := code.Int64() // 0 is no code
	return int(n)
}

// HangUps hangs up at whichever carrier streams a call. Calls of carriers that are
// not in it are left to them.
type HangUps map[Carrier]HangUp

// HangUp implements the interface.
func (h HangUps) HangUp(ctx context.Context, call Info) error {
	if api := h[call.Carrier]; api != nil {
		return api.HangUp(ctx, call)
	}
	return nil
}
