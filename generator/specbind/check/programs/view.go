// The Go module's view: unsafe.Sizeof, unsafe.Alignof and unsafe.Offsetof.
package main

import (
	"fmt"

	"llamaspeculative/raw"
)

func main() {
	for _, s := range raw.Structs {
		fmt.Println("struct", s.Name, s.Size, s.Align)
		for _, f := range s.Fields {
			fmt.Println("field", s.Name, f.Name, f.Offset, f.Size)
		}
	}
	for _, c := range raw.Constants {
		owner := c.Owner
		if owner == "" {
			owner = "-"
		}
		fmt.Println("constant", owner, c.Name, c.Value)
	}
	for _, f := range raw.Functions {
		fmt.Printf("function %s %x\n", f.Name, f.Hash)
	}
}
