package telephony_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/transport/telephony"
)

func TestTheAnswersToACallAreDocuments(t *testing.T) {
	hostile := map[string]string{"from": `+1"<&>`}
	for _, c := range []struct {
		carrier telephony.Carrier
		want    string
	}{
		{telephony.Twilio, `<Response><Connect><Stream url="wss://bot.example/phone?a=1&amp;b=2"><Parameter name="from" value="+1&#34;&lt;&amp;&gt;"/></Stream></Connect></Response>`},
		{telephony.Telnyx, `<Response><Connect><Stream url="wss://bot.example/phone?a=1&amp;b=2&amp;from=%2B1%22%3C%26%3E" bidirectionalMode="rtp"/></Connect></Response>`},
		{telephony.Plivo, `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">wss://bot.example/phone?a=1&amp;b=2&amp;from=%2B1%22%3C%26%3E</Stream></Response>`},
	} {
		got, err := telephony.Document(c.carrier, "wss://bot.example/phone?a=1&b=2", hostile)
		if err != nil || string(got) != xml.Header+c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.carrier, err, got, c.want)
		}
		if err := xml.Unmarshal(got, new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v", c.carrier, err)
		}
	}
	for _, bad := range []struct {
		carrier telephony.Carrier
		url     string
	}{{telephony.Exotel, "wss://bot.example"}, {telephony.Twilio, "https://bot.example"}, {telephony.Twilio, "wss://"}, {"", "wss://bot.example"}} {
		if doc, err := telephony.Document(bad.carrier, bad.url, nil); err == nil {
			t.Errorf("%v gave %s", bad, doc)
		}
	}
}

func TestTwiliosSignature(t *testing.T) {
	// The value was computed with another language's library from the published rule.
	const token, address, signature = "12345", "https://mycompany.com/myapp.php?foo=1&bar=2", "GvWf1cFY/Q7PnoempGyD5oXAezc="
	form := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675310"}, "Digits": {"1234"}, "From": {"+14158675310"}, "To": {"+18005551212"}}
	request := func(signature string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("X-Twilio-Signature", signature)
		return r
	}
	if err := telephony.VerifyTwilio(request(signature), token, address, form); err != nil {
		t.Errorf("the true one: %v", err)
	}
	for name, err := range map[string]error{
		"none":            telephony.VerifyTwilio(request(""), token, address, form),
		"no base64":       telephony.VerifyTwilio(request("%"), token, address, form),
		"another token":   telephony.VerifyTwilio(request(signature), "54321", address, form),
		"another address": telephony.VerifyTwilio(request(signature), token, address+"3", form),
		"another form":    telephony.VerifyTwilio(request(signature), token, address, url.Values{"Digits": {"1235"}}),
	} {
		if !errors.Is(err, telephony.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTelnyxsSignature(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	body := []byte(`{"data":{}}`)
	signed := func(at time.Time) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		stamp := strconv.FormatInt(at.Unix(), 10)
		r.Header.Set("Telnyx-Timestamp", stamp)
		r.Header.Set("Telnyx-Signature-Ed25519", base64.StdEncoding.EncodeToString(ed25519.Sign(private, append([]byte(stamp+"|"), body...))))
		return r
	}
	if err := telephony.VerifyTelnyx(signed(now), public, body, now.Add(time.Minute)); err != nil {
		t.Errorf("the true one: %v", err)
	}
	for name, err := range map[string]error{
		"none":         telephony.VerifyTelnyx(httptest.NewRequest(http.MethodPost, "/", nil), public, body, now),
		"an old one":   telephony.VerifyTelnyx(signed(now), public, body, now.Add(time.Hour)),
		"another body": telephony.VerifyTelnyx(signed(now), public, []byte("{}"), now),
		"no key":       telephony.VerifyTelnyx(signed(now), nil, body, now),
	} {
		if !errors.Is(err, telephony.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenHasToBeTheWholeToken(t *testing.T) {
	for given, good := range map[string]bool{"s3cret": true, "": false, "s3cre": false, "s3crets": false} {
		if err := telephony.VerifyToken(given, "s3cret"); (err == nil) != good {
			t.Errorf("%q: %v", given, err)
		}
	}
	if telephony.VerifyToken("", "") == nil {
		t.Error("no token was asked for, and given")
	}
}

// Each carrier's interface is a server that takes exactly the request its documentation
// names.
func TestCallsAreHungUpAtTheirCarriers(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("id:s3cret-token"))
	for _, c := range []struct {
		name, method, path, auth, body string
		api                            func(base string) telephony.HangUp
		over                           string // the answer for a call that is over
		status                         int
	}{
		{
			"Twilio", "POST", "/2010-04-01/Accounts/AC1/Calls/CA%2F1.json", basic, "Status=completed",
			func(base string) telephony.HangUp {
				return &telephony.TwilioAPI{AccountSID: "id", AuthToken: "s3cret-token", BaseURL: base}
			}, `{"code":20404,"message":"not found"}`, 404,
		},
		{
			"Telnyx", "POST", "/v2/calls/CA%2F1/actions/hangup", "Bearer s3cret-token", "{}",
			func(base string) telephony.HangUp { return &telephony.TelnyxAPI{Key: "s3cret-token", BaseURL: base} },
			`{"errors":[{"code":"90018","title":"Call has already ended"}]}`, 422,
		},
		{
			"Plivo", "DELETE", "/v1/Account/id/Call/CA%2F1/", basic, "",
			func(base string) telephony.HangUp {
				return &telephony.PlivoAPI{AuthID: "id", AuthToken: "s3cret-token", BaseURL: base + "/"}
			}, `{"error":"call not found"}`, 404,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := http.StatusOK, "{}"
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != c.method || r.URL.EscapedPath() != c.path || r.Header.Get("Authorization") != c.auth || string(body) != c.body {
					t.Errorf("it was asked %s %s %q %q", r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), body)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
			}))
			defer api.Close()
			defer http.DefaultClient.CloseIdleConnections()
			call := telephony.Info{Call: "CA/1", Account: "AC1"}
			if err := c.api(api.URL).HangUp(t.Context(), call); err != nil {
				t.Errorf("well: %v", err)
			}
			status, answer = c.status, c.over
			if err := c.api(api.URL).HangUp(t.Context(), call); err != nil {
				t.Errorf("a call that is over: %v", err)
			}
			status, answer = http.StatusUnauthorized, "bad s3cret-token"
			if err := c.api(api.URL).HangUp(t.Context(), call); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a refusal: %v", err)
			}
		})
	}
}

func TestCredentialsAreNotPrintedAsJSON(t *testing.T) {
	// They stand in configurations, which programs print.
	for _, api := range []any{telephony.TwilioAPI{AuthToken: "s3cret"}, telephony.TelnyxAPI{Key: "s3cret"}, telephony.PlivoAPI{AuthToken: "s3cret"}} {
		if out := string(mustJSON(t, api)); strings.Contains(out, "s3cret") {
			t.Errorf("printed %s", out)
		}
	}
}

// A document for Twilio, which streams the call to the bot.
func ExampleDocument() {
	answer, err := telephony.Document(telephony.Twilio, "wss://bot.example/phone", map[string]string{"from": "+14155550100"})
	fmt.Println(string(answer), err)
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <Response><Connect><Stream url="wss://bot.example/phone"><Parameter name="from" value="+14155550100"/></Stream></Connect></Response> <nil>
}

// A switchboard that serves every stream with a session of its own.
func ExampleExchange() {
	exchange, err := telephony.NewExchange(telephony.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer exchange.Close()
	http.HandleFunc("GET /phone", func(w http.ResponseWriter, r *http.Request) {
		conn, err := exchange.Accept(w, r)
		if err != nil {
			return // it has been answered
		}
		// Build a task with conn.Output() in its pipeline, then:
		var session telephony.Session
		_ = conn.Run(context.Background(), session)
	})
	fmt.Println(telephony.Rate, "Hz")
	// Output: 8000 Hz
}
