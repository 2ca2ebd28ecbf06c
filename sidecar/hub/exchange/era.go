package exchange

import (
	"context"
	"encoding/json"

	"assent/sidecar/wire"
	"assent/sidecar/wire/mcptask"
)

// eraDriver is the driver of the era that the server speaks when it is asked.
type eraDriver struct {
	f      *following
	legacy *legacyTask
	modern *modernTask
}

func (d *eraDriver) pick(ctx context.Context) (mcptask.Driver, error) {
	c, err := d.f.server.session.Connection(ctx, d.f.taskID)
	if err != nil {
		return nil, err
	}
	if c.IsModern() {
		return d.modern, nil
	}
	return d.legacy, nil
}

// Get implements [mcptask.Driver].
func (d *eraDriver) Get(ctx context.Context) (*mcptask.State, error) {
	driver, err := d.pick(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Get(ctx)
}

// Result implements [mcptask.Driver].
func (d *eraDriver) Result(ctx context.Context, s *mcptask.State) (json.RawMessage, error) {
	driver, err := d.pick(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Result(ctx, s)
}

// Attend implements [mcptask.Driver].
func (d *eraDriver) Attend(ctx context.Context, s *mcptask.State) {
	switch d.f.server.session.Era() {
	case wire.EraModern:
		d.modern.Attend(ctx, s)
	case wire.EraLegacy:
		d.legacy.Attend(ctx, s)
	}
}

// Cancel implements [mcptask.Driver].
func (d *eraDriver) Cancel(ctx context.Context) (*mcptask.State, error) {
	driver, err := d.pick(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Cancel(ctx)
}
