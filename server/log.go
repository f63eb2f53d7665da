package server

import (
	"log"
	"log/slog"
)

// quietLog takes what net/http has to say, mostly about clients that break off.
func quietLog(l *slog.Logger) *log.Logger {
	return slog.NewLogLogger(l.Handler(), slog.LevelDebug)
}
