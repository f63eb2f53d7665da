//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// ownGroup has the process, and what it starts, die together.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
