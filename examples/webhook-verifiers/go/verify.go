package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 5 * 60

// Verify reports whether the service signed exactly these bytes within the last five minutes.
func Verify(secret, id, timestamp, signature string, body []byte, now time.Time) bool {
	sentAt, err := strconv.ParseUint(timestamp, 10, 48)
	if err != nil || math.Abs(float64(now.Unix())-float64(sentAt)) > toleranceSeconds {
		return false
	}
	key, err := keyOf(secret)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// During a rotation of the secret there are several signatures, and one valid signature is enough.
	for _, one := range strings.Split(signature, " ") {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1,"))
		if strings.HasPrefix(one, "v1,") && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

// keyOf refuses a missing or damaged secret, because anyone can sign with an empty key.
func keyOf(secret string) ([]byte, error) {
	found := strings.HasPrefix(secret, "whsec_")
	text := strings.TrimPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	// DecodeString ignores line breaks, so compare with the text that the key encodes to.
	if !found || err != nil || len(key) < 24 || base64.StdEncoding.EncodeToString(key) != text {
		return nil, errors.New("the secret must be whsec_ and base64 of at least 24 bytes")
	}
	return key, nil
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	env := os.Getenv
	if err != nil || !Verify(env("WEBHOOK_SECRET"), env("WEBHOOK_ID"), env("WEBHOOK_TIMESTAMP"), env("WEBHOOK_SIGNATURE"), body, time.Now()) {
		os.Exit(1)
	}
}
