// Package faults holds tests that break things under a running Berth: killed
// servers and holders, full disks, torn files, clients that stop, floods. They
// drive the real binary through the real ssh client and tmux, on Linux, where
// what the system knows of processes and memory can be read in /proc.
package faults
