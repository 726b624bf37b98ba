// Command go-verifier checks a checkpoint, inclusion proofs and a consistency proof with the Go project's own
// golang.org/x/mod/sumdb packages. It reads one JSON document and prints "ok", or the reason on standard error.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type inclusion struct {
	Index int64    `json:"index"`
	Entry []byte   `json:"entry"`
	Proof [][]byte `json:"proof"`
}

type input struct {
	VKey        string      `json:"vkey"`
	Old         string      `json:"old"`
	New         string      `json:"new"`
	Consistency [][]byte    `json:"consistency"`
	Inclusions  []inclusion `json:"inclusions"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	oldSize, oldRoot, err := open(in.Old, in.VKey)
	if err != nil {
		return fmt.Errorf("old checkpoint: %w", err)
	}
	newSize, newRoot, err := open(in.New, in.VKey)
	if err != nil {
		return fmt.Errorf("new checkpoint: %w", err)
	}
	if err := tlog.CheckTree(hashes(in.Consistency), newSize, newRoot, oldSize, oldRoot); err != nil {
		return fmt.Errorf("consistency: %w", err)
	}
	for _, each := range in.Inclusions {
		leaf := tlog.RecordHash(each.Entry)
		if err := tlog.CheckRecord(hashes(each.Proof), newSize, newRoot, each.Index, leaf); err != nil {
			return fmt.Errorf("inclusion of %d: %w", each.Index, err)
		}
	}
	return nil
}

func open(text, vkey string) (int64, tlog.Hash, error) {
	var size int64
	var root tlog.Hash
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return 0, root, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return 0, root, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return 0, root, fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	if _, err := fmt.Sscanf(lines[1], "%d", &size); err != nil {
		return 0, root, err
	}
	decoded, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil {
		return 0, root, err
	}
	copy(root[:], decoded)
	return size, root, nil
}

func hashes(list [][]byte) []tlog.Hash {
	out := make([]tlog.Hash, len(list))
	for i, each := range list {
		copy(out[i][:], each)
	}
	return out
}
