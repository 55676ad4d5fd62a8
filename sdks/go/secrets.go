package campanile

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	v1 "campanile.dev/sdk-go/executorv1"
	"golang.org/x/crypto/nacl/box"
)

// What `${secret:name}` in the parameters stands for comes sealed to the key of the executor's group, which its executors
// alone have: no node can read it.

var secretMark = regexp.MustCompile(`\$\{secret:([^}]*)\}`)

// What stands where a secret was said.
const masked = "***"

// A shorter value is not masked: hiding every "1" of a log would hide the log.
const shortestMasked = 4

// Nil where the executor has no key and takes no secrets.
type keyPair struct{ public, private *[32]byte }

// ReadSecretKey reads a key as `campanile secret keygen` wrote it, for [Executor.SecretKey].
func ReadSecretKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("campanile: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line, nil
		}
	}
	return "", fmt.Errorf("campanile: %s holds no key", path)
}

func newKeyPair(secret string) (keyPair, error) {
	if secret == "" {
		return keyPair{}, nil
	}
	raw, err := hex.DecodeString(secret)
	if err != nil {
		return keyPair{}, errors.New("campanile: a secret key is 64 hexadecimal digits")
	}
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return keyPair{}, errors.New("campanile: a secret key is 64 hexadecimal digits")
	}
	return keyPair{(*[32]byte)(key.PublicKey().Bytes()), (*[32]byte)(raw)}, nil
}

func (k keyPair) registered() []byte {
	if k.public == nil {
		return nil
	}
	return k.public[:]
}

// open gives the secrets by name; one that does not open is a failure that does not say its value.
func (k keyPair) open(sealed []*v1.SealedSecret) (map[string]string, *Failure) {
	secrets := make(map[string]string, len(sealed))
	for _, secret := range sealed {
		if k.private == nil {
			return nil, secretClosed(secret.Name)
		}
		value, opened := box.OpenAnonymous(nil, secret.Ciphertext, k.public, k.private)
		if !opened {
			return nil, secretClosed(secret.Name)
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
			missing = secretMissing(name)
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
