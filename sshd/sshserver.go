package sshd

import (
	"net"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// newSSHServer makes the one ssh.Server, which takes all connections apart. It listens to nothing:
// what accepts, limits and ends connections is ours. What it calls back finds out whose connection it
// is by the connection's context.
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
		// It gets neither the context nor the connection that was handed in, but a net.Conn around that.
		ConnectionFailedCallback: func(conn net.Conn, err error) { conn.LocalAddr().(address).connection.failed = err },
	}
	for _, key := range hostKeys {
		server.HostSigners = append(server.HostSigners, key)
	}
	return server
}

type connectionKey struct{}

func connectionOf(ctx ssh.Context) *connection { return ctx.Value(connectionKey{}).(*connection) }

// accepted is a connection as it is handed to the ssh.Server.
type accepted struct {
	*wire
	connection *connection
}

// LocalAddr names the connection too, for the callback that can ask for no more than this.
func (a accepted) LocalAddr() net.Addr { return address{a.wire.LocalAddr(), a.connection} }

// address is the server's end of a connection.
type address struct {
	net.Addr
	connection *connection
}
