package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/pkg/sftp"
)

// slow has a file whose opening takes until it is released, and one that is counted as it is read.
type slow struct {
	release chan struct{}
	reads   atomic.Int32
}

func (s *slow) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	if r.Filepath == "/slow" {
		<-s.release
	}
	return s, nil
}

func (s *slow) ReadAt(p []byte, _ int64) (int, error) {
	s.reads.Add(1)
	return len(p), nil
}

func packet(kind byte, id uint32, body ...[]byte) []byte {
	rest := binary.BigEndian.AppendUint32([]byte{kind}, id)
	for _, b := range body {
		rest = append(rest, b...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(rest))), rest...)
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// TestReadsBehindASlowRequest: what is read for later requests is bounded while an earlier one has no answer, whether its
// file takes long to open or the client doesn't read. All are answered in the end, in their order.
func TestReadsBehindASlowRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reads = 500
		files := &slow{release: make(chan struct{})}
		ours, client := io.Pipe()
		answers, theirs := io.Pipe()
		server := sftp.NewRequestServer(newStream(t.Context(), ours, theirs), sftp.Handlers{FileGet: files})
		served := make(chan error, 1)
		go func() { served <- server.Serve() }()
		toRead := make([]byte, 8)
		binary.BigEndian.PutUint32(toRead, 1) // to be read, without attributes
		sent := packet(3, 1, text("/fast"), toRead)
		sent = append(sent, packet(3, 2, text("/slow"), toRead)...)
		for id := range uint32(reads) {
			sent = append(sent, packet(5, 3+id, text("1"), make([]byte, 8), []byte{0, 0, 128, 0})...)
		}
		go func() {
			for len(sent) > 0 { // in pieces that end within packets
				n := min(len(sent), 7)
				if _, err := client.Write(sent[:n]); err != nil {
					t.Error(err)
				}
				sent = sent[n:]
			}
		}()
		bounded := func(when string) {
			synctest.Wait()
			if n := files.reads.Load(); n > inFlight {
				t.Fatalf("%d reads %s", n, when)
			}
		}
		id := func() uint32 {
			head := make([]byte, 9)
			if _, err := io.ReadFull(answers, head); err != nil {
				t.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, answers, int64(binary.BigEndian.Uint32(head))-5); err != nil {
				t.Fatal(err)
			}
			return binary.BigEndian.Uint32(head[5:])
		}
		if got := id(); got != 1 {
			t.Fatalf("the first answer is to %d", got)
		}
		bounded("while a file is being opened")
		close(files.release)
		bounded("while the client reads nothing")
		for want := range uint32(1 + reads) {
			if got := id(); got != 2+want {
				t.Fatalf("the answer to %d comes where %d's is due", got, 2+want)
			}
		}
		client.Close() // now, because pkg/sftp may drop answers at the end of its input
		<-served
		if n := files.reads.Load(); n != reads {
			t.Errorf("%d reads", n)
		}
	})
}

// TestStreamEnds: a channel that ends frees what waits for a slot.
func TestStreamEnds(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	s := newStream(ctx, bytes.NewReader(bytes.Repeat(packet(5, 1), 2*inFlight)), io.Discard)
	read := func() error { _, err := io.ReadFull(s, make([]byte, 9)); return err }
	for range inFlight {
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if err := read(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
