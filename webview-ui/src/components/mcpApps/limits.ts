/** How long an app may take to say that it is there, in milliseconds. */
export const waitLimitMs = 10_000;
