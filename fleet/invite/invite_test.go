package invite

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

var pin = [32]byte{1, 2, 3, 31: 9}

func newBook(t *testing.T, now func() time.Time) *Book {
	t.Helper()
	b, err := Open(t.TempDir()+"/invites", now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newToken(t *testing.T, b *Book) Token {
	t.Helper()
	token, err := b.New("box2", "gw.example.net:4222", "ann", pin)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestToken(t *testing.T) {
	token := newToken(t, newBook(t, time.Now))
	text := token.String()
	if got, err := Parse(" " + text + "\n"); err != nil || got != token {
		t.Errorf("%+v, %v", got, err)
	}
	if len(text) > 140 {
		t.Errorf("it has %d characters", len(text))
	}
	for name, bad := range map[string]string{
		"empty": "", "cut": text[:len(text)-3], "its begin is missing": text[3:], "changed": text[:20] + "A" + text[21:], "another word": "box2", "the mark alone": mark,
	} {
		if _, err := Parse(bad); !errors.Is(err, ErrToken) && bad != text {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClusterToken is a token of a fleet on a NATS cluster.
func TestClusterToken(t *testing.T) {
	token := newToken(t, newBook(t, time.Now))
	token.Address = "tls://n1.example.net:4222,tls://n2.example.net:4222"
	token.User = "a.b.c"
	for _, token.Authorities = range []string{"", "\x30\x00der"} {
		text := token.String()
		if got, err := Parse(text + "\n"); err != nil || got != token {
			t.Errorf("%+v, %v", got, err)
		}
	}
	// Lengths that the text doesn't have.
	for _, rest := range []string{"", "\x00", "\x00\x09a", "\x00\x01a", "\x00\x01a\x00", "\x00\x01a\x00\x02b", "\x00\x00\x00\x01b"} {
		whole := append(append(append(append([]byte(nil), token.ID[:]...), token.Secret[:]...), token.Pin[:]...), "\x04box2"+rest...)
		sum := sha256.Sum256(whole)
		if got, err := Parse(markCluster + base64.RawURLEncoding.EncodeToString(append(whole, sum[:sumSize]...))); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %+v, %v", rest, got, err)
		}
	}
}

// TestRedeemProof uses a token without showing its secret.
func TestRedeemProof(t *testing.T) {
	b := newBook(t, time.Now)
	token, other := newToken(t, b), newToken(t, b)
	sign := func(token Token, text string) []byte {
		pair, err := token.Key()
		if err != nil {
			t.Fatal(err)
		}
		proof, err := pair.Sign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return proof
	}
	for name, proof := range map[string][]byte{"none": nil, "of another token": sign(other, "asks"), "of another question": sign(token, "asks more")} {
		if _, err := b.RedeemProof(token.ID, []byte("asks"), proof, "K1"); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if name, err := b.RedeemProof(token.ID, []byte("asks"), sign(token, "asks"), "K1"); err != nil || name != "box2" {
		t.Errorf("%q, %v", name, err)
	}
	if _, err := b.RedeemProof(token.ID, []byte("asks"), sign(token, "asks"), "K2"); !errors.Is(err, ErrUsed) {
		t.Errorf("a second host: %v", err)
	}
}

func TestRedeem(t *testing.T) {
	now := time.Now()
	b := newBook(t, func() time.Time { return now })
	token := newToken(t, b)
	wrong := token.Secret
	wrong[0]++
	if _, err := b.Redeem(token.ID, wrong, "K1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("with another secret: %v", err)
	}
	if _, err := b.Redeem([8]byte{}, token.Secret, "K1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("another token: %v", err)
	}
	if name, err := b.Redeem(token.ID, token.Secret, "K1"); err != nil || name != "box2" {
		t.Errorf("%q, %v", name, err)
	}
	if name, err := b.Redeem(token.ID, token.Secret, "K1"); err != nil || name != "box2" {
		t.Errorf("the same host again: %q, %v", name, err)
	}
	if _, err := b.Redeem(token.ID, token.Secret, "K2"); !errors.Is(err, ErrUsed) {
		t.Errorf("another host: %v", err)
	}
	late := newToken(t, b)
	now = now.Add(Life)
	for _, token := range []Token{token, late} {
		if _, err := b.Redeem(token.ID, token.Secret, "K1"); !errors.Is(err, ErrExpired) {
			t.Errorf("after %s: %v", Life, err)
		}
	}
	now = now.Add(kept)
	newToken(t, b)
	if _, err := b.Redeem(late.ID, late.Secret, "K1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a day later: %v", err)
	}
	if data, err := os.ReadDir(b.dir); err != nil || len(data) != 1 {
		t.Errorf("%d files are left: %v", len(data), err)
	}
}

// TestTheSecretIsNotKept reads all that is on disk.
func TestTheSecretIsNotKept(t *testing.T) {
	b := newBook(t, time.Now)
	token := newToken(t, b)
	entries, _ := os.ReadDir(b.dir)
	for _, e := range entries {
		data, err := os.ReadFile(b.dir + "/" + e.Name())
		if err != nil || strings.Contains(string(data), hex.EncodeToString(token.Secret[:])) || strings.Contains(string(data), token.String()) {
			t.Errorf("%s has the secret, or %v", e.Name(), err)
		}
	}
	if len(entries) != 1 {
		t.Errorf("%d files", len(entries))
	}
}

// TestAtOnce has 32 hosts that use one token at the same moment.
func TestAtOnce(t *testing.T) {
	b := newBook(t, time.Now)
	token := newToken(t, b)
	var running sync.WaitGroup
	won := make(chan string, 32)
	for i := range 32 {
		running.Go(func() {
			key := fmt.Sprint("K", i)
			if _, err := b.Redeem(token.ID, token.Secret, key); err == nil {
				won <- key
			} else if !errors.Is(err, ErrUsed) {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if len(won) != 1 {
		t.Errorf("%d hosts have used it", len(won))
	}
}

// TestKilled kills a gateway at any step: in a loop it makes a token, uses it for a host, and prints
// both. Afterwards no token that it used is good for another host, and no token that it printed is lost.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("INVITE_TEST_DIR"); dir != "" {
		b, err := Open(dir, time.Now)
		for err == nil {
			var token Token
			if token, err = b.New("box2", "gw:1", "ann", pin); err != nil {
				break
			}
			fmt.Println("made", token)
			if _, err = b.Redeem(token.ID, token.Secret, "K1"); err == nil {
				fmt.Println("used", token)
			}
		}
		t.Fatal(err)
	}
	b := newBook(t, time.Now)
	states := map[string]string{} // of each token: the last line about it
	for range 20 {
		gateway := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.timeout=60s")
		gateway.Env = append(os.Environ(), "INVITE_TEST_DIR="+b.dir)
		out, err := gateway.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := gateway.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 7 { // the kill comes at any step after it; lines until then are read to the end
				_ = gateway.Process.Kill()
			}
			if state, token, ok := strings.Cut(lines.Text(), " "); ok {
				states[token] = state
			}
		}
		_ = gateway.Wait()
	}
	used := 0
	for text, state := range states {
		token, err := Parse(text)
		if err != nil {
			continue // a line that the kill has cut
		}
		_, err = b.Redeem(token.ID, token.Secret, "K2")
		if state == "used" && !errors.Is(err, ErrUsed) || err != nil && !errors.Is(err, ErrUsed) {
			t.Errorf("a token that was %s: %v", state, err)
		}
		if _, again := b.Redeem(token.ID, token.Secret, "K3"); !errors.Is(again, ErrUsed) {
			t.Errorf("a third host: %v", again)
		}
		if state == "used" {
			used++
		}
	}
	if used < 20 {
		t.Errorf("only %d tokens were used", used)
	}
}
