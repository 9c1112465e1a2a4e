import type { Log } from '#kernel';
import type { RemoteMethod, RemoteTable } from './contract.ts';
import { LineBudget } from './line-budget.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** By the log that a package was given. */
const budgets = new WeakMap<Log, LineBudget>();

/** Lines of confined code (conventions, "Logging"): its own text and data, without the secrets it was given. */
const createLogMethod = (level: (typeof LEVELS)[number]): RemoteMethod<Log> => ({
  args: { type: 'array', minItems: 1, maxItems: 2 },
  call(log, { id, secrets }, message: unknown, meta: unknown) {
    if (!log.isLevelEnabled(level)) return;
    const clean = secrets.scrubValue(message);
    const whole = typeof clean === 'string' ? clean : (JSON.stringify(clean) ?? '');
    const text = whole.slice(0, LONGEST_LINE);
    const [shown, size] = meta === undefined ? [{}, 0] : truncateMeta(secrets.scrubValue(meta));
    const budget = budgets.get(log) ?? new LineBudget();
    budgets.set(log, budget);
    const spent = budget.spend(text.length + size);
    if (spent === 'write') log[level]({ invocation: id, ...shown }, text);
    else if (spent === 'first') log.warn({ invocation: id }, 'it writes too much: lines are dropped');
  },
});

/** Characters of the text of a line, and of what comes with it: a third-party package does not fill the disk with a few of them. */
const LONGEST_LINE = 10_000;

/** What is too long is no data any more but the beginning of its text. */
function truncateMeta(meta: unknown): readonly [shown: { readonly meta: unknown }, size: number] {
  const text = JSON.stringify(meta);
  return text.length > LONGEST_LINE
    ? [{ meta: `${text.slice(0, LONGEST_LINE)}…` }, LONGEST_LINE]
    : [{ meta }, text.length];
}

/** `host.log` of confined code. */
export const remoteLogMethods: RemoteTable = {
  capability: 'log',
  methods: Object.fromEntries(LEVELS.map((level) => [level, createLogMethod(level)])),
};
