const NOW = /^\$NOW(?:\(\s*(?:([+-]?\d+(?:\.\d+)?)\s*([a-z]*))?\s*\))?$/i;
const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    [12, 'years year yrs yr y'],
    [1, 'months month mth mo'],
  ].flatMap(([count, names]) => (names as string).split(' ').map((name) => [name, count as number] as const)),
);
const MILLISECONDS: ReadonlyMap<string, number> = new Map(
  [
    [604_800_000, 'weeks week w'],
    [86_400_000, 'days day d'],
    [3_600_000, 'hours hour hrs hr h'],
    [60_000, 'minutes minute mins min m'],
    [1000, 'seconds second secs sec s'],
    [1, 'milliseconds millisecond msecs msec ms'],
  ].flatMap(([length, names]) => (names as string).split(' ').map((name) => [name, length as number] as const)),
);

/** `$NOW` or `$NOW(-7 days)` as a timestamp; undefined for any other text. */
export function momentOf(text: string, now = new Date()): string | undefined {
  const parts = NOW.exec(text);
  if (!parts) return undefined;
  const amount = Number(parts[1] ?? 0);
  const unit = (parts[2] || 'days').toLowerCase();
  const moment = new Date(now.getTime() + amount * (MILLISECONDS.get(unit) ?? 0));
  const months = Math.trunc(amount * (MONTHS.get(unit) ?? 0));
  if (months !== 0) addMonths(moment, months);
  return Number.isNaN(moment.getTime()) ? now.toISOString() : moment.toISOString();
}

/** The 31st of a month without one is its last day, as PostgreSQL has it. */
function addMonths(moment: Date, months: number): void {
  const day = moment.getUTCDate();
  moment.setUTCDate(1);
  moment.setUTCMonth(moment.getUTCMonth() + months);
  const last = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
  moment.setUTCDate(Math.min(day, last));
}
