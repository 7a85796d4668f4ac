package cluster

import (
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// Plain starts a NATS server that ends with the test, and lets each client do all. most is the longest message in
// bytes; 0 is NATS' own limit.
func Plain(t testing.TB, most int32) *natsd.Server {
	t.Helper()
	server, err := natsd.NewServer(&natsd.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxPayload: most})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	if !server.ReadyForConnections(readyTime) {
		t.Fatal("the NATS server isn't ready")
	}
	return server
}
