//go:build !linux

package sshd

func testProcess(string) int { return 99 }
