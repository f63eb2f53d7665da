package telephony

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrSignature tells that a request was not signed by the carrier it claims to come
// from.
var ErrSignature = errors.New("telephony: the request is not signed by the carrier")

// VerifyTwilio checks the signature of a request of Twilio's: the HMAC-SHA1, with the
// account's auth token, of the address followed by the form's fields in the order of
// their names. address is the one that Twilio called, as it is configured there; behind
// a proxy it is not that of the request. form is that of a POST request, else nil.
// Source: Twilio's documentation of webhook security.
func VerifyTwilio(r *http.Request, authToken, address string, form url.Values) error {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Twilio-Signature"))
	if err != nil || len(given) == 0 {
		return fmt.Errorf("%w: it has no signature of Twilio's", ErrSignature)
	}
	mac := hmac.New(sha1.New, []byte(authToken))
	mac.Write([]byte(address))
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			mac.Write([]byte(name + value))
		}
	}
	if !hmac.Equal(mac.Sum(nil), given) {
		return ErrSignature
	}
	return nil
}

// telnyxTolerance is how old a request of Telnyx's may be, so that none is repeated
// later.
const telnyxTolerance = 5 * time.Minute

// VerifyTelnyx checks the signature of a request of Telnyx's: Ed25519, with the
// account's public key, over its time and body. Source: Telnyx's documentation of
// webhook signing.
func VerifyTelnyx(r *http.Request, key ed25519.PublicKey, body []byte, now time.Time) error {
	if len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: the public key has %d bytes, not %d", ErrSignature, len(key), ed25519.PublicKeySize)
	}
	stamp := r.Header.Get("Telnyx-Timestamp")
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("Telnyx-Signature-Ed25519"))
	if err != nil || stamp == "" {
		return fmt.Errorf("%w: it has no signature of Telnyx's", ErrSignature)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > telnyxTolerance {
		return fmt.Errorf("%w: its time is not now", ErrSignature)
	}
	if !ed25519.Verify(key, append([]byte(stamp+"|"), body...), given) {
		return ErrSignature
	}
	return nil
}

// VerifyToken checks a secret that the operator put into the address that the carrier
// calls, for carriers without signatures and for the streams themselves.
func VerifyToken(given, want string) error {
	if want == "" || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(want)) != 1 {
		return fmt.Errorf("%w: the token is wrong", ErrSignature)
	}
	return nil
}
