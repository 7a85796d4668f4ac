package packaging

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"gopkg.in/yaml.v3"
)

// makeImage makes an image and returns it with its file.
func makeImage(t *testing.T) (v1.Image, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image.tar")
	cmd := exec.CommandContext(t.Context(), "make", "-C", "..", "image", "IMAGE="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	image, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return image, file
}

func configOf(t *testing.T, image v1.Image) v1.Config {
	t.Helper()
	c, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return c.Config
}

// TestImage inspects the image, and logs in to a server that runs in its root file system.
func TestImage(t *testing.T) {
	image, file := makeImage(t)
	c := configOf(t, image)
	if c.User != "10001:10001" || !slices.Equal(c.Entrypoint, []string{"/usr/bin/berth"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("it runs %q %q as %s", c.Entrypoint, c.Cmd, c.User)
	}
	if _, ok := c.Volumes["/var/lib/berth"]; !ok || c.Healthcheck == nil || strings.Join(c.Healthcheck.Test, " ") != "CMD /usr/bin/berth health" {
		t.Errorf("volumes %v, health check %v", c.Volumes, c.Healthcheck)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 2 {
		t.Errorf("%d layers, %v; want busybox's and Berth's", len(layers), err)
	}

	// On top of a base the base's files, users and variables stay.
	second := t.TempDir() + "/image.tar"
	cmd := exec.CommandContext(t.Context(), "go", "run", "./image", "-base", file, "-berth", "/bin/true", "-hold", "/bin/true", "-fleet", "/bin/true", "-arch", "amd64", "-version", "1", "-out", second)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	onBase, err := tarball.ImageFromPath(second, nil)
	if err != nil {
		t.Fatal(err)
	}
	layers, err = onBase.Layers()
	if err != nil || len(layers) != 3 {
		t.Errorf("%d layers on a base of two, %v", len(layers), err)
	}
	found := map[string]string{}
	for r := tar.NewReader(mutate.Extract(onBase)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(io.LimitReader(r, 1000))
		found[strings.TrimSuffix(h.Name, "/")] = fmt.Sprintf("%o %d %s", h.Mode, h.Uid, text)
	}
	if passwd := found["etc/passwd"]; !strings.HasPrefix(passwd, "644 0 root:") || !strings.Contains(passwd, "\nberth:x:10001:") {
		t.Errorf("etc/passwd: %q", passwd)
	}
	for _, dir := range []string{"var/lib/berth", "run/berth"} {
		if found[dir] != "700 10001 " {
			t.Errorf("%s: %q", dir, found[dir])
		}
	}
	if found["bin/sh"] != "777 0 " {
		t.Errorf("bin/sh: %q", found["bin/sh"])
	}
	t.Run("runs", func(t *testing.T) { runImage(t, image, c) })
}

func runImage(t *testing.T, image v1.Image, c v1.Config) {
	if os.Geteuid() != 0 || os.Getenv("CI") != "true" && os.Getenv("BERTH_INSTALL") == "" {
		t.Skip("SKIPPED: it makes an OS user with the image's uid, as root in CI, or with BERTH_INSTALL=1")
	}
	root, err := os.MkdirTemp("", "berth-image-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	run := func(in io.Reader, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		var out, said bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &said
		if err := cmd.Run(); err != nil {
			log, _ := os.ReadFile(root + "/log")
			t.Fatalf("%s %s: %v\n%s%s\nthe server's log:\n%s", name, strings.Join(args, " "), err, &out, &said, log)
		}
		return out.String()
	}
	flat := mutate.Extract(image)
	defer flat.Close()
	run(flat, "tar", "-x", "-p", "--numeric-owner", "-C", root)
	for _, dir := range []string{"proc", "dev"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(nil, "chmod", "755", root)
	// ssh runs as the server's user, as in TestInstall. It needs a user of that number.
	run(nil, "useradd", "--uid", "10001", "--no-create-home", "--home-dir", "/nonexistent", "berth-image")
	t.Cleanup(func() {
		if out, err := exec.Command("userdel", "berth-image").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	client := root + "/tmp/key" // a folder that the user may enter
	run(nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", client)
	run(nil, "chown", "10001:10001", client)
	key, err := os.ReadFile(client + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/etc/berth/authorized_keys", append([]byte(`role="admin" `), key...), 0o644); err != nil {
		t.Fatal(err)
	}

	// The container: its own mounts and processes, the image's user and variables.
	log, err := os.Create(root + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	inside := fmt.Sprintf("mount --rbind /dev %s/dev && mount -t proc proc %s/proc && exec chroot --userspec=%s %s \"$@\"", root, root, c.User, root)
	words := slices.Concat([]string{"--mount", "--pid", "--fork", "sh", "-c", inside, "sh"}, c.Entrypoint, c.Cmd)
	server := exec.Command("unshare", words...)
	server.Env = slices.Concat(c.Env, []string{"BERTH_LISTEN=127.0.0.1:0"})
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	first := 0 // of the container's processes: all others end with it
	t.Cleanup(func() {
		if first > 0 {
			_ = syscall.Kill(first, syscall.SIGKILL)
		}
		_ = server.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(patience); first == 0; time.Sleep(20 * time.Millisecond) {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", server.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if first, _ = strconv.Atoi(strings.TrimSpace(string(children))); first == 0 && time.Now().After(deadline) {
			t.Fatal("unshare has no child")
		}
	}
	address := ""
	for deadline := time.Now().Add(patience); address == ""; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(root + "/log")
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(text), "listening on 127.0.0.1:"); ok && strings.Contains(after, "\n") {
			address, _, _ = strings.Cut(after, "\n")
		} else if time.Now().After(deadline) {
			t.Fatalf("the server doesn't listen:\n%s", text)
		}
	}
	ssh := func(args ...string) string {
		t.Helper()
		// Among the container's processes, since the server refuses a client on its machine that it can't see.
		return run(nil, "nsenter", append([]string{"--pid", "--target", strconv.Itoa(first), "setpriv", "--reuid", "10001", "--regid", "10001", "--clear-groups", "ssh", "-F", "none", "-i", client, "-p", address,
			"-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR", "agents@127.0.0.1"}, args...)...)
	}
	var version struct{ OS string }
	if err := json.Unmarshal([]byte(ssh("version", "--json")), &version); err != nil || version.OS != "linux" {
		t.Errorf("version: %+v, %v", version, err)
	}
	ssh("new", "alpha")
	ssh("input", "alpha", "--enter", "busybox uname -o; echo from $0")
	ssh("wait", "alpha", "--text", "'from .*sh'", "--timeout", "10s")
}

// TestContainerFiles compares the examples with the image.
func TestContainerFiles(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Ports, Volumes []string }
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	berth := compose.Services["berth"]
	if _, ok := compose.Volumes["state"]; !ok || !slices.Contains(berth.Volumes, "state:/var/lib/berth") || !slices.Equal(berth.Ports, []string{"127.0.0.1:2222:2222"}) {
		t.Errorf("compose: %+v", compose)
	}
	kinds := []string{}
	f, err := os.Open("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := yaml.NewDecoder(f); ; {
		var one struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							SecurityContext struct {
								RunAsUser int `yaml:"runAsUser"`
							} `yaml:"securityContext"`
							VolumeMounts []struct {
								Name      string
								MountPath string `yaml:"mountPath"`
							} `yaml:"volumeMounts"`
						}
					}
				}
			}
		}
		if err := r.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, one.Kind)
		for _, c := range one.Spec.Template.Spec.Containers {
			if c.SecurityContext.RunAsUser != 10001 || len(c.VolumeMounts) != 2 || c.VolumeMounts[0].MountPath != "/var/lib/berth" {
				t.Errorf("kubernetes: %+v", c)
			}
		}
	}
	if !slices.Equal(kinds, []string{"Secret", "Service", "StatefulSet"}) {
		t.Errorf("kubernetes: %q", kinds)
	}
}
