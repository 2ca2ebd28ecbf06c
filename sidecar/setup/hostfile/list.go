package hostfile

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"
)

// Append puts a value at the end of a list in a JSON file. A list and the objects around it that are not there are made.
func (f *File) Append(at Path, value any) error {
	return f.editList(at, func(root *hujson.Value, crlf bool) error {
		d := tree{root: root, unit: unit(root.Pack()), crlf: crlf}
		if err := d.ensure(at[:len(at)-1]); err != nil {
			return err
		}
		list := root
		for _, name := range at {
			if list = member(list, name); list == nil {
				if err := d.add(at, json.RawMessage("[]")); err != nil {
					return err
				}
				break
			}
		}
		raw, err := encode(value)
		if err != nil {
			return err
		}
		return d.add(append(slices.Clone(at), "-"), raw)
	})
}

// Drop removes the elements of a list in a JSON file that is accepts, and the list and the objects around it that are empty
// then.
func (f *File) Drop(at Path, is func(json.RawMessage) bool) error {
	return f.editList(at, func(root *hujson.Value, _ bool) error {
		list := root
		for _, name := range at {
			list = member(list, name)
		}
		if list == nil {
			return ErrNoEntry
		}
		array, ok := list.Value.(*hujson.Array)
		if !ok {
			return errors.New("it is no list")
		}
		n := len(array.Elements)
		array.Elements = slices.DeleteFunc(array.Elements, func(v hujson.Value) bool { return is(standard(v)) })
		if len(array.Elements) == n {
			return ErrNoEntry
		}
		if last := len(array.Elements) - 1; last >= 0 {
			array.Elements[last].AfterExtra = nil // no comma before the end
			return nil
		}
		for i := len(at) - 1; i >= 0; i-- {
			parent := root
			for _, name := range at[:i] {
				parent = member(parent, name)
			}
			object := parent.Value.(*hujson.Object)
			comma := trailingComma(object)
			object.Members = slices.DeleteFunc(object.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == at[i] })
			setTrailingComma(object, comma)
			if len(object.Members) > 0 {
				return nil
			}
		}
		return nil
	})
}

// editList edits a copy of a JSON file, and keeps it if everything except the list is as before.
func (f *File) editList(at Path, change func(root *hujson.Value, crlf bool) error) error {
	clone, err := f.doc.clone()
	if err != nil {
		return err
	}
	after, ok := clone.(*jsonFile)
	if !ok {
		return errors.New("it is no JSON file")
	}
	after.empty = false
	if err := change(&after.root, after.crlf); err != nil {
		return err
	}
	again, err := parse(f.syntax, after.bytes(), f.crlf)
	if err != nil {
		return err
	}
	old, err := f.doc.value()
	if err != nil {
		return err
	}
	now, err := again.value()
	if err != nil {
		return err
	}
	last := len(at) - 1
	if !reflect.DeepEqual(without(old, at[:last], at[last]), without(now, at[:last], at[last])) {
		return errors.New("it cannot be edited without a change elsewhere in the file: edit it by hand")
	}
	f.doc = again
	return nil
}
