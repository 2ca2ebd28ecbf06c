package main

import (
	"fmt"

	"assent/protocol"
)

// pages measures the opening of a task, its newest page, in tasks of different lengths.
func (b *bench) pages() ([]row, error) {
	dir, err := b.histories()
	if err != nil {
		return nil, err
	}
	const short, long, page, times = 100, 100_000, 100, 20
	var figures comparison
	for range b.rounds {
		err := b.withSidecar(dir, nil, func(f *frontEnd) error {
			var took [2]sample
			for range times {
				for i, n := range []int{long, short} {
					var opened protocol.OpenTaskResult
					us, err := f.timed("task/open", protocol.OpenTaskParams{TaskID: historyTask(n), Limit: page}, &opened)
					if err != nil {
						return err
					}
					if len(opened.Messages) != page {
						return fmt.Errorf("the page has %d messages", len(opened.Messages))
					}
					took[i] = append(took[i], us)
				}
			}
			figures.add(took[0].median(), took[1].median())
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
	}
	return []row{{
		what: fmt.Sprintf("opening the newest %d of %d messages", page, long), unit: "us",
		figure: figures.figure, reference: figures.reference, referenceIs: fmt.Sprintf("of %d messages", short),
	}}, nil
}
