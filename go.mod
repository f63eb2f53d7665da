module github.com/turnwise/turnwise

go 1.26
