import type { Log } from '#kernel';
import type { ConfinedCodeHostMethod, RemoteCapabilityMethods } from './contract.ts';
import { PackageLogBudget } from './package-log-budget.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** The budget of each package, by the log of the package. */
const budgets = new WeakMap<Log, PackageLogBudget>();

/** Log entries of confined code (conventions, "Logging"): its text and data, without the secrets of the invocation. */
const createLogMethod = (level: (typeof LEVELS)[number]): ConfinedCodeHostMethod<Log> => ({
  args: { type: 'array', minItems: 1, maxItems: 2 },
  call(log, { id, secrets }, message: unknown, meta: unknown) {
    if (!log.isLevelEnabled(level)) return;
    const clean = secrets.scrubValue(message);
    const whole = typeof clean === 'string' ? clean : (JSON.stringify(clean) ?? '');
    const text = whole.slice(0, LONGEST_LINE);
    const [shown, size] = meta === undefined ? [{}, 0] : truncateMeta(secrets.scrubValue(meta));
    const budget = budgets.get(log) ?? new PackageLogBudget();
    budgets.set(log, budget);
    const spent = budget.spend(text.length + size);
    if (spent === 'write') log[level]({ invocation: id, ...shown }, text);
    else if (spent === 'first') log.warn({ invocation: id }, 'the package exceeds its log limit: lines are dropped');
  },
});

/** Maximum characters of the text of a log entry, and of its data, so that a few entries do not fill the disk. */
const LONGEST_LINE = 10_000;

/** Data that is too long is logged as the beginning of its JSON text. */
function truncateMeta(meta: unknown): readonly [shown: { readonly meta: unknown }, size: number] {
  const text = JSON.stringify(meta);
  return text.length > LONGEST_LINE
    ? [{ meta: `${text.slice(0, LONGEST_LINE)}…` }, LONGEST_LINE]
    : [{ meta }, text.length];
}

/** `host.log` of confined code. */
export const remoteLogMethods: RemoteCapabilityMethods = {
  capability: 'log',
  methods: Object.fromEntries(LEVELS.map((level) => [level, createLogMethod(level)])),
};
