package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: status N")
	}
	if want := args[0]; strconv.Itoa(s.status) != want {
		ts.Fatalf("status is %d, want %s\nstdout: %s\nstderr: %s", s.status, want, s.stdout, s.stderr)
	}
}

// checkFails checks a failure against the contract: an error object as the last line
// of standard output, "berth: message" on standard error, the code's status.
func checkFails(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fails CODE STATUS")
	}
	checkStatus(ts, false, args[1:])
	lines := strings.Split(strings.TrimSuffix(s.stdout, "\n"), "\n")
	var last struct {
		Error *struct {
			Code    string
			Message string
			Details *json.RawMessage
		}
	}
	line := []byte(lines[len(lines)-1])
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&last); err != nil || last.Error == nil {
		ts.Fatalf("the last line isn't an error object: %q (%v)", line, err)
	}
	if last.Error.Code != args[0] {
		ts.Fatalf("the code is %s, want %s: %s", last.Error.Code, args[0], last.Error.Message)
	}
	if !bytes.Contains(line, []byte(`"details":`)) {
		ts.Fatalf("the error has no details field: %s", line)
	}
	if want := "berth: " + last.Error.Message; !strings.Contains(strings.ReplaceAll(s.stderr, "\r\n", "\n"), want+"\n") {
		ts.Fatalf("standard error does not say %q: %q", want, s.stderr)
	}
}

// document is the line of the last output that a check is about.
func (s *stage) document(ts *testscript.TestScript, args []string) (any, []string) {
	lines := strings.Split(strings.TrimSuffix(s.stdout, "\n"), "\n")
	line := lines[len(lines)-1]
	if len(args) > 1 && args[0] == "-line" {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		if n < 1 || n > len(lines) {
			ts.Fatalf("there is no line %d", n)
		}
		line, args = lines[n-1], args[2:]
	}
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		ts.Fatalf("not JSON: %q: %v", line, err)
	}
	return v, args
}

// field follows a path such as 0.writer.identity; a dot alone is all of it.
func field(v any, path string) (any, error) {
	for _, step := range strings.Split(strings.Trim(path, "."), ".") {
		switch at := v.(type) {
		case map[string]any:
			if step == "" {
				return v, nil
			}
			next, ok := at[step]
			if !ok {
				return nil, fmt.Errorf("%s: there is no field %s", path, step)
			}
			v = next
		case []any:
			if step == "" {
				return v, nil
			}
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(at) {
				return nil, fmt.Errorf("%s: there is no element %s of %d", path, step, len(at))
			}
			v = at[n]
		default:
			return nil, fmt.Errorf("%s: %v has no field %s", path, v, step)
		}
	}
	return v, nil
}

// plain is a value as scripts write it: a string without quotes, any other value as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	v, args := stageOf(ts).document(ts, args)
	if len(args) != 2 {
		ts.Fatalf("usage: json [-line N] PATH VALUE")
	}
	got, err := field(v, args[0])
	if err != nil {
		ts.Fatalf("%v in %s", err, plain(v))
	}
	want := args[1]
	var same bool
	switch {
	case strings.HasPrefix(want, "~"):
		re, err := regexp.Compile(want[1:])
		ts.Check(err)
		same = re.MatchString(plain(got))
	case strings.HasPrefix(want, "len="):
		list, ok := got.([]any)
		same = ok && strconv.Itoa(len(list)) == strings.TrimPrefix(want, "len=")
	default:
		same = plain(got) == want
	}
	if same == neg {
		ts.Fatalf("%s is %s, want %s", args[0], plain(got), want)
	}
}

var timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return "int"
		}
		return "number"
	case string:
		if timeForm.MatchString(v) {
			return "time"
		}
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// checkShape checks that an object has exactly these fields, of these types: null, bool, int, string,
// time, array, object. A bar separates several types.
func checkShape(ts *testscript.TestScript, neg bool, args []string) {
	v, args := stageOf(ts).document(ts, args)
	if neg || len(args) < 2 {
		ts.Fatalf("usage: shape [-line N] PATH FIELD=TYPE...")
	}
	got, err := field(v, args[0])
	ts.Check(err)
	object, ok := got.(map[string]any)
	if !ok {
		ts.Fatalf("%s isn't an object: %s", args[0], plain(got))
	}
	left := map[string]bool{}
	for name := range object {
		left[name] = true
	}
	for _, want := range args[1:] {
		name, types, _ := strings.Cut(want, "=")
		value, there := object[name]
		if !there {
			ts.Fatalf("%s has no field %s: %s", args[0], name, plain(got))
		}
		delete(left, name)
		if is := typeOf(value); !slices.Contains(strings.Split(types, "|"), is) {
			ts.Fatalf("%s.%s is %s (%s), want %s", args[0], name, is, plain(value), types)
		}
	}
	if len(left) > 0 {
		ts.Fatalf("%s has unexpected fields: %v", args[0], left)
	}
}

func save(ts *testscript.TestScript, neg bool, args []string) {
	v, args := stageOf(ts).document(ts, args)
	if neg || len(args) != 2 {
		ts.Fatalf("usage: save VAR PATH")
	}
	got, err := field(v, args[1])
	ts.Check(err)
	ts.Setenv(args[0], plain(got))
}

func decode(ts *testscript.TestScript, neg bool, args []string) {
	v, args := stageOf(ts).document(ts, args)
	if neg || len(args) != 2 {
		ts.Fatalf("usage: decode PATH FILE")
	}
	got, err := field(v, args[0])
	ts.Check(err)
	data, err := base64.StdEncoding.DecodeString(plain(got))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// snapshot writes what a refused call must not change: the rows of ls, and the whole event log. The log
// may still grow, so it is read until it is the same twice.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot FILE")
	}
	rows, err := s.ssh("admin", "ls").Output()
	ts.Check(err)
	events, err := s.eventLog()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(rows, events...), 0o600))
}

func (s *stage) eventLog() ([]byte, error) {
	var files []string
	err := filepath.WalkDir(filepath.Join(s.state, "events"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	sort.Strings(files)
	var all []byte
	for _, f := range files {
		data, readErr := os.ReadFile(f)
		err = errors.Join(err, readErr)
		all = append(all, data...)
	}
	return all, err
}

// waitFor polls until a condition holds:
//
//	waitfor text SESSION REGEXP   a line of the screen
//	waitfor state SESSION STATE
//	waitfor file FILE [REGEXP]    the file exists, with a matching line
//	waitfor lines FILE N          the file has N lines
//	waitfor event SESSION REGEXP  a past event of the session matches
//	waitfor gone PID              the process has ended
//	waitfor master KEY SOCKET     ssh -M listens on the socket
//	waitfor as KEY                the key can log in
//	waitfor out KEY               the key can't log in
//	waitfor denied KEY VERB...    the key may not use the verb
//	waitfor json VERB PATH VALUE  the verb's output has the value
//	waitfor detached SESSION      no client is attached
//	waitfor printed REGEXP        the server's standard output matches; checks then use it
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) < 2 && (len(args) < 1 || args[0] != "file") {
		ts.Fatalf("usage: waitfor text|state|file|lines|gone|printed ...")
	}
	switch what, args := args[0], args[1:]; what {
	case "text":
		s.waitVerb(ts, "wait", args[0], "--text", args[1])
	case "state":
		s.waitVerb(ts, "wait", args[0], "--until", args[1])
	case "file":
		if len(args) == 1 {
			poll(ts, func() (bool, string) { _, err := os.Stat(ts.MkAbs(args[0])); return err == nil, fmt.Sprint(err) })
			return
		}
		pattern := regexp.MustCompile("(?m)" + args[1])
		poll(ts, func() (bool, string) {
			data, err := os.ReadFile(ts.MkAbs(args[0]))
			return err == nil && pattern.Match(data), fmt.Sprintf("%s: %v %s", args[0], err, data)
		})
	case "lines":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		poll(ts, func() (bool, string) {
			data, err := os.ReadFile(ts.MkAbs(args[0]))
			return err == nil && bytes.Count(data, []byte("\n")) >= n, fmt.Sprintf("%s: %v %s", args[0], err, data)
		})
	case "event":
		pattern := regexp.MustCompile("(?m)" + args[1])
		poll(ts, func() (bool, string) {
			out, err := s.ssh("admin", "watch", args[0], "--since", args[0]+":0", "--past").CombinedOutput()
			return err == nil && pattern.Match(out), string(out)
		})
	case "gone":
		pid, err := strconv.Atoi(args[0])
		ts.Check(err)
		poll(ts, func() (bool, string) {
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), fmt.Sprintf("process %d is there", pid)
		})
	case "master": // the socket's file exists before ssh listens
		poll(ts, func() (bool, string) {
			out, err := s.ssh(args[0], "-S", ts.MkAbs(args[1]), "-O", "check").CombinedOutput()
			return err == nil, string(out)
		})
	case "as":
		poll(ts, func() (bool, string) {
			out, err := s.ssh(args[0], "version").CombinedOutput()
			return err == nil, string(out)
		})
	case "out":
		poll(ts, func() (bool, string) {
			out, err := s.ssh(args[0], "version").CombinedOutput()
			return exitStatus(err) == 255, string(out)
		})
	case "denied":
		poll(ts, func() (bool, string) {
			out, err := s.ssh(args[0], args[1:]...).CombinedOutput()
			return exitStatus(err) == 4, string(out)
		})
	case "json":
		poll(ts, func() (bool, string) {
			out, err := s.ssh("admin", args[0]).Output()
			var v any
			if err != nil || json.Unmarshal(out, &v) != nil {
				return false, string(out)
			}
			got, err := field(v, args[1])
			return err == nil && plain(got) == args[2], string(out)
		})
	case "detached":
		poll(ts, func() (bool, string) {
			out, err := s.ssh("admin", "who", args[0]).Output()
			return err == nil && strings.TrimSpace(string(out)) == "[]", string(out)
		})
	case "printed":
		pattern := regexp.MustCompile("(?m)" + args[0])
		poll(ts, func() (bool, string) { return pattern.MatchString(s.server.printed()), s.server.printed() })
		s.finished(ts, s.server.printed(), "", 0)
	default:
		ts.Fatalf("waitfor does not know %s", what)
	}
}

// waitVerb runs the verb wait over the local socket, which needs none of the script's keys.
func (s *stage) waitVerb(ts *testscript.TestScript, words ...string) {
	call := func(words ...string) ([]byte, error) {
		cmd := exec.Command(berth, words...)
		cmd.Env = s.environ()
		return cmd.CombinedOutput()
	}
	if out, err := call(append(words, "--timeout", strconv.Itoa(patienceSeconds)+"s")...); err != nil {
		screen, _ := call("screen", words[1], "--text")
		ts.Fatalf("%s: %v\n%s\nthe screen:\n%s", strings.Join(words, " "), err, out, strings.TrimRight(string(screen), "\n"))
	}
}

func poll(ts *testscript.TestScript, is func() (bool, string)) {
	deadline := time.Now().Add(patienceSeconds * time.Second)
	for {
		done, shown := is()
		if done {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited in vain; the last look showed: %s", shown)
		}
		time.Sleep(10 * time.Millisecond) // poll a real condition
	}
}

// checkTunnel connects to a socket that ssh forwards, and checks that it closes without a byte.
func checkTunnel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tunnel SOCKET")
	}
	var conn net.Conn
	poll(ts, func() (bool, string) { // the file exists before ssh listens
		var err error
		conn, err = net.Dial("unix", args[0])
		return err == nil, fmt.Sprint(err)
	})
	defer conn.Close()
	ts.Check(conn.SetDeadline(time.Now().Add(patienceSeconds * time.Second)))
	if data, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) || len(data) > 0 {
		ts.Fatalf("the tunnel carried %q, %v", data, err)
	}
}
