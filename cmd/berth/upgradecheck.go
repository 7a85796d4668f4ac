package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"berth/api"
	"berth/config"
	"berth/doctor"
)

func upgradeCheckCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "upgrade-check", Short: "say what this release would do to the running sessions, before it is started", Args: cobra.NoArgs,
		Long: "Run the new release's berth with upgrade-check as the server's user while the old server runs. It reads the state\n" +
			"folder and changes nothing. The exit status is 0 if the new server takes up every session, and 1 if it doesn't.",
	}
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(config.Source{Path: file, Environ: os.Environ(), Flags: given()})
		if err != nil {
			return err
		}
		version, err := config.ReadStateVersion(c.StateDir)
		if err != nil {
			return err
		}
		fmt.Printf("berth %s: the state folder %s has version %d, and this release writes version %d.\n", api.ThisBuild().Version, c.StateDir, version, config.StateVersion)
		running, err := doctor.Holders(cmd.Context(), c.StateDir)
		if err != nil {
			return fmt.Errorf("%w; run this as the server's user", err)
		}
		taken, left := 0, 0
		for _, h := range running {
			if h.Err == nil {
				taken++
				continue
			}
			left++
			fmt.Printf("session %s (pid %d) can't be taken up: %v\n", h.Session, h.PID, h.Err)
		}
		fmt.Printf("Running sessions that this release takes up: %d; that it can't: %d.\n", taken, left)
		if left > 0 {
			fmt.Println("End those before the upgrade with: berth kill ID. Else they run on, and no server reaches them.")
			return exitStatus(1)
		}
		return nil
	}
	return cmd
}
