package sshd

import (
	"net"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// newSSHServer makes the one ssh.Server, which demultiplexes all connections. It doesn't listen:
// accepting, limiting and ending connections is our code. Its callbacks find the connection in the
// context.
func newSSHServer(handler ssh.Handler, hostKeys []gossh.Signer, loginGrace time.Duration) *ssh.Server {
	server := &ssh.Server{
		Handler:          handler,
		HandshakeTimeout: loginGrace,
		ConnCallback: func(ctx ssh.Context, conn net.Conn) net.Conn {
			ctx.SetValue(connectionKey{}, conn.(accepted).connection)
			return conn
		},
		ServerConfigCallback: func(ctx ssh.Context) *gossh.ServerConfig { return connectionOf(ctx).config() },
		ChannelHandlers: map[string]ssh.ChannelHandler{
			"session": func(_ *ssh.Server, conn *gossh.ServerConn, offered gossh.NewChannel, ctx ssh.Context) {
				connectionOf(ctx).openSession(conn, offered, ctx)
			},
			"direct-tcpip": func(_ *ssh.Server, conn *gossh.ServerConn, offered gossh.NewChannel, ctx ssh.Context) {
				connectionOf(ctx).openDirect(conn, offered)
			},
			"default": func(_ *ssh.Server, _ *gossh.ServerConn, offered gossh.NewChannel, ctx ssh.Context) {
				connectionOf(ctx).refuseChannel(offered)
			},
		},
		RequestHandlers: map[string]ssh.RequestHandler{
			"default": func(ctx ssh.Context, _ *ssh.Server, r *gossh.Request) (bool, []byte) {
				connectionOf(ctx).globalRequest(ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn), r)
				return false, nil
			},
		},
		// The callback gets neither the context nor the net.Conn that was passed in, but a wrapper around it.
		ConnectionFailedCallback: func(conn net.Conn, err error) { conn.LocalAddr().(address).connection.failed = err },
	}
	for _, key := range hostKeys {
		server.HostSigners = append(server.HostSigners, key)
	}
	return server
}

type connectionKey struct{}

func connectionOf(ctx ssh.Context) *connection { return ctx.Value(connectionKey{}).(*connection) }

// accepted is a connection in the form that the ssh.Server gets.
type accepted struct {
	*wire
	connection *connection
}

// LocalAddr also identifies the connection, for the callback that can call nothing else.
func (a accepted) LocalAddr() net.Addr { return address{a.wire.LocalAddr(), a.connection} }

// address is the server's end of a connection.
type address struct {
	net.Addr
	connection *connection
}
