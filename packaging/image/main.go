// Command image makes a container image of Berth without a daemon, as a tar file that docker load,
// podman load, ctr and skopeo read. Without a base it has busybox for a shell.
//
//	image -berth FILE -hold FILE -fleet FILE -arch ARCH -version V -created UNIX [-base FILE.tar | -busybox FILE] -out FILE.tar
package main

import (
	"debug/elf"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// uid is the user's number, above those that bases give to users of their own.
const uid = 10001

const (
	home = "/var/lib/berth" // the volume
	run  = "/run/berth"
	keys = "/etc/berth/authorized_keys"
)

// options are the flags.
type options struct {
	berth, hold, fleet, arch, version, base, busybox, out string
	created                                               int64
}

func main() {
	var o options
	flag.StringVar(&o.berth, "berth", "", "the program berth")
	flag.StringVar(&o.hold, "hold", "", "the program berth-hold")
	flag.StringVar(&o.fleet, "fleet", "", "the program berth-fleet")
	flag.StringVar(&o.arch, "arch", "", "the processor of both, as Go names it")
	flag.StringVar(&o.version, "version", "", "their version")
	flag.StringVar(&o.base, "base", "", "an image to build on, as docker save writes it")
	flag.StringVar(&o.busybox, "busybox", "/bin/busybox", "a static busybox, without a base")
	flag.StringVar(&o.out, "out", "", "the file to write")
	flag.Int64Var(&o.created, "created", 0, "the time of its files, in seconds since 1970")
	flag.Parse()
	if err := o.make(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func (o *options) make() error {
	at := time.Unix(o.created, 0).UTC()
	image, found, err := o.from(at)
	if err != nil {
		return err
	}
	files := &layer{at: at}
	for path, user := range map[string]string{
		"etc/passwd": fmt.Sprintf("berth:x:%d:%d:Berth:%s:/bin/sh\n", uid, uid, home),
		"etc/group":  fmt.Sprintf("berth:x:%d:\n", uid),
	} {
		files.text(path, 0o644, found[path]+user)
	}
	files.dir("etc/berth", 0o755, 0)
	files.dir(home[1:], 0o700, uid)
	files.dir(run[1:], 0o700, uid)
	files.file("usr/bin/berth", o.berth)
	files.file("usr/bin/berth-hold", o.hold)
	files.file("usr/bin/berth-fleet", o.fleet)
	top, err := files.layer()
	if err != nil {
		return err
	}
	if image, err = mutate.AppendLayers(image, top); err != nil {
		return fmt.Errorf("add Berth's layer: %w", err)
	}
	if image, err = o.configure(image, at); err != nil {
		return err
	}
	tag, err := name.NewTag("berth:" + strings.ReplaceAll(o.version, "+", "-"))
	if err != nil {
		return fmt.Errorf("name the image: %w", err)
	}
	if err := tarball.WriteToFile(o.out, tag, image); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	fmt.Println(o.out+":", tag)
	return nil
}

// from is the image to build on, and its tables of users and groups.
func (o *options) from(at time.Time) (v1.Image, map[string]string, error) {
	if o.base != "" {
		image, err := tarball.ImageFromPath(o.base, nil)
		if err != nil {
			return nil, nil, fmt.Errorf("read the base: %w", err)
		}
		found, err := read(image, "etc/passwd", "etc/group")
		return image, found, err
	}
	if err := static(o.busybox); err != nil {
		return nil, nil, err
	}
	list, err := exec.Command(o.busybox, "--list").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("run %s: %w", o.busybox, err)
	}
	files := &layer{at: at}
	files.dir("tmp", 0o1777, 0)
	files.file("bin/busybox", o.busybox)
	for applet := range strings.Lines(string(list)) {
		if applet = strings.TrimSpace(applet); applet != "busybox" {
			files.link("bin/"+applet, "busybox")
		}
	}
	// What notifications over HTTPS compare certificates with.
	const authorities = "etc/ssl/certs/ca-certificates.crt"
	if _, err := os.Stat("/" + authorities); err == nil {
		files.file(authorities, "/"+authorities)
	}
	bottom, err := files.layer()
	if err != nil {
		return nil, nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, bottom)
	if err != nil {
		return nil, nil, fmt.Errorf("add busybox's layer: %w", err)
	}
	return image, map[string]string{"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n"}, nil
}

// static refuses a program that needs libraries, which the image doesn't have.
func static(program string) error {
	const remedy = "the image needs a static busybox (on Debian: busybox-static), or a base"
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s: %w", remedy, err)
	}
	defer f.Close()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return fmt.Errorf("%s: %s needs libraries", remedy, program)
	}
	return nil
}

// configure says how a container of the image runs. The base's other variables stay.
func (o *options) configure(image v1.Image, at time.Time) (v1.Image, error) {
	was, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	c := was.DeepCopy()
	c.Architecture, c.OS, c.Created = o.arch, "linux", v1.Time{Time: at}
	env := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, pair := range c.Config.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	maps.Copy(env, map[string]string{
		"HOME": home, "USER": "berth", "SHELL": "/bin/sh", "STATE_DIRECTORY": home, "RUNTIME_DIRECTORY": run,
		"BERTH_LISTEN": "0.0.0.0:2222", "BERTH_AUTHORIZED_KEYS": home + "/authorized_keys:" + keys,
	})
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	c.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", uid, uid), Env: list, WorkingDir: home, Labels: c.Config.Labels,
		Entrypoint: []string{"/usr/bin/berth"}, Cmd: []string{"serve"}, StopSignal: "SIGTERM",
		ExposedPorts: map[string]struct{}{"2222/tcp": {}}, Volumes: map[string]struct{}{home: {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/usr/bin/berth", "health"}, Interval: 30 * time.Second, Timeout: 5 * time.Second,
			StartPeriod: 20 * time.Second, Retries: 3,
		},
	}
	if image, err = mutate.ConfigFile(image, c); err != nil {
		return nil, fmt.Errorf("configure the image: %w", err)
	}
	return image, nil
}
