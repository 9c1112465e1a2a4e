import type { Caller, Failure } from '#kernel';
import type { ConnectedClient } from '../clients/client.ts';
import type { Delivery, RealtimeSubscription, RowEvent, SubscriptionRequest } from '../contract.ts';
import type { Group } from '../groups/group.ts';
import type { Question } from '../groups/question.ts';
import { Backlog } from './backlog.ts';

type Change = Extract<Delivery, { kind: 'change' }>;

interface Parts {
  readonly client: ConnectedClient;
  readonly request: SubscriptionRequest;
  readonly question: Question;
  /** The key as the service writes it. */
  readonly item: string | undefined;
  readonly group: Group;
  /** The index in the log, the version of rights and the caller of this moment. */
  readonly cursor: number;
  readonly placedAt: number;
  readonly placedFor: Caller;
  onEnd(subscription: Subscription): void;
  /** The backlog has no room: the client has to read again. */
  onOverflow(subscription: Subscription): void;
  onDelivery(): void;
}

/** One subscription of a client. */
export class Subscription implements RealtimeSubscription {
  readonly client: ConnectedClient;
  readonly request: SubscriptionRequest;
  readonly question: Question;
  readonly event: RowEvent | undefined;
  readonly item: string | undefined;
  group: Group;
  /** The index in the log up to which this subscription has got everything. */
  cursor: number;
  /** True while the first delivery, or the one after a gap, is being read: changes wait for it. */
  isHeld = true;
  /** The version of rights, and the caller, for which the subscription was put into its group. */
  placedAt: number;
  placedFor: Caller;
  /** Counts how often the subscription was taken out of a group. */
  moves = 0;
  /** Reads for this subscription alone that are under way. */
  ownReads = 0;
  /** The caller may read nothing of the collection now: the subscription is in no group. */
  isDenied = false;
  /** The backlog was full: once the client is ready it gets `resync`. */
  isBehind = false;
  readonly #parts: Parts;
  readonly #backlog = new Backlog();
  /** The position of the last delivery. */
  #position = '';
  #sequence = 0;
  #hasEnded = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.client = parts.client;
    this.request = parts.request;
    this.question = parts.question;
    this.event = parts.request.event;
    this.item = parts.item;
    this.group = parts.group;
    this.cursor = parts.cursor;
    this.placedAt = parts.placedAt;
    this.placedFor = parts.placedFor;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Takes changes: delivers them now, or keeps them where the client is slow or the first delivery is due. */
  offer(changes: readonly Change[]): void {
    if (this.#hasEnded || this.isBehind) return;
    for (const change of changes) {
      if (!this.isHeld && this.#backlog.isEmpty && this.client.isReady) this.#deliver(change);
      else if (!this.#backlog.add(change)) {
        this.isBehind = true;
        this.#parts.onOverflow(this);
        return;
      }
    }
  }

  /** Delivers what was read for this subscription alone, before everything that was kept meanwhile. */
  begin(deliveries: readonly Delivery[]): void {
    if (this.#hasEnded) return;
    for (const one of deliveries) this.#deliver(one);
    this.isHeld = false;
    this.drain();
  }

  /** Holds changes back until `begin`, and forgets those that were kept. */
  hold(): void {
    this.isHeld = true;
    this.isBehind = false;
    this.#backlog.clear();
  }

  drain(): void {
    if (this.#hasEnded || this.isHeld) return;
    if (this.isBehind) {
      if (this.client.isReady) this.#parts.onOverflow(this);
      return;
    }
    if (this.#backlog.isEmpty || !this.client.isReady) return;
    for (const one of this.#backlog.take(this.#position)) this.#deliver(one);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#backlog.clear();
    this.client.subscriptions.delete(this);
    this.#parts.onEnd(this);
  }

  /** Ends the subscription from this side. */
  fail(failure: Failure): void {
    if (this.#hasEnded) return;
    this.end();
    this.request.onEnd(failure);
  }

  #deliver(delivery: Delivery): void {
    this.#parts.onDelivery();
    this.#position = delivery.position;
    this.request.deliver(delivery, ++this.#sequence);
  }
}
