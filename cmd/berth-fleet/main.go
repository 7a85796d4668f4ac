// Command berth-fleet is the NATS server of a fleet's gateway. berth serve starts it when berth.yaml has
// fleet.listen; people don't call it. It is a program of its own, because a berth that linked the NATS server would
// start each verb slower.
//
//	berth-fleet FOLDER ADDRESS
//
// FOLDER has the fleet's keys (fleet/realm). It prints "listening on ADDRESS NEAR" when clients can connect. NEAR is
// for the gateway that has started it. Each line on its standard input makes it read the keys again, after which it
// prints "read". The input's end ends it, so it never outlives its server.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/fleet/broker"
	"berth/fleet/realm"
)

func main() {
	signal.Ignore(os.Interrupt, syscall.SIGHUP) // of the terminal: they are for the server, which closes the input
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "berth-fleet: berth serve starts it, see fleet.listen in docs/configuration.md")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "berth-fleet:", err)
		os.Exit(1)
	}
}

func run(dir, address string, in io.Reader, out io.Writer) error {
	keys, err := realm.Open(realm.KeysFile(dir))
	if err != nil {
		return err
	}
	certificate, _, err := realm.Certificate(realm.CertificateFile(dir), time.Now())
	if err != nil {
		return err
	}
	b, err := broker.Start(realm.StreamDir(dir), address, certificate, keys)
	if err != nil {
		return err
	}
	defer b.Close()
	if _, err := fmt.Fprintf(out, "listening on %s %s\n", b.Addr(), b.Near()); err != nil {
		return fmt.Errorf("report the address: %w", err)
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		keys, err := realm.Open(realm.KeysFile(dir))
		if err != nil {
			return err
		}
		if err := b.Update(keys); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "read"); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return nil
}
