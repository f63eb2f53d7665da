package server

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

// files holds the page: plain HTML, CSS and ES modules.
//
//go:embed page
var files embed.FS

// pagePolicy lets the page use what this server serves and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a file of the page with its headers.
type asset struct {
	body      []byte
	mediaType string
	tag       string
}

// loadPage reads the page's files. The index is under "".
func loadPage() (map[string]asset, error) {
	assets := map[string]asset{}
	entries, err := fs.ReadDir(files, "page")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		body, err := files.ReadFile(path.Join("page", e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		name := e.Name()
		a := asset{body: body, mediaType: mediaType(name), tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		if name == "index.html" {
			name = ""
		}
		assets[name] = a
	}
	return assets, nil
}

// mediaType is a file's type. The system's table is not asked: reading it takes
// longer than everything else here.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

// serveAsset answers with a file of the page.
func serveAsset(w http.ResponseWriter, r *http.Request, a asset) {
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	h.Set("ETag", a.tag)
	h.Set("Cache-Control", "no-cache") // asks each time, gets 304
	h.Set("Content-Security-Policy", pagePolicy)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(a.body) // the client's loss
}
