/** Joins conditions by `and`, without those that always hold; empty when none is left. */
export const joinWithAnd = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== 'true').join(' and ');

/** The condition in brackets; undefined when it always holds. */
export const parenthesized = (sql: string | undefined): string | undefined =>
  sql === undefined || sql === 'true' ? undefined : `(${sql})`;

export const whereClause = (conditions: readonly (string | undefined)[]): string => {
  const sql = joinWithAnd(conditions);
  return sql === '' ? '' : ` where ${sql}`;
};
