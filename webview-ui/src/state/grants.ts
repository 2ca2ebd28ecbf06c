import type { Grant } from "@assent/protocol";

/** Every grant that the person made. */
export interface Grants {
  /** The newest first; absent until they were listed. */
  readonly entries: readonly Grant[] | undefined;
  /** What was said while the list was being read, which knows less; absent while it is not. */
  readonly news: readonly Grant[] | undefined;
  /** Why the list could not be read the last time. */
  readonly failure: string | undefined;
}

export const noGrants: Grants = { entries: undefined, news: undefined, failure: undefined };

/** Takes what is said of one grant. */
export function takeGrant(known: Grants, grant: Grant): Grants {
  return {
    ...known,
    entries: withGrant(known.entries ?? [], grant),
    news: known.news && [...known.news, grant],
  };
}

/** Takes the list, and what was said while it was on its way. */
export function takeGrants({ news = [] }: Grants, listed: readonly Grant[]): Grants {
  return { ...noGrants, entries: news.reduce(withGrant, listed) };
}

function withGrant(grants: readonly Grant[], grant: Grant): readonly Grant[] {
  const index = grants.findIndex(({ id }) => id === grant.id);
  return index < 0 ? [grant, ...grants] : grants.with(index, grant);
}
