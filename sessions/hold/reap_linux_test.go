package hold

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// TestHoldersTakeNoThreads: a server has a thread for none of its sessions.
func TestHoldersTakeNoThreads(t *testing.T) {
	threads := func() int {
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	const sessions = 40
	before := threads()
	var pids []int
	for range sessions {
		l := start(t, testSpec(t, "sleep", "60"))
		pids = append(pids, l.Welcome().HolderPID)
	}
	if after := threads(); after-before >= sessions/2 {
		t.Errorf("%d threads, and %d with %d sessions", before, after, sessions)
	}
	for _, pid := range pids[:3] {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a holder that was killed is reaped", func() bool {
			_, err := os.Stat("/proc/" + strconv.Itoa(pid))
			return os.IsNotExist(err)
		})
	}
}
