import type { Failure } from '#kernel';
import type { RawQuery } from '../query/contract.ts';
import type { Delivery, RealtimeClient, RealtimeSubscription, RowEvent } from '../realtime/contract.ts';
import { DeliveryTexts } from './delivery-texts.ts';
import {
  type ClientMessage,
  isRecord,
  MessageRefusal,
  renderError,
  renderMessage,
  toMessageError,
} from './messages.ts';
import type { RestTransportDeps } from './rest-transport.ts';
import { findServedCollection } from './served-collection.ts';

const EVENTS: ReadonlySet<unknown> = new Set<RowEvent>(['create', 'update', 'delete']);
/** Texts are shared by all clients that get the same delivery. */
const texts = new DeliveryTexts();

interface Options {
  readonly event: RowEvent | undefined;
  readonly item: string | undefined;
  readonly query: RawQuery | undefined;
  readonly leaving: boolean;
  readonly since: string | undefined;
  readonly positions: boolean;
}

/** The subscriptions of one client, by their uid. */
export class ClientSubscriptions {
  readonly #deps: RestTransportDeps;
  readonly #client: RealtimeClient;
  readonly #send: (text: string | Buffer) => void;
  readonly #byUid = new Map<string, RealtimeSubscription>();

  constructor(deps: RestTransportDeps, client: RealtimeClient, send: (text: string | Buffer) => void) {
    this.#deps = deps;
    this.#client = client;
    this.#send = send;
  }

  /** Answers a message `subscribe` (conventions, "Subscriptions"). @throws MessageRefusal, and what `RealtimeClient.subscribe` throws */
  async subscribe(message: ClientMessage): Promise<void> {
    const { uid } = message;
    const { event, item, query, leaving, since, positions } = parseOptions(message);
    const caller = await this.#client.caller();
    const collection = await findServedCollection(this.#deps, caller, message.collection, { withSystem: true });
    const key = uidKey(uid);
    this.#byUid.get(key)?.end();
    this.#byUid.delete(key);
    const shape = { uid, positions, isItem: item !== undefined };
    const subscription = await this.#client.subscribe({
      ...{ collection: collection.name, event, item, query, leaving, since },
      init: event === undefined,
      deliver: (delivery: Delivery, sequence: number) => this.#send(texts.render(delivery, { ...shape, sequence })),
      onEnd: (failure) => this.#ended(key, uid, failure),
    });
    this.#byUid.set(key, subscription);
  }

  /** Answers a message `unsubscribe`: without `uid` it ends all. */
  async unsubscribe({ uid }: ClientMessage): Promise<void> {
    for (const key of uid === undefined ? [...this.#byUid.keys()] : [uidKey(uid)]) {
      this.#byUid.get(key)?.end();
      this.#byUid.delete(key);
    }
    this.#send(renderMessage({ type: 'subscription', event: 'unsubscribe' }, {}, uid));
  }

  #ended(key: string, uid: string | number | undefined, failure: Failure): void {
    this.#byUid.delete(key);
    this.#send(renderError('subscribe', toMessageError(failure), uid));
  }
}

const uidKey = (uid: string | number | undefined): string => String(uid ?? '');

const invalid = (message: string) => new MessageRefusal('INVALID_PAYLOAD', message);

/** @throws MessageRefusal with INVALID_PAYLOAD */
function parseOptions({ event, item, query, leaving, since, positions }: ClientMessage): Options {
  if (!isMissing(event) && !EVENTS.has(event)) throw invalid('"event" must be create, update or delete.');
  if (!isMissing(item) && typeof item !== 'string' && typeof item !== 'number') throw invalid('"item" must be a key.');
  if (!isMissing(query) && !isRecord(query)) throw invalid('"query" must be an object.');
  if (!isMissing(since) && typeof since !== 'string') throw invalid('"since" must be a position.');
  if (![leaving, positions].every((flag) => isMissing(flag) || typeof flag === 'boolean'))
    throw invalid('"leaving" and "positions" must be true or false.');
  return {
    event: (event as RowEvent | null) ?? undefined,
    item: isMissing(item) ? undefined : String(item),
    query: (query as RawQuery | null) ?? undefined,
    leaving: leaving === true,
    since: (since as string | null) ?? undefined,
    positions: positions === true || !isMissing(since),
  };
}

const isMissing = (value: unknown): value is undefined | null => value === undefined || value === null;
