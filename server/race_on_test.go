//go:build race

package server_test

// flood is smaller where every memory access is checked.
const flood = 1500
