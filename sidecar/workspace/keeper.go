package workspace

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

// keeper has the logins of all workspaces with windows on the same secret storage. Each login has one renewal at a
// time, over all workspaces. A window of one workspace stores the secrets of another one's logins, and opens its login
// pages, because storage and person are the same. The front end that was used last comes first.
type keeper struct {
	folder   string
	users    int  // the person's lock guards it
	mayCome  bool // a window with the secret storage; the person's lock guards it
	attached *attached
	secrets  *secrets
	auth     *auth.Authorizer
}

// loginsFolder returns what the windows with the same secret storage have in common. The terminal does not say it. VS Code's
// data folders are in the folder "workspaces" beside it.
func loginsFolder(opts Options) string {
	beside := filepath.Join(opts.DataDir, "logins")
	if parent := filepath.Dir(opts.DataDir); filepath.Base(parent) == "workspaces" {
		beside = filepath.Join(filepath.Dir(parent), "logins")
	}
	return cmp.Or(opts.LoginsDir, beside)
}

// keeperFor returns the keeper for a workspace with these options.
func (p *Person) keeperFor(opts Options) *keeper {
	p.mu.Lock()
	defer p.mu.Unlock()
	folder := loginsFolder(opts)
	k := p.keepers[folder]
	if k == nil {
		k = newKeeper(folder, opts.Version, opts.Log)
		if p.keepers == nil {
			p.keepers = map[string]*keeper{}
		}
		p.keepers[folder] = k
	}
	k.users++
	return k
}

// release gives a keeper back, and reports whether it is to be closed. It stays while a login is renewed, and while a secret is
// in memory only, if a window may come that keeps it. The lock must be held.
func (p *Person) release(k *keeper, mayCome bool) bool {
	k.users--
	k.mayCome = k.mayCome || mayCome
	if k.users > 0 || k.mayCome && (k.auth.Renewing() != nil || k.secrets.unkept()) { // in this order: a renewal ends with a secret
		return false
	}
	delete(p.keepers, k.folder)
	return true
}

func newKeeper(folder, version string, log zerolog.Logger) *keeper {
	k := &keeper{folder: folder, attached: newAttached(log)}
	k.secrets = newSecrets(k.attached, log)
	k.auth = auth.New(auth.Options{
		Client:     protocol.Implementation{Name: "assent", Version: version},
		Secrets:    k.secrets,
		Folder:     folder,
		CanOpenURL: func() bool { return k.attached.capabilities().OpenURL },
		OpenURL: func(ctx context.Context, url, reason string) (bool, error) {
			result, err := lend(ctx, k.attached, needsLoginPage, func(ctx context.Context, f *frontEnd) (*protocol.OpenURLResult, error) {
				return f.own.OpenURL(ctx, &protocol.OpenURLParams{URL: url, Reason: reason})
			})
			if err != nil {
				return false, err
			}
			return result.Opened, nil
		},
		Log: log,
	})
	return k
}

// forget signs out of every server.
func (k *keeper) forget(ctx context.Context) error {
	if err := k.auth.Forget(ctx); err != nil {
		return err
	}
	k.secrets.forget(ctx)
	return nil
}

// ForgetLogins implements [protocol.Sidecar].
func (w *Workspace) ForgetLogins(ctx context.Context) (*protocol.ForgetLoginsResult, error) {
	if err := w.keeper.forget(ctx); err != nil {
		return nil, err
	}
	return &protocol.ForgetLoginsResult{}, nil
}

// renewalTimeout bounds for how long front ends stay that may have to keep a login.
const renewalTimeout = 10 * time.Second

// untilRenewed returns a context that ends after ctx, when the renewals that are under way by then have ended: their windows
// keep the new refresh tokens.
func (k *keeper) untilRenewed(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if renewing := k.auth.Renewing(); renewing != nil && k.attached.capabilities().Secrets {
			select {
			case <-renewing:
			case <-time.After(renewalTimeout):
			case <-longer.Done():
			}
		}
		cancel(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// close ends the logins that are under way.
func (k *keeper) close() {
	k.attached.close()
	k.auth.Close()
	k.attached.lending.Wait()
}
