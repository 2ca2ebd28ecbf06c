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

// sharedLogins are the logins of all workspaces with windows on the same secret storage. Each login has one renewal at a
// time, over all workspaces. A window of one workspace stores the secrets of another one's logins, and opens its login
// pages, because storage and person are the same. The front end that was used last comes first.
type sharedLogins struct {
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

// loginsFor returns the logins for a workspace with these options.
func (p *Person) loginsFor(opts Options) *sharedLogins {
	p.mu.Lock()
	defer p.mu.Unlock()
	folder := loginsFolder(opts)
	l := p.logins[folder]
	if l == nil {
		l = newSharedLogins(folder, opts.Version, opts.Log)
		if p.logins == nil {
			p.logins = map[string]*sharedLogins{}
		}
		p.logins[folder] = l
	}
	l.users++
	return l
}

// release gives shared logins back, and reports whether they are to be closed. They stay while a login is renewed, and while a
// secret is in memory only, if a window may come that keeps it. The lock must be held.
func (p *Person) release(l *sharedLogins, mayCome bool) bool {
	l.users--
	l.mayCome = l.mayCome || mayCome
	if l.users > 0 || l.mayCome && (l.auth.Renewing() != nil || l.secrets.unkept()) { // in this order: a renewal ends with a secret
		return false
	}
	delete(p.logins, l.folder)
	return true
}

func newSharedLogins(folder, version string, log zerolog.Logger) *sharedLogins {
	l := &sharedLogins{folder: folder, attached: newAttached(log)}
	l.secrets = newSecrets(l.attached, log)
	l.auth = auth.New(auth.Options{
		Client:     protocol.Implementation{Name: "assent", Version: version},
		Secrets:    l.secrets,
		Folder:     folder,
		CanOpenURL: func() bool { return l.attached.capabilities().OpenURL },
		OpenURL: func(ctx context.Context, url, reason string) (bool, error) {
			result, err := lend(ctx, l.attached, needsLoginPage, func(ctx context.Context, f *frontEnd) (*protocol.OpenURLResult, error) {
				return f.own.OpenURL(ctx, &protocol.OpenURLParams{URL: url, Reason: reason})
			})
			if err != nil {
				return false, err
			}
			return result.Opened, nil
		},
		Log: log,
	})
	return l
}

// forget signs out of every server.
func (l *sharedLogins) forget(ctx context.Context) error {
	if err := l.auth.Forget(ctx); err != nil {
		return err
	}
	l.secrets.forget(ctx)
	return nil
}

// ForgetLogins implements [protocol.Sidecar].
func (w *Workspace) ForgetLogins(ctx context.Context) (*protocol.ForgetLoginsResult, error) {
	if err := w.logins.forget(ctx); err != nil {
		return nil, err
	}
	return &protocol.ForgetLoginsResult{}, nil
}

// renewalTimeout bounds for how long front ends stay that may have to keep a login.
const renewalTimeout = 10 * time.Second

// untilRenewed returns a context that ends after ctx, when the renewals that are under way by then have ended: their windows
// keep the new refresh tokens.
func (l *sharedLogins) untilRenewed(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if renewing := l.auth.Renewing(); renewing != nil && l.attached.capabilities().Secrets {
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
func (l *sharedLogins) close() {
	l.attached.close()
	l.auth.Close()
	l.attached.lending.Wait()
}
