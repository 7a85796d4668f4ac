package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// layer collects the files of an image's layer. It keeps the first error for its end.
type layer struct {
	at    time.Time
	files []entry
	err   error
}

type entry struct {
	head tar.Header
	data []byte
}

func (l *layer) add(h tar.Header, data []byte) {
	h.ModTime, h.Size = l.at, int64(len(data))
	l.files = append(l.files, entry{h, data})
}

// dir is a folder of a user; folders above it are root's.
func (l *layer) dir(name string, mode int64, owner int) {
	l.add(tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (l *layer) text(name string, mode int64, text string) {
	l.add(tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode}, []byte(text))
}

// file is a copy of a file of this machine, which all may read, and run if its owner may.
func (l *layer) file(name, from string) {
	data, err := os.ReadFile(from)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(from); err == nil {
			mode := int64(0o644)
			if info.Mode()&0o100 != 0 {
				mode = 0o755
			}
			l.add(tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode}, data)
		}
	}
	l.err = errors.Join(l.err, err)
}

func (l *layer) link(name, to string) {
	l.add(tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to, Mode: 0o777}, nil)
}

// layer writes the files in the order of their names, with the folders above them.
func (l *layer) layer() (v1.Layer, error) {
	if l.err != nil {
		return nil, fmt.Errorf("read a file of the image: %w", l.err)
	}
	has := map[string]bool{}
	for _, f := range l.files {
		has[path.Clean(f.head.Name)] = true
	}
	for _, f := range slices.Clone(l.files) {
		for above := path.Dir(path.Clean(f.head.Name)); above != "."; above = path.Dir(above) {
			if !has[above] {
				has[above] = true
				l.dir(above, 0o755, 0)
			}
		}
	}
	slices.SortFunc(l.files, func(a, b entry) int { return bytes.Compare([]byte(a.head.Name), []byte(b.head.Name)) })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range l.files {
		if err := w.WriteHeader(&f.head); err != nil {
			return nil, fmt.Errorf("write a layer: %w", err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("write a layer: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write a layer: %w", err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil })
}

// read returns the texts of files of an image; empty for one that it doesn't have.
func read(image v1.Image, names ...string) (map[string]string, error) {
	flat := mutate.Extract(image)
	defer flat.Close()
	found := map[string]string{}
	for r := tar.NewReader(flat); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the base's files: %w", err)
		}
		if name := path.Clean(h.Name); slices.Contains(names, name) {
			text, err := io.ReadAll(r)
			if err != nil {
				return nil, fmt.Errorf("read the base's %s: %w", name, err)
			}
			found[name] = string(text)
		}
	}
}
