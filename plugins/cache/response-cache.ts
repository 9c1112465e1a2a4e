import { LRUCache } from 'lru-cache';
import { ClientGone, type EventsApi, type Log } from '#kernel';
import { entityTagOf } from '../http/library.ts';
import { AnswerCollector, type AnswerScope } from './request/answer-collector.ts';
import { toStoredBody } from './request/compress.ts';
import type { PermissionCheck, ReadRequest } from './request/read-request.ts';
import type { RequestContext } from './request/request-context.ts';
import { isGraphqlPath } from './request/request-kind.ts';
import { sendCachedAnswer, setCacheHeaders } from './request/send-answer.ts';
import { type Flight, type FlightEnd, SingleFlight } from './request/single-flight.ts';
import type { CacheSettings } from './settings.ts';
import type { AnswerStore, FoundAnswer, StorePosition } from './store/answer-store.ts';
import type { AnnouncedTables } from './tables/announced-tables.ts';
import type { TableChanges } from './tables/table-changes.ts';

/** Headers that a stored answer may have beside those of every response. Another header makes an answer uncacheable. */
const STORED_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'etag',
  'vary',
  'cache-control',
]);
/** Answers that are compressed and stored at the same time; further ones are not stored. */
const MAX_PENDING = 16;
const MAX_REMEMBERED_KEYS = 10_000;

export interface ResponseCacheDeps {
  readonly settings: CacheSettings;
  readonly store: AnswerStore;
  readonly changes: TableChanges;
  readonly tables: AnnouncedTables;
  readonly events: Pick<EventsApi, 'hasListeners'>;
  readonly isUnchanged: PermissionCheck;
  readonly waitForConfirmation: () => Promise<void>;
  /** Whether announcements arrive: while they do not, no answer is used or stored. */
  readonly isListening: () => boolean;
  readonly log: Log;
}

/** Answers to reads since the start. */
export interface AnswerCounts {
  readonly hit: number;
  readonly miss: number;
  readonly uncacheable: number;
}

type Next = () => Promise<void>;

/** An answer that may be stored, with the moment before its read. */
interface AnswerDraft {
  readonly collector: AnswerCollector;
  readonly position: StorePosition;
  readonly relations: readonly number[];
  readonly began: number;
}

/** Answers reads from the store, and stores the answers of others. */
export class ResponseCache {
  readonly #deps: ResponseCacheDeps;
  readonly #flights = new SingleFlight();
  /** Who may share the answer to a request, by its shared key; `none` where it was not cacheable. */
  readonly #scopes = new LRUCache<string, AnswerScope | 'none'>({ max: MAX_REMEMBERED_KEYS });
  #pending = 0;
  readonly counts = { hit: 0, miss: 0, uncacheable: 0 };

  constructor(deps: ResponseCacheDeps) {
    this.#deps = deps;
  }

  /** Answers from the store, or waits for the same read of another request, or reads. */
  async answer(ctx: RequestContext, request: ReadRequest, next: Next): Promise<void> {
    for (;;) {
      const { answer, position } = await this.#find(request);
      if (answer) return this.#send(ctx, answer, request);
      const key = this.#flightKeyOf(ctx, request);
      const flight = key === undefined ? undefined : this.#flights.begin(key);
      if (key === undefined || flight) return this.#run(ctx, request, position, next, flight);
      const end = await this.#flights.wait(key);
      if (end === 'abandoned') continue;
      const { answer: shared, position: later } = await this.#find(request);
      return shared ? this.#send(ctx, shared, request) : this.#run(ctx, request, later, next, undefined);
    }
  }

  async #find({ keys, client }: ReadRequest): Promise<FoundAnswer> {
    if (!this.#deps.isListening()) return { answer: undefined, position: undefined };
    const found = this.#deps.store.find(keys, client);
    const { answer, position } = found instanceof Promise ? await found : found;
    return { position, answer: answer && this.#hasListeners(answer.events) ? undefined : answer };
  }

  /** The key of the read that this request may wait for; undefined where it is certain or likely that its answer is its own. */
  #flightKeyOf({ path }: RequestContext, { keys }: ReadRequest): string | undefined {
    const scope = this.#scopes.get(keys.shared);
    if (scope === 'none') return undefined;
    if (scope !== undefined) return keys[scope];
    return path.startsWith('/items/') || isGraphqlPath(path) ? keys.shared : undefined;
  }

  async #send(ctx: RequestContext, answer: NonNullable<FoundAnswer['answer']>, { caller }: ReadRequest): Promise<void> {
    this.counts.hit++;
    this.#setStatusHeader(ctx, 'HIT');
    await sendCachedAnswer(ctx, answer, this.#deps.settings, caller);
  }

  /** Runs the request, and stores its answer where it may be stored. */
  async #run(
    ctx: RequestContext,
    request: ReadRequest,
    position: StorePosition | undefined,
    next: Next,
    flight: Flight | undefined,
  ): Promise<void> {
    const { changes, settings, log } = this.#deps;
    const began = changes.now;
    const headers = new Set(ctx.res.getHeaderNames());
    const collector = new AnswerCollector();
    let end: FlightEnd | undefined = 'nothing';
    try {
      await collector.collect(next);
      // Rows that a read wrote, such as that of an endpoint of an extension, are changes like any other.
      if (collector.hasWritten) await this.#deps.waitForConfirmation();
      const isCacheable = this.#isCacheable(ctx, collector, headers);
      this.#scopes.set(request.keys.shared, isCacheable ? collector.scope : 'none');
      this.counts[isCacheable ? 'miss' : 'uncacheable']++;
      if (!isCacheable) return;
      this.#setStatusHeader(ctx, 'MISS');
      const relations = await this.#relationsOf(request, collector, began);
      if (!relations || position === undefined || this.#pending >= MAX_PENDING) return;
      const isNoStore = collector.keptUntilExpired !== undefined;
      setCacheHeaders(ctx, settings, { caller: request.caller, ms: settings.ttl, isNoStore });
      end = undefined;
      this.#pending++;
      this.#store(ctx, request, { collector, position, relations, began })
        .then(
          () => flight?.end('stored'),
          (error) => {
            flight?.end('nothing');
            log.debug({ reason: (error as Error).message }, 'an answer was not stored');
          },
        )
        .finally(() => this.#pending--);
    } catch (error) {
      if (error instanceof ClientGone) end = 'abandoned';
      throw error;
    } finally {
      if (end) flight?.end(end);
    }
  }

  #isCacheable(
    { body, status, res }: RequestContext,
    collector: AnswerCollector,
    before: ReadonlySet<string>,
  ): boolean {
    return (
      collector.isCacheable &&
      status === 200 &&
      typeof body === 'string' &&
      body.length <= this.#deps.settings.maxAnswerSize &&
      res.getHeaderNames().every((name) => before.has(name) || STORED_HEADERS.has(name)) &&
      !this.#hasListeners(collector.events)
    );
  }

  /** The tables whose changes make the answer stale; undefined where something has changed since its read began, or is not announced. */
  async #relationsOf(
    request: ReadRequest,
    { tables, keptUntilExpired }: AnswerCollector,
    began: number,
  ): Promise<readonly number[] | undefined> {
    const { revalidates } = this.#deps.settings;
    const relations =
      keptUntilExpired && !revalidates
        ? []
        : this.#deps.tables.relationsOf(keptUntilExpired ? new Set(keptUntilExpired) : tables, began);
    if (!relations || !(await this.#deps.isUnchanged(request))) return undefined;
    return this.#deps.changes.isUnchangedSince(began, relations) ? relations : undefined;
  }

  async #store(
    ctx: RequestContext,
    { keys, client }: ReadRequest,
    { collector, position, relations, began }: AnswerDraft,
  ): Promise<void> {
    const { changes, settings, store, isListening } = this.#deps;
    const text = ctx.body as string;
    const about = {
      type: ctx.response.get('Content-Type'),
      vary: ctx.response.get('Vary'),
      ...(ctx.method === 'GET' ? { etag: ctx.response.get('ETag') || entityTagOf(text) } : {}),
      isNoStore: collector.keptUntilExpired !== undefined,
      expiresAt: Date.now() + settings.ttl,
      events: [...collector.events],
    };
    const stored = await toStoredBody(text);
    if (stored.body.length > settings.maxAnswerSize || !isListening() || !changes.isUnchangedSince(began, relations))
      return;
    await store.put({ key: keys[collector.scope], answer: { ...about, ...stored }, position, relations, client });
  }

  #hasListeners(names: Iterable<string>): boolean {
    const { events } = this.#deps;
    for (const name of names)
      if (events.hasListeners('filter', name) || events.hasListeners('action', name)) return true;
    return false;
  }

  #setStatusHeader(ctx: RequestContext, status: 'HIT' | 'MISS'): void {
    const { statusHeader } = this.#deps.settings;
    if (statusHeader !== undefined) ctx.set(statusHeader, status);
  }
}
