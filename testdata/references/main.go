// Reads the references of table.tsv, or of any list, with the library that kubelet and containerd read
// them with, and says of each what it is.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/distribution/reference"
	// The algorithms that containerd knows: go-digest refuses what is not linked in.
	_ "crypto/sha256"
	_ "crypto/sha512"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "\t")
		if strings.HasPrefix(text, "#") {
			fmt.Println(text)
			continue
		}
		fmt.Println(text + "\t" + read(text))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read gives registry, path, tag and digest, `-` for what there is none of, or why it is no reference.
func read(text string) string {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return "refused: " + strings.ReplaceAll(err.Error(), text, "…")
	}
	tag, digest := "-", "-"
	if tagged, ok := reference.TagNameOnly(named).(reference.Tagged); ok {
		tag = tagged.Tag()
	}
	if digested, ok := named.(reference.Digested); ok {
		digest = digested.Digest().String()
	}
	registry := reference.Domain(named)
	if registry == "" {
		registry = "-"
	}
	return strings.Join([]string{registry, reference.Path(named), tag, digest}, "\t")
}
