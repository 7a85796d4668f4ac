// Command sbom prints the software bill of materials of a Go program: the modules that the Go toolchain
// recorded in it, as CycloneDX JSON.
//
//	sbom PROGRAM NAME VERSION COMMITTED
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM NAME VERSION COMMITTED")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(program, name, version, committed string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read what %s is made of: %w", program, err)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: committed,
		Component: &cdx.Component{
			BOMRef: name, Type: cdx.ComponentTypeApplication, Name: name, Version: version,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
		},
	}
	components := []cdx.Component{{
		BOMRef: "go", Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + info.GoVersion[len("go"):],
	}}
	uses := []string{"go"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cdx.Component{
			BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url,
			Properties: &[]cdx.Property{{Name: "go:sum", Value: m.Sum}},
		})
		uses = append(uses, url)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: name, Dependencies: &uses}}
	out := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON)
	out.SetPretty(true)
	return out.Encode(bom)
}
