import { define } from './globals.ts';
import { post } from './outbox.ts';
import { apply, deleteProperty, Range, type Table, Type, table } from './primordials.ts';

/** Outstanding timeouts, and as many intervals (conventions, "The guest environment"). */
const MAX_TIMERS = 256;
const MAX_DELAY = 2 ** 31 - 1;

interface Timer {
  readonly callback: (...args: unknown[]) => unknown;
  readonly args: unknown[];
  readonly repeat: boolean;
  /** The invocation that started it and that it ends with; 0 for one from evaluating the artifact, until one comes. */
  owner: number;
}

const timers: Table<Timer> = table();
let latest = 0;
let timeouts = 0;
let intervals = 0;
let current = 0;

/** On whose account the realm is entered. */
export function setCurrentInvocation(id: number): void {
  current = id;
}

function start(callback: unknown, delay: unknown, args: unknown[], repeat: boolean): number {
  if (typeof callback !== 'function') throw new Type('a function is needed');
  // The conversion may run code of the guest, so it comes before the count is looked at.
  const requested = +(delay as number);
  const wait = requested >= 1 ? (requested <= MAX_DELAY ? requested - (requested % 1) : MAX_DELAY) : 1;
  if ((repeat ? intervals : timeouts) >= MAX_TIMERS) throw new Range('too many timers');
  const timer = ++latest;
  timers[timer] = { __proto__: null, callback, args, repeat, owner: current } as unknown as Timer;
  if (repeat) intervals++;
  else timeouts++;
  post(`start ${current} ${timer} ${wait} ${repeat ? 1 : 0}`);
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
  if (timer !== undefined) post(`stop ${timer.owner} ${key}`);
}

/** The runner says that it is time. */
export function fire(key: number): void {
  const timer = timers[key];
  if (timer === undefined) return;
  if (!timer.repeat) forget(key);
  try {
    apply(timer.callback, undefined, timer.args);
  } catch {
    // As with a promise nobody waits for: it is over, and nobody is told.
  }
}

/** What the evaluation started runs on the account of the first invocation. */
export function adoptTimers(id: number): void {
  for (const key in timers) {
    const timer = timers[key] as Timer;
    if (timer.owner === 0) timer.owner = id;
  }
}

/** With its invocation; the runner has dropped its own half already. */
export function endTimersOf(owner: number): void {
  for (const key in timers) if ((timers[key] as Timer).owner === owner) forget(+key);
}

export function defineTimers(): void {
  define('setTimeout', (callback: unknown, delay?: unknown, ...args: unknown[]) => start(callback, delay, args, false));
  define('setInterval', (callback: unknown, delay?: unknown, ...args: unknown[]) => start(callback, delay, args, true));
  define('clearTimeout', clear);
  define('clearInterval', clear);
}
