import { ErrorCode } from "@assent/protocol";
import { type CancellationToken, ResponseError } from "vscode-jsonrpc/node";

/** Requests by method, as protocol.ts and host.ts list them. */
type Requests<R> = { readonly [M in keyof R]: { params: unknown; result: unknown } };

/** One function for each request that is answered here. */
export type Handlers<R extends Requests<R>> = {
  readonly [M in keyof R]?: (
    params: R[M]["params"],
    token: CancellationToken,
  ) => R[M]["result"] | Promise<R[M]["result"]>;
};

type Handler = (params: unknown, token: CancellationToken) => Promise<unknown>;

/** The handler of a method that came over the wire, where there is one. */
export function handlerOf<R extends Requests<R>>(
  handlers: Handlers<R>,
  method: string,
): Handler | undefined {
  if (!Object.hasOwn(handlers, method)) return undefined;
  // The other side of the wire was built from the same types; its params are taken at their word.
  const handler = handlers[method as keyof R] as Handler;
  return async (params, token) => {
    try {
      return await handler(params, token);
    } catch (error) {
      throw asResponseError(error);
    }
  };
}

/** vscode-jsonrpc would put words of its own before the message of any other error. */
function asResponseError(error: unknown): ResponseError<unknown> {
  if (error instanceof ResponseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ResponseError(ErrorCode.InternalError, message);
}
