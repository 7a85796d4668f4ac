package metrics

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
)

const (
	// mostScrapers bounds open connections: a scraper needs one.
	mostScrapers = 16
	// idleScraper is longer than the usual time between two scrapes.
	idleScraper = 2 * time.Minute
)

// Serve answers scrapes on HOST:PORT or the path of a Unix socket, at /metrics, until stop is called.
// The answers need no key: the configuration has only loopback addresses.
func (m *Metrics) Serve(address string, log *slog.Logger) (at net.Addr, stop func(), err error) {
	l, err := listen(address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for scrapes (listen_metrics): %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		format := expfmt.Negotiate(r.Header)
		w.Header().Set("Content-Type", string(format))
		if err := m.encode(w, format); err != nil {
			log.Debug("scrape failed", "error", err) // mostly a scraper that is gone
		}
	})
	server := &http.Server{Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: idleScraper, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(&bounded{Listener: l, slots: make(chan struct{}, mostScrapers)}); !errors.Is(err, http.ErrServerClosed) {
			log.Error("scrapes are no longer answered", "error", err)
		}
	}()
	return l.Addr(), func() {
		_ = server.Close() // a scrape that is cut off is repeated
		<-done
	}, nil
}

func listen(address string) (net.Listener, error) {
	if !filepath.IsAbs(address) {
		return net.Listen("tcp", address)
	}
	// A socket that a killed server left is in the way. A file of another kind stays, and so does a
	// socket that answers.
	if info, err := os.Lstat(address); err == nil && info.Mode().Type() == os.ModeSocket {
		if c, err := net.Dial("unix", address); err == nil {
			return nil, errors.Join(fmt.Errorf("another program listens on %s", address), c.Close())
		}
		if err := os.Remove(address); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o660); err != nil { // the group may scrape
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// bounded closes connections beyond its slots at once.
type bounded struct {
	net.Listener
	slots chan struct{}
}

// Accept waits for a connection that gets a slot.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.slots <- struct{}{}:
			return &slotted{Conn: c, slots: b.slots}, nil
		default:
			_ = c.Close() // its scraper tries again
		}
	}
}

// slotted gives its slot back when it is closed.
type slotted struct {
	net.Conn
	slots <-chan struct{}
	once  sync.Once
}

// Close closes the connection.
func (s *slotted) Close() error {
	s.once.Do(func() { <-s.slots })
	return s.Conn.Close()
}
