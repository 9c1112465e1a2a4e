import { defineGlobal } from './globals.ts';
import { queueOutboxMessage } from './outbox.ts';
import {
  apply,
  CapturedRangeError,
  CapturedTypeError,
  createNullPrototypeTable,
  deleteProperty,
  type NullPrototypeTable,
} from './primordials.ts';

/** Maximum of outstanding timeouts, and of intervals (conventions, "The guest environment"). */
const MAX_TIMERS = 256;
const MAX_DELAY = 2 ** 31 - 1;

interface Timer {
  readonly callback: (...args: unknown[]) => unknown;
  readonly args: unknown[];
  readonly repeat: boolean;
  /**
   * Id of the invocation that started the timer and ends it; 0 for a timer of the evaluation, until the first
   * invocation.
   */
  owner: number;
}

const timers: NullPrototypeTable<Timer> = createNullPrototypeTable();
let latest = 0;
let timeouts = 0;
let intervals = 0;
let current = 0;

/** Sets the invocation for which the realm is entered. */
export function setCurrentInvocation(id: number): void {
  current = id;
}

function start(callback: unknown, delay: unknown, args: unknown[], repeat: boolean): number {
  if (typeof callback !== 'function') throw new CapturedTypeError('a function is needed');
  // The conversion may run code of the guest, so it precedes the check of the count.
  const requested = +(delay as number);
  const wait = requested >= 1 ? (requested <= MAX_DELAY ? requested - (requested % 1) : MAX_DELAY) : 1;
  if ((repeat ? intervals : timeouts) >= MAX_TIMERS) throw new CapturedRangeError('too many timers');
  const timer = ++latest;
  timers[timer] = { __proto__: null, callback, args, repeat, owner: current } as unknown as Timer;
  if (repeat) intervals++;
  else timeouts++;
  queueOutboxMessage(`start ${current} ${timer} ${wait} ${repeat ? 1 : 0}`);
  return timer;
}

function forget(key: number): Timer | undefined {
  const timer = timers[key];
  if (timer === undefined) return undefined;
  deleteProperty(timers, key);
  if (timer.repeat) intervals--;
  else timeouts--;
  return timer;
}

function clear(key: unknown): void {
  if (typeof key !== 'number') return;
  const timer = forget(key);
  if (timer !== undefined) queueOutboxMessage(`stop ${timer.owner} ${key}`);
}

/** Runs a timer whose time has come. */
export function fireTimer(key: number): void {
  const timer = timers[key];
  if (timer === undefined) return;
  if (!timer.repeat) forget(key);
  try {
    apply(timer.callback, undefined, timer.args);
  } catch {
    // An error of a callback is dropped, as that of an unhandled promise.
  }
}

/** Assigns the timers of the evaluation to the first invocation. */
export function assignEvaluationTimersToInvocation(id: number): void {
  for (const key in timers) {
    const timer = timers[key] as Timer;
    if (timer.owner === 0) timer.owner = id;
  }
}

/** Removes the timers of an invocation. The runner has already removed its own. */
export function endTimersOf(owner: number): void {
  for (const key in timers) if ((timers[key] as Timer).owner === owner) forget(+key);
}

export function defineTimerGlobals(): void {
  defineGlobal('setTimeout', (callback: unknown, delay?: unknown, ...args: unknown[]) =>
    start(callback, delay, args, false),
  );
  defineGlobal('setInterval', (callback: unknown, delay?: unknown, ...args: unknown[]) =>
    start(callback, delay, args, true),
  );
  defineGlobal('clearTimeout', clear);
  defineGlobal('clearInterval', clear);
}
