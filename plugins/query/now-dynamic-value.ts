/** The offset of `$NOW(…)` from the present: `offset` in milliseconds, `months` in calendar months. */
export interface NowOffset {
  readonly offset: number;
  readonly months: number;
}

const NOW = /^\$NOW(?:\((.*)\))?$/;
const ADJUSTMENT = /^([+-]?\d{1,12}(?:\.\d{1,6})?)\s*([a-z]*)$/i;
const MONTHS = units([
  [12, 'years year yrs yr y'],
  [1, 'months month mth mo'],
]);
const MILLISECONDS = units([
  [604_800_000, 'weeks week w'],
  [86_400_000, 'days day d'],
  [3_600_000, 'hours hour hrs hr h'],
  [60_000, 'minutes minute mins min m'],
  [1000, 'seconds second secs sec s'],
  [1, 'milliseconds millisecond msecs msec ms'],
]);

function units(lengths: readonly (readonly [length: number, names: string])[]): ReadonlyMap<string, number> {
  return new Map(lengths.flatMap(([length, names]) => names.split(' ').map((name) => [name, length] as const)));
}

/** `$NOW`, `$NOW(-7 days)`, `$NOW(+1 month)`; undefined for other texts. A malformed adjustment is ignored. */
export function parseNowExpression(text: string): NowOffset | undefined {
  const now = NOW.exec(text);
  if (!now) return undefined;
  const parts = ADJUSTMENT.exec((now[1] ?? '').trim());
  const amount = Number(parts?.[1] ?? 0);
  const unit = (parts?.[2] || 'days').toLowerCase();
  return { offset: amount * (MILLISECONDS.get(unit) ?? 0), months: Math.trunc(amount * (MONTHS.get(unit) ?? 0)) };
}

/**
 * The ISO 8601 timestamp that a `$NOW(…)` stands for. The 31st of a shorter month is its last day; an offset beyond the range of
 * dates gives the present.
 */
export function timestampOfNowOffset({ offset, months }: NowOffset, now = new Date()): string {
  const moment = new Date(now.getTime() + offset);
  if (months !== 0) addMonths(moment, months);
  return Number.isNaN(moment.getTime()) ? now.toISOString() : moment.toISOString();
}

function addMonths(moment: Date, months: number): void {
  const day = moment.getUTCDate();
  moment.setUTCDate(1);
  moment.setUTCMonth(moment.getUTCMonth() + months);
  const last = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
  moment.setUTCDate(Math.min(day, last));
}
