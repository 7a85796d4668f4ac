package hold

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serverProgram is a server that takes the holder over and works until it is
// killed.
func serverProgram(args []string) int {
	l, err := Dial(context.Background(), args[1])
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("serving")
	if args[0] == "paste" {
		for letter := byte('a'); ; letter = 'a' + (letter-'a'+1)%26 {
			if err := l.Input(context.Background(), paste(letter), nil); err != nil {
				return 1
			}
		}
	}
	buf := make([]byte, 64<<10)
	for off := l.Welcome().Written; ; {
		<-l.Wake()
		for {
			n, err := l.ReadOutput(buf, off)
			off += int64(n)
			if err != nil {
				break
			}
		}
		l.Consumed(off)
	}
}

func paste(letter byte) []byte {
	p := bytes.Repeat([]byte{letter}, pasteSize)
	p[0], p[pasteSize-1] = 'S', 'E'
	return p
}

// killServers runs servers one after the other and kills each at some moment.
func killServers(t *testing.T, what, dir string, rounds int) {
	t.Helper()
	for range rounds {
		cmd := exec.Command(exe(t), "program", what, dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 64)
		n, err := out.Read(line)
		if string(line[:n]) != "serving\n" {
			t.Fatalf("server said %q, %v", line[:n], err)
		}
		// The moment is the point of the test; nothing is waited for.
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
	}
}

func TestKilledServersLoseNothing(t *testing.T) {
	spec := own(t, "count", "0")
	l := start(t, spec)
	l.Close()
	killServers(t, "serve", spec.Dir, 25)
	last := redial(t, spec.Dir)
	upTo := last.Welcome().Written
	o := OpenOutput(spec.Dir)
	defer o.Close()
	first, _, err := o.Range()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.NewSectionReader(wholeReader{o}, first, upTo-first))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\r\n")
	if first > 0 {
		lines = lines[1:] // may begin inside a line
	}
	if len(lines) < 1000 {
		t.Fatalf("only %d lines", len(lines))
	}
	n, _ := strconv.Atoi(lines[0])
	for i, line := range lines[:len(lines)-1] {
		if line != strconv.Itoa(n+i) {
			t.Fatalf("line %d is %q, not %d", i, line, n+i)
		}
	}
}

// wholeReader makes ReadAt fill its buffer, as io.ReaderAt promises.
type wholeReader struct{ o *Output }

func (w wholeReader) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := w.o.ReadAt(p[done:], off+int64(done))
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func TestPastesStayWholeOverKilledServers(t *testing.T) {
	spec := own(t, "pastes")
	l := start(t, spec)
	follow(l, 0).untilText(t, "ready")
	l.Close()
	killServers(t, "paste", spec.Dir, 25)
	last := redial(t, spec.Dir)
	if err := last.Input(t.Context(), paste('z'), nil); err != nil {
		t.Fatal(err)
	}
	inputs := ofKind[InputData](t, spec.Dir, KindInput)
	f := follow(last, 0)
	f.until(t, "all pastes", func() bool {
		return strings.Count(string(f.text), "whole") >= len(inputs) || strings.Contains(string(f.text), "CUT")
	})
	if strings.Contains(string(f.text), "CUT") {
		t.Fatalf("a paste was cut: %q", tail(f.text))
	}
	t.Logf("%d pastes whole", len(inputs))
}

// rawServer speaks the protocol by hand.
func rawServer(t *testing.T, spec Spec, greeting string) *net.UnixConn {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: spec.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(appendFrame(nil, frameHello, []byte(greeting))); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHalfAMessageIsNotTyped(t *testing.T) {
	spec := testSpec(t, "cat")
	l := start(t, spec)
	c := rawServer(t, spec, `{"min":1,"max":1}`)
	<-l.Done()
	head, err := encodeRequest(request{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	frame := appendFrame(nil, frameInput, head, []byte("half of it\n"))
	if _, err := c.Write(frame[:len(frame)-4]); err != nil {
		t.Fatal(err)
	}
	c.Close()
	again := redial(t, spec.Dir)
	if err := again.Input(t.Context(), []byte("whole\n"), nil); err != nil {
		t.Fatal(err)
	}
	f := follow(again, 0)
	f.untilText(t, "whole\r\nwhole\r\n")
	if strings.Contains(string(f.text), "half") {
		t.Errorf("typed: %q", f.text)
	}
}

func TestDeadHolderIsGone(t *testing.T) {
	spec := testSpec(t, "sleep", "1000")
	l := start(t, spec)
	w := l.Welcome()
	if err := syscall.Kill(w.HolderPID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		eventually(t, "the holder stops", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.HolderPID))
			return err == nil && bytes.Contains(stat, []byte(") T "))
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, spec.Dir); !errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrGone) {
		t.Errorf("dialling a stopped holder: %v", err)
	}
	syscall.Kill(w.HolderPID, syscall.SIGKILL)
	<-l.Done()
	if err := l.Err(); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("link: %v", err)
	}
	eventually(t, "holder is reaped and its program hung up", func() bool {
		return !alive(w.HolderPID, w.HolderStart) && !alive(w.ChildPID, w.ChildStart)
	})
	if _, err := Dial(t.Context(), spec.Dir); !errors.Is(err, ErrGone) {
		t.Errorf("dialling a dead holder: %v", err)
	}
}

func TestJournalGoesOnInTheNextHolder(t *testing.T) {
	spec := testSpec(t, "sh", "-c", "printf 12345")
	first := start(t, spec)
	follow(first, 0).untilEnd(t)
	w := first.Welcome()
	eventually(t, "the first holder ends", func() bool { return !alive(w.HolderPID, w.HolderStart) })
	second := start(t, spec)
	f := follow(second, 0)
	f.untilEnd(t)
	if string(f.text) != "1234512345" || f.lost != 0 {
		t.Errorf("output %q", f.text)
	}
	for i, r := range records(t, spec.Dir) {
		if r.N != uint64(i+1) {
			t.Errorf("record %d is number %d", i, r.N)
		}
	}
}

func TestServerInsideTheSessionIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"child":  `read x; "$0" program dial "$1"`,
		"daemon": `read x; (setsid "$0" program dial "$1" &) ; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, dir+"/"+name, "sh", "-c", script, exe(t), dir+"/"+name)
			if err := syscall.Mkdir(spec.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			l := start(t, spec)
			if err := l.Input(t.Context(), []byte("\n"), nil); err != nil {
				t.Fatal(err)
			}
			f := follow(l, 0)
			f.untilText(t, "dial:")
			f.until(t, "the whole line", func() bool { return bytes.HasSuffix(f.text, []byte("e\r\n")) })
			if !strings.Contains(string(f.text), "runs inside this session true") {
				t.Errorf("from inside: %q", f.text)
			}
			if err := l.Err(); err != nil {
				t.Errorf("the server was put out: %v", err)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	spec := testSpec(t, "cat")
	start(t, spec)
	t.Run("newer server", func(t *testing.T) {
		c := rawServer(t, spec, `{"min":1,"max":9,"tongue":"new"}`)
		f, p, err := readFrame(c)
		if err != nil || f != frameWelcome || !bytes.Contains(p, []byte(`"version":1,`)) {
			t.Fatalf("answer %d %q, %v", f, p, err)
		}
		// Frames and fields of later versions are passed over.
		out := appendFrame(nil, 99, []byte("what is this"))
		head := []byte(`{"id":7,"flavour":"new"}`)
		out = appendFrame(out, frameInput, binary.BigEndian.AppendUint32(nil, uint32(len(head))), head, []byte("hi\n"))
		if _, err := c.Write(out); err != nil {
			t.Fatal(err)
		}
		for {
			f, p, err := readFrame(c)
			if err != nil {
				t.Fatal(err)
			}
			if f == frameAck {
				if id, code, _, err := decodeAck(p); id != 7 || code != ackDone || err != nil {
					t.Errorf("ack %d %d %v", id, code, err)
				}
				return
			}
		}
	})
	t.Run("server too new", func(t *testing.T) {
		c := rawServer(t, spec, `{"min":8,"max":9}`)
		f, p, err := readFrame(c)
		if err != nil || f != frameRefuse || !bytes.Contains(p, []byte(refuseVersion)) {
			t.Errorf("answer %d %q, %v", f, p, err)
		}
	})
}

// TestNewerHolder plays a holder of a later version to a Link.
func TestNewerHolder(t *testing.T) {
	spec := testSpec(t, "cat")
	self, err := lookProcess(syscall.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{spec: spec, self: self}
	if err := h.writeIdentity(); err != nil {
		t.Fatal(err)
	}
	listen, err := net.ListenUnix("unix", &net.UnixAddr{Name: spec.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listen.Close()
	served := make(chan error, 1)
	go func() {
		c, err := listen.AcceptUnix()
		if err != nil {
			served <- err
			return
		}
		defer c.Close()
		if _, _, err := readFrame(c); err != nil {
			served <- err
			return
		}
		out := appendFrame(nil, 98, []byte("before"))
		out = appendFrame(out, frameWelcome, []byte(`{"version":1,"written":3,"mood":"good"}`))
		out = appendFrame(out, 99, []byte("after"))
		out = appendFrame(out, frameWake, encodeNumbers(5, 6, 7))
		_, err = c.Write(out)
		served <- err
		readFrame(c) // until the link closes
	}()
	l, err := Dial(t.Context(), spec.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	eventually(t, "wake of a later version", func() bool {
		offset, control := l.Written()
		return offset == 5 && control == 6
	})
}
