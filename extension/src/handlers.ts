import { ErrorCode } from "@assent/protocol";
import { type CancellationToken, ResponseError } from "vscode-jsonrpc/node";

/** Request types by method, as in protocol.ts and host.ts. */
type Requests<R> = { readonly [M in keyof R]: { params: unknown; result: unknown } };

/** One function for each request that is handled here. */
export type Handlers<R extends Requests<R>> = {
  readonly [M in keyof R]?: (
    params: R[M]["params"],
    token: CancellationToken,
  ) => R[M]["result"] | Promise<R[M]["result"]>;
};

type Handler = (params: unknown, token: CancellationToken) => Promise<unknown>;

/** Returns the handler of a method, or undefined. */
export function handlerOf<R extends Requests<R>>(
  handlers: Handlers<R>,
  method: string,
): Handler | undefined {
  if (!Object.hasOwn(handlers, method)) return undefined;
  // The peer was built from the same types, so its params are not validated.
  const handler = handlers[method as keyof R] as Handler;
  return async (params, token) => {
    try {
      return await handler(params, token);
    } catch (error) {
      throw asResponseError(error);
    }
  };
}

/** For any other error, vscode-jsonrpc would put its own words before the message. */
function asResponseError(error: unknown): ResponseError<unknown> {
  if (error instanceof ResponseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ResponseError(ErrorCode.InternalError, message);
}
