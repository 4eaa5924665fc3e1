package redial

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

func isPart(file fs.FileInfo) bool { return !strings.HasSuffix(file.Name(), "_test.go") }

// Each public name has a comment that begins with it.
func TestPublicNamesHaveComments(t *testing.T) {
	count := 0
	check := func(name, text string) {
		count++
		if len(text) <= len(name) || text[:len(name)] != name {
			t.Errorf("the comment of %s does not begin with it: %q", name, text)
		}
	}
	for _, folder := range []string{".", "problems"} {
		packages, err := parser.ParseDir(token.NewFileSet(), folder, isPart, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range packages {
			found := doc.New(one, folder, 0)
			if found.Doc == "" {
				t.Errorf("%s has no comment", folder)
			}
			for _, group := range append(found.Consts, found.Vars...) {
				check(group.Names[0], group.Doc)
			}
			functions := found.Funcs
			for _, kind := range found.Types {
				check(kind.Name, kind.Doc)
				functions = append(functions, append(kind.Funcs, kind.Methods...)...)
				for _, group := range kind.Consts {
					if ast.IsExported(group.Names[0]) && group.Doc == "" {
						t.Errorf("the constants of %s have no comment", kind.Name)
					}
				}
			}
			for _, function := range functions {
				// Every error has it, and so has what its documentation would say.
				if function.Name != "Error" {
					check(function.Name, function.Doc)
				}
			}
		}
	}
	if count < 400 {
		t.Errorf("only %d names were found", count)
	}
}
