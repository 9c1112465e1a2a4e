/** The conditions joined by `and`, with what holds always left out; empty when nothing is left. */
export const conjunction = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== 'true').join(' and ');

/** In brackets, unless it says nothing. */
export const parenthesized = (sql: string | undefined): string | undefined =>
  sql === undefined || sql === 'true' ? undefined : `(${sql})`;

export const whereClause = (conditions: readonly (string | undefined)[]): string => {
  const sql = conjunction(conditions);
  return sql === '' ? '' : ` where ${sql}`;
};
