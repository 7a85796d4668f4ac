package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// suites are the rows of the table.
var suites = []suite{
	{"OpenSSH", "ssh -V", script("clients_openssh", "mux")},
	{"OpenSSH sftp and scp", "ssh -V", script("sftp")},
	{"PuTTY", "plink -V", script("clients_putty")},
	{"Dropbear", "dbclient -V", script("clients_dropbear")},
	{"Paramiko", "/usr/bin/python3 -c 'import paramiko; print(paramiko.__version__)'", script("clients_paramiko")},
	{"AsyncSSH", "/usr/bin/python3 -c 'import asyncssh; print(asyncssh.__version__)'", script("clients_asyncssh")},
	{"x/crypto/ssh", "", script("clients_go")},
	{"lftp", "lftp --version", script("clients_lftp")},
	{"ssh-audit", "ssh-audit --help", script("clients_audit")},
	{"vttest", "vttest -V", vttest},
	{"systemd-analyze", "systemctl --version", tests("systemd-analyze", ".", "^(TestUnitFile|TestUnitText)$", "./cmd/berth/...")},
	{"Prometheus", "prometheus --version", script("metrics")},
	{"mandoc, lintian, dpkg", "lintian --version", tests("lintian", "packaging", "^TestInstall$", ".")},
}

var versionNumber = regexp.MustCompile(`\d+\.[0-9][\w.+~-]*`)

// versionOf runs a command that says a version.
func versionOf(ctx context.Context, command string) string {
	if command == "" {
		return ""
	}
	out, _ := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput() // some end with another status
	return versionNumber.FindString(string(out))
}

// script runs scripts of test/testdata. Their figure is how many commands were run.
func script(names ...string) func(context.Context, *bench) outcome {
	return func(ctx context.Context, _ *bench) outcome {
		o := goTest(ctx, ".", "^TestScripts$/^("+strings.Join(names, "|")+")$", "./test")
		if o.failed || o.absent {
			return o
		}
		steps := 0
		for _, name := range names {
			text, err := os.ReadFile("test/testdata/" + name + ".txtar")
			if err != nil {
				return outcome{figure: err.Error(), failed: true}
			}
			head, _, _ := strings.Cut(string(text), "\n-- ")
			for line := range strings.Lines(head) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					steps++
				}
			}
		}
		o.figure = fmt.Sprintf("%d steps as expected", steps)
		return o
	}
}

// tests runs Go tests that use a program.
func tests(program, dir, run string, packages ...string) func(context.Context, *bench) outcome {
	return func(ctx context.Context, _ *bench) outcome {
		if _, err := exec.LookPath(program); err != nil {
			return outcome{absent: true}
		}
		return goTest(ctx, dir, run, packages...)
	}
}

var (
	passed  = regexp.MustCompile(`(?m)^\s*--- PASS: `)
	skipped = regexp.MustCompile(`(?m)^\s*--- SKIP: `)
	because = regexp.MustCompile(`(?m)^.*(_test\.go:\d+: .*|FAIL: .*)$`)
)

func goTest(ctx context.Context, dir, run string, packages ...string) outcome {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-v", "-timeout", "5m", "-run", run}, packages...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch n := len(passed.FindAll(out, -1)); {
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s\n", out)
		return outcome{failed: true, figure: strings.TrimSpace(string(because.Find(out)))}
	case len(skipped.FindAll(out, -1)) > 0:
		return outcome{absent: true}
	case n == 0:
		return outcome{failed: true, figure: "no test ran"}
	default:
		return outcome{figure: fmt.Sprintf("%d tests passed", n)}
	}
}
