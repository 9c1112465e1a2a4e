import { post } from './outbox.ts';
import { deleteProperty, freeze, PromiseOf, parse, stringify, type Table, table } from './primordials.ts';

/** Longest list of arguments, as JSON; filled in where the script is made. */
declare const LONGEST_CALL: number;
/** Conventions, "Limits". The service behind the pipe counts again. */
const MOST_CALLS = 1000;
const MOST_IN_FLIGHT = 16;

/** One invocation, as far as this realm knows. */
export interface Run {
  readonly id: number;
  /** The type of its activation. */
  readonly type: string;
  over: boolean;
  calls: number;
  inFlight: number;
  readonly waiting: Table<(answer: unknown) => void>;
  /** What `reject` threw last, and what it says. */
  rejection: { readonly error: object; readonly text: string } | undefined;
}

export const newRun = (id: number, type: string): Run =>
  ({
    __proto__: null,
    id,
    type,
    over: false,
    calls: 0,
    inFlight: 0,
    waiting: table(),
    rejection: undefined,
  }) as unknown as Run;

/**
 * `host` of one invocation (conventions, "Host API"): frozen, without prototypes, and of no use once it is over. Each
 * group is made when it is first looked at, since few handlers need more than one.
 */
export function makeHost(run: Run): unknown {
  const asks = (method: string) => freeze((...args: unknown[]) => call(run, method, args));
  const tells = (method: string) => freeze((...args: unknown[]) => tell(run, method, args));
  let log: unknown;
  let request: unknown;
  let items: unknown;
  let settings: unknown;
  let template: unknown;
  return freeze({
    __proto__: null,
    get log() {
      log ??= freeze({
        __proto__: null,
        debug: tells('log.debug'),
        info: tells('log.info'),
        warn: tells('log.warn'),
        error: tells('log.error'),
      });
      return log;
    },
    get request() {
      request ??= freeze({ __proto__: null, send: asks('request.send') });
      return request;
    },
    get items() {
      items ??= makeItems(asks);
      return items;
    },
    get settings() {
      settings ??= freeze({ __proto__: null, get: asks('settings.get') });
      return settings;
    },
    get template() {
      template ??= freeze({ __proto__: null, renderLiquid: asks('template.renderLiquid') });
      return template;
    },
  });
}

function makeItems(asks: (method: string) => unknown): unknown {
  const readMany = asks('items.readMany');
  return freeze({
    __proto__: null,
    read: readMany,
    readMany,
    readOne: asks('items.readOne'),
    createOne: asks('items.createOne'),
    createMany: asks('items.createMany'),
    updateOne: asks('items.updateOne'),
    updateMany: asks('items.updateMany'),
    deleteOne: asks('items.deleteOne'),
    deleteMany: asks('items.deleteMany'),
  });
}

const refuse = (code: string, message: string): Promise<unknown> =>
  new PromiseOf((resolve) => resolve({ ok: false, error: { code, message } }));

function call(run: Run, method: string, args: unknown[]): Promise<unknown> {
  // Making text may run code of the guest, which may call us again: everything is judged afterwards.
  const text = textOf(args);
  if (run.over) return refuse('denied', 'the invocation is over');
  if (text === undefined) return refuse('invalid_request', 'an argument cannot be written as JSON');
  if (text.length > LONGEST_CALL) return refuse('invalid_request', 'the arguments are too long');
  if (run.calls >= MOST_CALLS) return refuse('rate_limited', 'too many calls');
  if (run.inFlight >= MOST_IN_FLIGHT) return refuse('rate_limited', 'too many calls at once');
  const key = ++run.calls;
  run.inFlight++;
  return new PromiseOf((resolve) => {
    run.waiting[key] = resolve;
    post(`call ${run.id} ${key} ${method}\n${text}`);
  });
}

function tell(run: Run, method: string, args: unknown[]): void {
  const text = textOf(args);
  if (run.over || text === undefined || text.length > LONGEST_CALL || run.calls >= MOST_CALLS) return;
  run.calls++;
  post(`call ${run.id} 0 ${method}\n${text}`);
}

/** Each by itself, since a list could be told how to become JSON. Undefined where one cannot be written. */
function textOf(args: unknown[]): string | undefined {
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

/** What the call of a run was answered. */
export function reply(run: Run, key: number, ok: boolean, text: string): void {
  const resolve = run.waiting[key];
  if (resolve === undefined) return;
  deleteProperty(run.waiting, key);
  run.inFlight--;
  const value = text === '' ? undefined : parse(text);
  resolve(ok ? { ok: true, value } : { ok: false, error: value });
}
