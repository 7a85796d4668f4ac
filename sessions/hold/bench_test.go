package hold

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// benchBytes is what one round prints, and benchRounds how many rounds the
// medians are of.
const (
	benchBytes  = 32 << 20
	benchRounds = 15
)

// BenchmarkThroughput compares PTY to journal to server with reading the PTY
// and throwing it away, round for round in one run. The bar is a ratio of
// 0.80.
func BenchmarkThroughput(b *testing.B) {
	var thrown, held, ratios, wakes []float64
	for b.Loop() {
		for range benchRounds {
			t := throwAway(b)
			h, w := throughHolder(b)
			wakes = append(wakes, w)
			thrown, held, ratios = append(thrown, t), append(held, h), append(ratios, h/t)
		}
	}
	b.ReportMetric(median(thrown), "thrown-MB/s")
	b.ReportMetric(median(held), "held-MB/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(wakes), "wakes/MB")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// rate is megabytes (2^20) a second between the first byte and the last.
func rate(n int64, began time.Time) float64 {
	return float64(n) / (1 << 20) / time.Since(began).Seconds()
}

func throwAway(b *testing.B) float64 {
	m, slave, err := openPTY(80, 24)
	if err != nil {
		b.Fatal(err)
	}
	defer m.f.Close()
	cmd := exec.Command(exe(b), "program", "print", strconv.Itoa(benchBytes))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	defer cmd.Wait()
	buf := make([]byte, readSize)
	n, err := m.f.Read(buf)
	began := time.Now()
	total := int64(n)
	for err == nil {
		n, err = m.f.Read(buf)
		total += int64(n)
	}
	if total < benchBytes {
		b.Fatalf("read %d bytes of %d: %v", total, benchBytes, err)
	}
	return rate(total, began)
}

// throughHolder gives the rate, and the wakes it took for each megabyte.
func throughHolder(b *testing.B) (speed, wakes float64) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := Start(b.Context(), exe(b), specIn(b, dir, exe(b), "program", "print", strconv.Itoa(benchBytes)), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer endHolder(b, l)
	buf := make([]byte, 64<<10)
	var off int64
	var began time.Time
	for off < benchBytes {
		<-l.Wake()
		wakes++
		for {
			n, err := l.ReadOutput(buf, off)
			if n == 0 {
				if l.Err() != nil && off < benchBytes {
					b.Fatalf("read %d bytes of %d: %v, %v", off, benchBytes, err, l.Err())
				}
				break
			}
			if off == 0 {
				began = time.Now()
			}
			off += int64(n)
		}
		l.Consumed(off)
	}
	return rate(off, began), wakes / (benchBytes >> 20)
}

// BenchmarkKeystroke is one key through a holder into `cat` and its echo back
// in the server's hands.
func BenchmarkKeystroke(b *testing.B) {
	dir := b.TempDir()
	l, err := Start(b.Context(), exe(b), specIn(b, dir, exe(b), "program", "echo"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer endHolder(b, l)
	f := follow(l, 0)
	f.untilText(b, "ready")
	var took []float64
	for b.Loop() {
		began := time.Now()
		go l.Input(b.Context(), []byte("k"), nil)
		for end := f.off + 1; f.off < end; {
			<-l.Wake()
			f.read(b)
		}
		took = append(took, float64(time.Since(began).Microseconds()))
		f.text = f.text[:0]
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-us")
	b.ReportMetric(took[len(took)*99/100], "p99-us")
}

// BenchmarkKeystrokeDirect is the same with the PTY in the server's own hands.
func BenchmarkKeystrokeDirect(b *testing.B) {
	m, slave, err := openPTY(80, 24)
	if err != nil {
		b.Fatal(err)
	}
	defer m.f.Close()
	cmd := exec.Command(exe(b), "program", "echo")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	defer cmd.Wait()
	defer cmd.Process.Kill()
	buf := make([]byte, readSize)
	for n := 0; n < len("ready\n"); {
		k, err := m.f.Read(buf)
		if err != nil {
			b.Fatal(err)
		}
		n += k
	}
	var took []float64
	for b.Loop() {
		began := time.Now()
		go m.f.Write([]byte("k"))
		if _, err := m.f.Read(buf); err != nil {
			b.Fatal(err)
		}
		took = append(took, float64(time.Since(began).Microseconds()))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-us")
	b.ReportMetric(took[len(took)*99/100], "p99-us")
}

// BenchmarkRequestWhileStreaming is how long a request waits for its answer
// while the program prints as fast as it can.
func BenchmarkRequestWhileStreaming(b *testing.B) {
	l, err := Start(b.Context(), exe(b), specIn(b, b.TempDir(), exe(b), "program", "print", "0"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer endHolder(b, l)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		buf := make([]byte, 64<<10)
		for off := int64(0); ; l.Consumed(off) {
			select {
			case <-l.Wake():
			case <-l.Done():
				return
			}
			for {
				n, err := l.ReadOutput(buf, off)
				off += int64(n)
				if err != nil {
					break
				}
			}
		}
	}()
	var took []float64
	for b.Loop() {
		began := time.Now()
		if err := l.Note("note", nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, float64(time.Since(began).Microseconds()))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-us")
	b.ReportMetric(took[len(took)*99/100], "p99-us")
	l.Close()
	<-reading
}
