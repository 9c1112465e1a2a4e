import { queueOutboxMessage } from './outbox.ts';
import {
  CapturedPromise,
  createNullPrototypeTable,
  deleteProperty,
  freeze,
  type NullPrototypeTable,
  parse,
  stringify,
} from './primordials.ts';

/** Characters of the longest list of arguments, as JSON. `bundleGuestPreludeSource` passes it in. */
declare const LONGEST_CALL: number;
/** Host calls of one invocation in total and at the same time (conventions, "Limits"). The host counts again. */
const MOST_CALLS = 1000;
const MOST_IN_FLIGHT = 16;

/** One invocation, as this realm knows it. */
export interface RealmInvocation {
  readonly id: number;
  /** The activation type of the invocation, such as `json-endpoint`. */
  readonly type: string;
  isOver: boolean;
  calls: number;
  inFlight: number;
  readonly pendingCalls: NullPrototypeTable<(answer: unknown) => void>;
  /** The error that `reject` threw last, and its message text. */
  rejection: { readonly error: object; readonly text: string } | undefined;
}

export const createRealmInvocation = (id: number, type: string): RealmInvocation =>
  ({
    __proto__: null,
    id,
    type,
    isOver: false,
    calls: 0,
    inFlight: 0,
    pendingCalls: createNullPrototypeTable(),
    rejection: undefined,
  }) as unknown as RealmInvocation;

/**
 * `host` of one invocation (conventions, "Host API"): frozen, without prototypes, and refusing calls once the
 * invocation is over. Each group is created on first access, since few handlers need more than one.
 */
export function createGuestHost(run: RealmInvocation): unknown {
  const callMethod = (method: string) => freeze((...args: unknown[]) => call(run, method, args));
  const notifyMethod = (method: string) => freeze((...args: unknown[]) => notify(run, method, args));
  let log: unknown;
  let request: unknown;
  let items: unknown;
  let settings: unknown;
  let template: unknown;
  let mail: unknown;
  return freeze({
    __proto__: null,
    get log() {
      log ??= freeze({
        __proto__: null,
        debug: notifyMethod('log.debug'),
        info: notifyMethod('log.info'),
        warn: notifyMethod('log.warn'),
        error: notifyMethod('log.error'),
      });
      return log;
    },
    get request() {
      request ??= freeze({ __proto__: null, send: callMethod('request.send') });
      return request;
    },
    get items() {
      items ??= createItems(callMethod);
      return items;
    },
    get settings() {
      settings ??= freeze({ __proto__: null, get: callMethod('settings.get') });
      return settings;
    },
    get template() {
      template ??= freeze({ __proto__: null, renderLiquid: callMethod('template.renderLiquid') });
      return template;
    },
    get mail() {
      mail ??= freeze({ __proto__: null, send: callMethod('mail.send') });
      return mail;
    },
  });
}

function createItems(callMethod: (method: string) => unknown): unknown {
  const readMany = callMethod('items.readMany');
  return freeze({
    __proto__: null,
    read: readMany,
    readMany,
    readOne: callMethod('items.readOne'),
    createOne: callMethod('items.createOne'),
    createMany: callMethod('items.createMany'),
    updateOne: callMethod('items.updateOne'),
    updateMany: callMethod('items.updateMany'),
    deleteOne: callMethod('items.deleteOne'),
    deleteMany: callMethod('items.deleteMany'),
  });
}

const refuse = (code: string, message: string): Promise<unknown> =>
  new CapturedPromise((resolve) => resolve({ ok: false, error: { code, message } }));

function call(run: RealmInvocation, method: string, args: unknown[]): Promise<unknown> {
  // Serializing may run code of the guest, which may call this function again. So all checks follow afterwards.
  const text = renderArguments(args);
  if (run.isOver) return refuse('denied', 'the invocation is over');
  if (text === undefined) return refuse('invalid_request', 'an argument cannot be written as JSON');
  if (text.length > LONGEST_CALL) return refuse('invalid_request', 'the arguments are too long');
  if (run.calls >= MOST_CALLS) return refuse('rate_limited', 'too many calls');
  if (run.inFlight >= MOST_IN_FLIGHT) return refuse('rate_limited', 'too many calls at once');
  const key = ++run.calls;
  run.inFlight++;
  return new CapturedPromise((resolve) => {
    run.pendingCalls[key] = resolve;
    queueOutboxMessage(`call ${run.id} ${key} ${method}\n${text}`);
  });
}

function notify(run: RealmInvocation, method: string, args: unknown[]): void {
  const text = renderArguments(args);
  if (run.isOver || text === undefined || text.length > LONGEST_CALL || run.calls >= MOST_CALLS) return;
  run.calls++;
  queueOutboxMessage(`call ${run.id} 0 ${method}\n${text}`);
}

/**
 * Serializes each argument by itself, since the guest can define `toJSON` for lists. Undefined where one is not JSON.
 */
function renderArguments(args: unknown[]): string | undefined {
  let length = args.length;
  while (length > 0 && args[length - 1] === undefined) length--;
  let text = '[';
  try {
    for (let index = 0; index < length; index++) {
      const part = args[index] === undefined ? 'null' : stringify(args[index]);
      if (part === undefined) return undefined;
      text += index === 0 ? part : `,${part}`;
    }
  } catch {
    return undefined;
  }
  return `${text}]`;
}

/** Resolves a host call of an invocation with its reply. */
export function resolveHostCall(run: RealmInvocation, key: number, ok: boolean, text: string): void {
  const resolve = run.pendingCalls[key];
  if (resolve === undefined) return;
  deleteProperty(run.pendingCalls, key);
  run.inFlight--;
  const value = text === '' ? undefined : parse(text);
  resolve(ok ? { ok: true, value } : { ok: false, error: value });
}
