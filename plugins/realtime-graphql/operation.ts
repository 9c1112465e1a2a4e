import { type Caller, ClientGone, requestScope } from '#kernel';
import type { GraphqlOperations } from '../graphql/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { RealtimeClient } from '../realtime/contract.ts';
import type { DocumentChecks } from './document-checks.ts';
import { ResponseQueue, type ResponseStream } from './response-queue.ts';
import { ResponseText } from './response-text.ts';
import { openSubscription } from './subscription.ts';

export interface OperationDeps {
  readonly operations: GraphqlOperations;
  readonly checks: Pick<DocumentChecks, 'add'>;
}

export interface SocketOperation {
  readonly client: RealtimeClient;
  readonly caller: Caller;
  /** Creates the context for fields of other plugins; most operations need none. */
  readonly createContext: () => HttpContext;
  /** The payload of the message `subscribe`. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Unique in this process, for logs and the activity. */
  readonly id: string;
  /** Called once: the operation is refused or over, or its subscription is open. */
  readonly onSettled: () => void;
}

/**
 * Starts an operation that came over a socket. Ending the stream cancels a read, and a write whose commit has not begun.
 * @throws document failures, and what `RealtimeClient.subscribe` throws.
 */
export function startOperation(
  { operations, checks }: OperationDeps,
  { client, caller, createContext, payload, id, onSettled }: SocketOperation,
): Promise<ResponseStream> {
  const controller = new AbortController();
  const scope = { id, invocation: id };
  return requestScope.run(scope, async () => {
    let isSettled = true;
    try {
      const request = operations.parseRequest(payload);
      let ctx: HttpContext | undefined;
      const prepared = await operations.prepare(request, {
        caller,
        get ctx() {
          ctx ??= createContext();
          return ctx;
        },
        signal: () => controller.signal,
      });
      if (prepared.kind === 'subscription')
        return await openSubscription(client, prepared.subscription, {
          checks,
          since: sinceOf(request.extensions),
          showsPositions: 'since' in request.extensions,
        });
      isSettled = false;
      const onDone = () => {
        controller.abort(new ClientGone());
        onSettled();
      };
      const readScope = { ...scope, signal: controller.signal };
      return createSingleResponse(
        () => requestScope.run(prepared.kind === 'query' ? readScope : scope, prepared.run),
        onDone,
      );
    } finally {
      if (isSettled) onSettled();
    }
  });
}

function createSingleResponse(run: () => Promise<string>, onDone: () => void): ResponseStream {
  const queue = new ResponseQueue({ onDone });
  run().then(
    (text) => {
      queue.push(new ResponseText(text, { isAwaited: true }));
      queue.end();
    },
    (error: unknown) => queue.end(error),
  );
  return queue;
}

/** The position of `extensions: { "since": "…" }`; with null a client only asks for positions. */
export const sinceOf = ({ since }: Readonly<Record<string, unknown>>): string | undefined =>
  typeof since === 'string' ? since : undefined;
