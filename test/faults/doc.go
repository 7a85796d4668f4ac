// Package faults tests a running Berth under faults: killed servers and holders, full disks, torn files,
// stopped clients, floods of output. The tests drive the real binary through the real ssh client and
// tmux. They run on Linux, because they read processes and memory from /proc.
package faults
