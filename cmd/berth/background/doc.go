// Package background runs berth serve in the background: as a systemd unit of the user where systemd
// manages the user's services, else as a detached process. It also writes the ssh_config of a server,
// so that its user types `ssh berth`.
package background
