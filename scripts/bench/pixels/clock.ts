/** The moment on the clock that all processes of this machine share, in milliseconds. Chromium's pages have it too. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
