package sshd

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Sizes and numbers of linux/sock_diag.h and linux/inet_diag.h.
const (
	sockDiagByFamily = 20
	diagRequestSize  = 56 // inet_diag_req_v2
	diagAnswerSize   = 72 // inet_diag_msg
	tcpListen        = 10
)

// askKernel asks for exactly one TCP socket by netlink: /proc/net/tcp may have
// a hundred thousand lines. It is nil when the kernel says there is none.
func askKernel(local, remote netip.AddrPort) (*socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, diagRequest(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	// The kernel answers before sendto returns.
	var buf [4096]byte
	n, _, err := unix.Recvfrom(fd, buf[:], unix.MSG_DONTWAIT)
	if err != nil {
		return nil, os.NewSyscallError("recvfrom", err)
	}
	return parseDiagAnswer(buf[:n], local, remote)
}

func diagRequest(local, remote netip.AddrPort) []byte {
	b := make([]byte, unix.NLMSG_HDRLEN+diagRequestSize)
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	r := b[unix.NLMSG_HDRLEN:]
	r[0] = unix.AF_INET6
	if local.Addr().Is4() {
		r[0] = unix.AF_INET
	}
	r[1] = unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(r[4:], ^uint32(0)) // in any state: half closed is a client still
	id := r[8:]                                      // inet_diag_sockid
	binary.BigEndian.PutUint16(id[0:], local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:20], local.Addr().AsSlice())
	copy(id[20:36], remote.Addr().AsSlice())
	binary.NativeEndian.PutUint64(id[40:], ^uint64(0)) // any cookie
	return b
}

func parseDiagAnswer(b []byte, local, remote netip.AddrPort) (*socket, error) {
	if len(b) < unix.NLMSG_HDRLEN+4 {
		return nil, errors.New("netlink answer is short")
	}
	kind := binary.NativeEndian.Uint16(b[4:])
	m := b[unix.NLMSG_HDRLEN:]
	if kind == unix.NLMSG_ERROR {
		errno := unix.Errno(-int32(binary.NativeEndian.Uint32(m)))
		if errno == unix.ENOENT {
			return nil, nil
		}
		return nil, os.NewSyscallError("sock_diag", errno)
	}
	if kind != sockDiagByFamily || len(m) < diagAnswerSize {
		return nil, fmt.Errorf("netlink answer of type %d, %d bytes", kind, len(m))
	}
	// The kernel falls back to a listener on the same port.
	if m[1] == tcpListen || binary.BigEndian.Uint16(m[4:]) != local.Port() || binary.BigEndian.Uint16(m[6:]) != remote.Port() {
		return nil, nil
	}
	return &socket{uid: binary.NativeEndian.Uint32(m[64:]), inode: binary.NativeEndian.Uint32(m[68:])}, nil
}

// parseHexAddr reads an address as /proc/net/tcp writes it: 32-bit words in
// the machine's byte order. It is zero for anything else.
func parseHexAddr(s string) netip.AddrPort {
	host, port, ok := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	p, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil {
		return netip.AddrPort{}
	}
	for w := 0; w+4 <= len(b); w += 4 {
		binary.NativeEndian.PutUint32(b[w:], binary.BigEndian.Uint32(b[w:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(p))
}
