package campanile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certified makes a certificate that signs itself, for 127.0.0.1, and the pool that trusts it alone.
func certified(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestAStreamIsSecuredBothWays(t *testing.T) {
	of, trusted := certified(t)
	own, known := certified(t)
	node := newNode(t, secured(of, func(c *tls.Config) { c.ClientCAs, c.ClientAuth = known, tls.RequireAndVerifyClientCert }))
	node.started(func(e *Executor) {
		e.Func("greet", greet)
		e.Token = "for g"
		e.TLS = &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}
	})
	s := node.joined()
	if s.register.Token != "for g" {
		t.Fatal("the token is missing")
	}
	s.push("a", "greet", `{"name":"mei"}`)
	s.hears(true, "a 1 accepted", "a 2 started")
}

// told is a log that a test reads.
type told chan string

func (t told) Write(line []byte) (int, error) {
	t <- string(line)
	return len(line), nil
}

func TestANodeThatCannotProveItselfIsNotSpokenTo(t *testing.T) {
	of, _ := certified(t)
	_, trusted := certified(t)
	node := newNode(t, secured(of, func(*tls.Config) {}))
	log := make(told, 1024)
	node.started(func(e *Executor) {
		e.Func("greet", greet)
		e.TLS = &tls.Config{RootCAs: trusted}
		e.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	// The second try, too, comes after the first was given up.
	for range 2 {
		if line := <-log; !strings.Contains(line, "no stream yet") || !strings.Contains(line, "x509") {
			t.Fatal(line)
		}
	}
	if len(node.streams) > 0 {
		t.Fatal("it spoke")
	}
}
