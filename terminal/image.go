package terminal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"  // for sizes
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"path"
	"strings"
)

// Images (sixel, kitty's graphics, iTerm2's inline images) are not drawn, because few terminals show them and
// the screen is text for all that read it. A placeholder with name and size is printed where one begins.

const (
	// imageHead is how much of a string that is too long is kept: what an image says about itself, and the
	// first bytes of it.
	imageHead = 4 << 10
	// maxImageName is how many runes of an image's name are shown.
	maxImageName = 40
)

// sixelImage is a DCS string with an image: parameters, q, and perhaps its raster attributes.
func (t *Terminal) sixelImage(s string) {
	i := strings.IndexByte(s, 'q')
	if i < 0 || strings.Trim(s[:i], "0123456789;") != "" {
		return
	}
	var ratio, of, width, height int
	_, _ = fmt.Sscanf(s[i+1:], `"%d;%d;%d;%d`, &ratio, &of, &width, &height) // without them the size is unknown
	t.placeholder("", width, height, false)
	t.execute('\r') // the text after a sixel image is below it
	t.execute('\n')
}

// kittyImage is an APC string of kitty's graphics. Of an image in several parts the first says that it is
// shown.
func (t *Terminal) kittyImage(s string) {
	control, payload, _ := strings.Cut(s, ";")
	keys := fields(control, ",")
	if a := keys["a"]; a != "T" && a != "p" || keys["U"] == "1" || strings.HasPrefix(keys["z"], "-") { // below the text
		return
	}
	data := decodeHead(payload)
	width, height := number(keys["s"]), number(keys["v"])
	name := ""
	switch keys["t"] {
	case "f", "t": // the name of a file
		name = string(data)
	case "", "d":
		if width == 0 {
			width, height = imageSize(data)
		}
	}
	t.placeholder(name, width, height, keys["C"] == "1")
}

// itermImage is what comes after OSC 1337. A file that is not shown is a download.
func (t *Terminal) itermImage(s string) {
	s, isFile := strings.CutPrefix(strings.TrimPrefix(s, "Multipart"), "File=")
	if !isFile {
		return
	}
	head, payload, _ := strings.Cut(s, ":")
	keys := fields(head, ";")
	if keys["inline"] != "1" {
		return
	}
	width, height := imageSize(decodeHead(payload))
	t.placeholder(string(decodeHead(keys["name"])), width, height, keys["doNotMoveCursor"] == "1")
}

// placeholder prints what an image is about, in what is left of the row. With stay, the cursor is then where it
// was, because the image says that it doesn't move it; at the end of a full row nothing is printed.
func (t *Terminal) placeholder(name string, width, height int, stay bool) {
	text := "[image"
	if name = cleanText(path.Base(name), maxImageName); name != "" && name != "." && name != "/" {
		text += " " + name
	}
	if width > 0 && height > 0 {
		text += fmt.Sprintf(" %dx%d", width, height)
	}
	text += "]"
	room := t.cols - t.scr.x
	if stay {
		if room <= 0 {
			return
		}
		x, last := t.scr.x, t.last
		defer func() {
			t.endCluster()
			t.scr.x, t.last = x, last
			t.passPlace()
		}()
	}
	if room <= 0 { // it begins on the next row
		room = t.cols
	}
	for text != "" {
		cluster, rest, width := NextCluster(text)
		if room -= width; room < 0 {
			return
		}
		for _, r := range cluster {
			t.printRune(r)
		}
		text = rest
	}
}

// fields are the settings of a list such as a=T,f=100.
func fields(s, separator string) map[string]string {
	all := map[string]string{}
	for _, field := range strings.Split(s, separator) {
		key, value, _ := strings.Cut(field, "=")
		all[key] = value
	}
	return all
}

// number is a count of pixels; 0 for what is none.
func number(s string) (n int) {
	if len(s) <= 5 {
		_, _ = fmt.Sscanf(s, "%d", &n) // 0 is the answer then
	}
	return n
}

// decodeHead decodes base64 as far as it goes.
func decodeHead(s string) []byte {
	s = strings.TrimRight(s[:min(len(s), imageHead)], "=")
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(s)))
	n, _ := base64.RawStdEncoding.Decode(data, []byte(s)) // what comes before a mistake counts
	return data[:n]
}

// imageSize is the size that the first bytes of an image name.
func imageSize(head []byte) (width, height int) {
	c, _, err := image.DecodeConfig(bytes.NewReader(head))
	if err != nil || c.Width > 99_999 || c.Height > 99_999 {
		return 0, 0
	}
	return c.Width, c.Height
}

// image prints the placeholder of an image whose string is too long to be kept, from its head.
func (t *Terminal) image(kind byte, head string) {
	switch {
	case kind == 'P':
		t.sixelImage(head)
	case kind == '_' && strings.HasPrefix(head, "G"):
		t.kittyImage(head[1:])
	case kind == ']':
		if rest, ok := strings.CutPrefix(head, "1337;"); ok {
			t.itermImage(rest)
		}
	}
}
