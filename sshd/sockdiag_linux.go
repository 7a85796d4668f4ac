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

// listKernel asks the kernel for its TCP sockets with these ports, and looks for the one with these
// addresses. It finds sockets bound to a device too; the kernel omits them when it is asked for
// exactly one. A second socket, not bound to a device, can have the same addresses, and then the
// client can't be identified.
func listKernel(local, remote netip.AddrPort) (*socket, error) {
	var found *socket
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} { // IPv6's can have IPv4 addresses
		request := diagRequest(local, remote)
		binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
		request[unix.NLMSG_HDRLEN] = family
		err := netlink(unix.NETLINK_SOCK_DIAG, request, func(m []byte) error {
			sock, err := parseDiagAnswer(m, local, remote)
			if err != nil || sock == nil {
				return err
			}
			m = m[unix.NLMSG_HDRLEN:]
			length := 16
			if m[0] == unix.AF_INET {
				length = 4
			}
			from, _ := netip.AddrFromSlice(m[8 : 8+length])
			to, _ := netip.AddrFromSlice(m[24 : 24+length])
			if from.Unmap() == local.Addr() && to.Unmap() == remote.Addr() {
				found, err = onlyOne(found, sock)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// netlink sends a request and calls each for every message of the answer.
func netlink(protocol int, request []byte, each func(message []byte) error) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	// The kernel answers before sendto returns, and continues as the answer is read.
	buf := make([]byte, 1<<15)
	for {
		n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		more := false
		for b := buf[:n]; len(b) >= unix.NLMSG_HDRLEN; {
			length := int(binary.NativeEndian.Uint32(b))
			if length < unix.NLMSG_HDRLEN || length > len(b) {
				return errors.New("netlink answer is cut off")
			}
			if binary.NativeEndian.Uint16(b[4:]) == unix.NLMSG_DONE {
				return nil
			}
			if err := each(b[:length]); err != nil {
				return err
			}
			more = binary.NativeEndian.Uint16(b[6:])&unix.NLM_F_MULTI != 0
			b = b[min(len(b), (length+3)&^3):]
		}
		if !more {
			return nil
		}
	}
}

// routedHere says whether the kernel treats packets to an address as its own: addresses of interfaces,
// of local routes, and anycast addresses.
func routedHere(a netip.Addr) (bool, error) {
	family, length := byte(unix.AF_INET6), 16
	if a.Is4() {
		family, length = unix.AF_INET, 4
	}
	b := make([]byte, unix.NLMSG_HDRLEN+unix.SizeofRtMsg+unix.SizeofRtAttr+length)
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], unix.RTM_GETROUTE)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	b[unix.NLMSG_HDRLEN] = family
	b[unix.NLMSG_HDRLEN+1] = byte(length * 8)
	attr := b[unix.NLMSG_HDRLEN+unix.SizeofRtMsg:]
	binary.NativeEndian.PutUint16(attr[0:], uint16(unix.SizeofRtAttr+length))
	binary.NativeEndian.PutUint16(attr[2:], unix.RTA_DST)
	copy(attr[unix.SizeofRtAttr:], a.AsSlice())
	here := false
	err := netlink(unix.NETLINK_ROUTE, b, func(m []byte) error {
		kind, m := binary.NativeEndian.Uint16(m[4:]), m[unix.NLMSG_HDRLEN:]
		switch {
		case kind == unix.NLMSG_ERROR && len(m) >= 4:
			return os.NewSyscallError("getroute", unix.Errno(-int32(binary.NativeEndian.Uint32(m))))
		case kind == unix.RTM_NEWROUTE && len(m) >= unix.SizeofRtMsg:
			here = m[7] == unix.RTN_LOCAL || m[7] == unix.RTN_ANYCAST // rtm_type
		}
		return nil
	})
	if errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH) {
		return false, nil
	}
	return here, err
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

// parseHexAddr reads an address as /proc/net/tcp writes it: 32-bit words in the machine's byte order.
// The result is zero for anything else.
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
