package campanile

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "campanile.dev/sdk-go/executorv1"
	"golang.org/x/crypto/nacl/box"
)

// What `${secret:name}` in the parameters stands for comes sealed to a key pair that is made at each start and never
// leaves the process: no node can read it.

var secretMark = regexp.MustCompile(`\$\{secret:([^}]*)\}`)

// What stands where a secret was said.
const masked = "••••••"

// A shorter value is not masked: hiding every "1" of a log would hide the log.
const shortestMasked = 4

type keyPair struct{ public, private *[32]byte }

func newKeyPair() (keyPair, error) {
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("campanile: no key pair could be made: %w", err)
	}
	return keyPair{public, private}, nil
}

// open gives the secrets by name; one that does not open is a failure that does not say its value.
func (k keyPair) open(sealed []*v1.SealedSecret) (map[string]string, *Failure) {
	secrets := make(map[string]string, len(sealed))
	for _, secret := range sealed {
		value, opened := box.OpenAnonymous(nil, secret.Ciphertext, k.public, k.private)
		if !opened {
			return nil, parametersRefused("${secret:"+secret.Name+"}", "it is not sealed to this executor's key")
		}
		secrets[secret.Name] = string(value)
	}
	return secrets, nil
}

// fillIn puts secrets into every text of a JSON value, keys left alone.
func fillIn(value any, secrets map[string]string) (any, *Failure) {
	switch value := value.(type) {
	case string:
		return fillInText(value, secrets)
	case []any:
		for at, inner := range value {
			filled, failure := fillIn(inner, secrets)
			if failure != nil {
				return nil, failure
			}
			value[at] = filled
		}
	case map[string]any:
		for key, inner := range value {
			filled, failure := fillIn(inner, secrets)
			if failure != nil {
				return nil, failure
			}
			value[key] = filled
		}
	}
	return value, nil
}

func fillInText(text string, secrets map[string]string) (string, *Failure) {
	var missing *Failure
	filled := secretMark.ReplaceAllStringFunc(text, func(mark string) string {
		name := secretMark.FindStringSubmatch(mark)[1]
		value, known := secrets[name]
		if !known && missing == nil {
			missing = parametersRefused(mark, "there is no such secret")
		}
		return value
	})
	return filled, missing
}

// masking hides the values wherever the attempt says them; nil when there is nothing to hide.
func masking(secrets map[string]string) *strings.Replacer {
	var hidden []string
	for _, value := range secrets {
		for line := range strings.SplitSeq(value, "\n") {
			if len(line) >= shortestMasked {
				hidden = append(hidden, line)
			}
		}
	}
	if hidden == nil {
		return nil
	}
	// The longest first: one that is part of another must not leave the rest of it.
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(hidden))
	for _, value := range hidden {
		pairs = append(pairs, value, masked)
	}
	return strings.NewReplacer(pairs...)
}

// filledIn is a JSON text with the secrets in it, its numbers as they were written.
func filledIn(raw []byte, secrets map[string]string) ([]byte, *Failure) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, parametersRefused(".", err.Error())
	}
	value, failure := fillIn(value, secrets)
	if failure != nil {
		return nil, failure
	}
	filled, err := asJSON(value)
	if err != nil {
		return nil, parametersRefused(".", err.Error())
	}
	return filled, nil
}
