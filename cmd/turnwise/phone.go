package main

import (
	"crypto/ed25519"
	"encoding/base64"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/transport/telephony"
)

// The environment variables with the secrets of telephone calls.
const (
	phoneTokenVariable = "TURNWISE_PHONE_TOKEN"
	twilioIDVariable   = "TWILIO_ACCOUNT_SID"
	twilioVariable     = "TWILIO_AUTH_TOKEN"
	telnyxVariable     = "TELNYX_API_KEY"
	telnyxKeyVariable  = "TELNYX_PUBLIC_KEY"
	plivoIDVariable    = "PLIVO_AUTH_ID"
	plivoVariable      = "PLIVO_AUTH_TOKEN"
)

// phoneFlags choose whether the bot can be called by telephone.
type phoneFlags struct {
	Phone bool `help:"Take calls that Twilio, Telnyx, Plivo or Exotel stream, at /phone/…; see the examples."`
}

// phone is what telephone calls need; nil takes none.
func (f *phoneFlags) phone(w *world) (*server.Phone, error) {
	if !f.Phone {
		return nil, nil
	}
	token := w.getenv(phoneTokenVariable)
	if len(token) < 16 {
		return nil, usageError("--phone needs a secret of at least 16 characters in the environment variable " + phoneTokenVariable +
			", which is part of the address that the carrier is given")
	}
	p := &server.Phone{Token: token, TwilioAuthToken: w.getenv(twilioVariable)}
	if key := w.getenv(telnyxKeyVariable); key != "" {
		raw, err := base64.StdEncoding.DecodeString(key)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return nil, usageError(telnyxKeyVariable + " is not a public key of Telnyx's: 32 bytes in base64")
		}
		p.TelnyxKey = raw
	}
	hangUps := telephony.HangUps{}
	if id := w.getenv(twilioIDVariable); id != "" && p.TwilioAuthToken != "" {
		hangUps[telephony.Twilio] = &telephony.TwilioAPI{AccountSID: id, AuthToken: p.TwilioAuthToken}
	}
	if key := w.getenv(telnyxVariable); key != "" {
		hangUps[telephony.Telnyx] = &telephony.TelnyxAPI{Key: key}
	}
	if id, token := w.getenv(plivoIDVariable), w.getenv(plivoVariable); id != "" && token != "" {
		hangUps[telephony.Plivo] = &telephony.PlivoAPI{AuthID: id, AuthToken: token}
	}
	p.Streams.HangUp = hangUps
	return p, nil
}
