// Who this server says that it is.
// @ts-check

export const serverInfo = { name: "test-sampling-server", version: "1.0.0" };
