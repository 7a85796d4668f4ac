package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// oneByHook says whether the session has one prompt, which its hook answers.
func oneByHook(s *forgery) bool {
	all := s.f.Status().Requests
	return len(all) == 1 && all[0].OnScreen && !all[0].Contested && all[0].Channel == agent.ChannelHook
}

// TestFullRowOfJapanese: Chinese, Japanese or Korean text that fills a row to its last column doesn't
// continue in the next row: Claude counts its columns as terminals do. A key and the hook answer the
// dialog. 2.1.197 drew it like this at 80 columns.
func TestFullRowOfJapanese(t *testing.T) {
	for _, folder := range []string{"日本語のとても長い名前のフォルダ", "中文名字很长的一个文件夹在这里呢", "이름이아주긴폴더가여기에있습니다"} {
		r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Bash command", "", "   touch " + folder + "/ファイル.txt", "   \x1b[38;5;246mファイルを作る\x1b[39m", "",
			" Do you want to proceed?", " ❯ 1. Yes", "   2.Yes, and always allow access to " + folder + "/ from this", "     project", "   3. No", "",
			" Esc to cancel · Tab to amend · ctrl+e to explain"}, "\n"))
		input := fmt.Sprintf(`{"command":"touch %s/ファイル.txt","description":"ファイルを作る"}`, folder)
		s := newForgery(t)
		s.show(r)
		if p := s.f.Status().Request; p == nil || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s, without hooks: %+v", folder, p)
		}
		s = newForgery(t)
		s.asks("Bash", input, "7")
		if s.show(r); !oneByHook(s) {
			t.Errorf("%s, by its hook: %+v", folder, s.f.Status().Requests)
		}
	}
}

// TestFileOfJapanese: Claude breaks a file's lines with up to three free columns after them.
func TestFileOfJapanese(t *testing.T) {
	const line = "これは日本語の文章です。とても長い行なので、この端末の幅には入りきらないはずです。もう少し書いておきましょう。"
	for version, at := range map[string]int{"2.1.197": 36, "2.1.330": 37} {
		runes := []rune(line)
		r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Create file", " メモ.txt", strings.Repeat("╌", 80),
			"  1 " + string(runes[:at]), "    " + string(runes[at:]), "  2 二行目", strings.Repeat("╌", 80),
			" Do you want to create メモ.txt?", " ❯ 1. Yes", "   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend"}, "\n"))
		s := newForgery(t)
		s.asks("Write", fmt.Sprintf(`{"file_path":"/w/メモ.txt","content":"%s\n二行目\n"}`, line), "7")
		s.show(r)
		if s.pass(2 * time.Second); !oneByHook(s) {
			t.Errorf("%s: %+v", version, s.f.Status().Requests)
		}
	}
}

// TestEmojiWithoutItsSign: 2.1.330 leaves out the sign that makes an emoji of a character. The hook that
// waits takes the answer to its own call. No key allows the reported call, because another text is drawn
// the same.
func TestEmojiWithoutItsSign(t *testing.T) {
	told, drawn := "touch ❤\ufe0f ✈\ufe0f.txt", "touch ❤ ✈.txt"
	r := asksOfCommand("絵文字 ❤", drawn)
	input := fmt.Sprintf(`{"command":%q,"description":"絵文字 ❤\ufe0f"}`, told)
	s := newForgery(t)
	s.asks("Bash", input, "7")
	s.show(r)
	if s.pass(2 * time.Second); !oneByHook(s) {
		t.Errorf("by its hook: %+v", s.f.Status().Requests)
	}
	s = newForgery(t)
	s.asks("Bash", input, "")
	s.show(r)
	s.pass(2 * time.Second)
	s.refuses(told, r)
	if p := s.find(drawn); p == nil || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("as it is drawn: %+v", s.f.Status().Requests)
	}
	s = newForgery(t)
	s.asks("Bash", `{"command":"touch ❤ ✈\u200b.txt","description":"絵文字 ❤"}`, "7")
	s.show(r)
	if s.pass(2 * time.Second); oneByHook(s) {
		t.Error("a character without a width is left out too")
	}
}

// TestQuestionWithoutASign: the sign of an emoji is also left out of a question, its options and a plan.
func TestQuestionWithoutASign(t *testing.T) {
	r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " ☐ 色", "", "│ どの色がいいですか ❤ この質問はとても長いので一行には入りきらないと思いますが", "│ どうでしょうか、答えてください", "",
		"❯ 1. 赤 ❤", "     とても明るい赤い色です ✈", "  2. 青", "     海の色", "  3. Type something.", strings.Repeat("─", 80), "  4. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"}, "\n"))
	s := newForgery(t)
	s.asks("AskUserQuestion", `{"questions":[{"question":"どの色がいいですか ❤️ この質問はとても長いので一行には入りきらないと思いますがどうでしょうか、答えてください","header":"色","multiSelect":false,"options":[{"label":"赤 ❤️","description":"とても明るい赤い色です ✈️"},{"label":"青","description":"海の色"}]}]}`, "7")
	s.show(r)
	if s.pass(2 * time.Second); !oneByHook(s) {
		t.Errorf("%+v", s.f.Status().Requests)
	}
	s = newForgery(t)
	s.asks("ExitPlanMode", `{"plan":"Say ❤️."}`, "7")
	s.show(asksOfPlan("Say ❤."))
	if s.pass(2 * time.Second); !oneByHook(s) {
		t.Errorf("a plan: %+v", s.f.Status().Requests)
	}
}
