import { authorities, type Caller, facet, service } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import type { RowSelection } from '../query/contract.ts';
import type { Collection } from '../schema/contract.ts';

/** A GraphQL request, whose members have the right types and are not checked further. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
  /** Of no meaning to `/graphql` itself. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** What happened to a row. */
export type RowChangeEvent = 'create' | 'update' | 'delete';

/** The request in which an operation runs and a field is resolved, or the call of code with full authority. */
export interface GraphqlResolverContext {
  readonly caller: Caller;
  /**
   * The Koa context: for cookies, and for the client's address before authentication. Of a document that comes over a socket it is
   * that of the upgrade request, and has no answer.
   * @throws INVALID_PAYLOAD where it is read in a call of code, which has none.
   */
  readonly ctx: HttpContext;
  /** Aborts when the client does not wait any longer. Cancels reads, and writes whose commit has not begun. Absent in a call of code. */
  readonly signal?: () => AbortSignal;
}

/** An operation whose document was valid for its caller when it was prepared. */
export type PreparedGraphqlOperation =
  | {
      readonly kind: 'query' | 'mutation';
      /**
       * Runs the operation. Resolves to the response as JSON text, which holds the errors of fields.
       * @throws document failures for invalid variables, before any field runs; INVALID_QUERY for a list of more than 4 million
       * characters, OUT_OF_TIME.
       */
      run(): Promise<string>;
    }
  | { readonly kind: 'subscription'; readonly subscription: GraphqlSubscription };

/** A subscription to `<c>_mutated` (conventions, "GraphQL subscriptions"), translated for the rights of its caller. */
export interface GraphqlSubscription {
  readonly collection: string;
  /** The argument `event`; undefined: every event. */
  readonly event: RowChangeEvent | undefined;
  /** What to read of a row that was created or updated. The same `text` always means the same selection. */
  readonly selection: { readonly text: string; readonly rows: RowSelection };
  /**
   * The subscription for the rights that a caller has now, for rendering: the document has to be valid still, and `key` may have become
   * unreadable. Cheap while nothing has changed. The selection of the first one stays in use.
   * @throws document failures.
   */
  renew(caller: Caller): Promise<GraphqlSubscription>;
  /**
   * Renders the response about a row as JSON text, the same for all subscriptions with equal `selection.text`.
   * @param row the JSON text of `selection`; undefined for a deleted row
   */
  renderResponse(event: RowChangeEvent, key: string, row: string | undefined): string;
  /** Renders a response without a row, and with an error where there is one. */
  renderEmptyResponse(error?: { readonly message: string; readonly extensions: { readonly code: string } }): string;
}

/** Runs GraphQL documents that do not come by an ordinary request, within the limits of `/graphql`. */
export interface GraphqlOperations {
  /**
   * Reads the members of a request from parsed JSON that a client sent.
   * @throws INVALID_PAYLOAD with the invalid member, for NUL characters and for values nested deeper than 100 levels.
   */
  parseRequest(members: Readonly<Record<string, unknown>>): GraphqlRequest;
  /**
   * Validates a document of the scope `items` for its caller.
   * @throws document failures, which `toGraphqlErrors` of library.ts renders.
   */
  prepare(request: GraphqlRequest, call: GraphqlResolverContext): Promise<PreparedGraphqlOperation>;
}

/** For core plugins alone: `ctx` may belong to any request. */
export const graphqlOperations = service<GraphqlOperations>('graphql-operations', { version: '1.0.0', coreOnly: true });

/** The plugin that serves subscriptions. */
export interface SubscriptionSource {
  /** Whether changes of the rows of a collection are announced. The same answer for the same collection of a snapshot. */
  isAnnounced(collection: Collection): boolean;
  /**
   * Answers a request of `/graphql` that accepts `text/event-stream` by the text of events. `return` ends the operation.
   * @throws METHOD_NOT_ALLOWED for a mutation that does not come by POST, REQUESTS_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  openEventStream(request: GraphqlRequest, call: GraphqlResolverContext): Promise<AsyncIterableIterator<string>>;
}

/** With a source, the schemas of `/graphql` have the type `Subscription`; without one they have none. */
export const graphqlSubscriptions = facet<SubscriptionSource, SubscriptionSource | undefined>('graphql.subscriptions', {
  combine: (all) => all[0]?.value,
  coreOnly: true,
  describe: () => authorities('serves', ['subscriptions'], 'by GraphQL'),
});
