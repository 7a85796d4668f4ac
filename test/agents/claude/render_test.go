//go:build agents

package claude

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestLong checks that 500 lines stand in the history, each once and in order.
func TestLong(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: long 500")
	l.See("long end")
	l.ready()
	out, err := l.Host.Call(l.Ctx, nil, "screen", "lab", "--text", "--scrollback", "2000")
	check(t, err)
	var want []string
	for i := range 500 {
		want = append(want, fmt.Sprintf("line %03d", i+1))
	}
	got := regexp.MustCompile(`line \d{3}`).FindAllString(string(out), -1)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d of 500 lines, or not in order", len(got))
	}
}

func TestRendering(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: cjk")
	l.See("你好，世界。这是一个测试。", "こんにちは、世界。", "한국어 텍스트", "Emoji: 🦀", "cjk end")
	l.ready()
	l.send("MOCK: markdown")
	l.See("Heading", "two", `fmt\.Println`, "markdown end")
	l.ready()
	l.send("MOCK: thinking deeply")
	l.See("● deeply")
}

// TestPaste sends long messages and checks them byte for byte.
func TestPaste(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	for _, part := range []string{
		"这是一条很长的消息，用来检验每个字节。", "行\nzweite Zeile äöü\n三行目 🦀 ", "plain words of ten kilobytes ",
	} {
		message := "MOCK: text got it\n" + strings.TrimSpace(strings.Repeat(part, 10<<10/len(part)))
		l.send(message)
		if newer(330) {
			l.pasted(message)
			l.ready()
			continue
		}
		l.Asked(message, 0)
		l.ready()
		l.once(message)
	}
}
