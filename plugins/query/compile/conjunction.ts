/** Joins SQL conditions by `and`, without those that are always true; an empty text when none is left. */
export const joinConditionsWithAnd = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== 'true').join(' and ');

/** The SQL condition in parentheses; undefined when it is always true. */
export const parenthesized = (sql: string | undefined): string | undefined =>
  sql === undefined || sql === 'true' ? undefined : `(${sql})`;

export const whereClause = (conditions: readonly (string | undefined)[]): string => {
  const sql = joinConditionsWithAnd(conditions);
  return sql === '' ? '' : ` where ${sql}`;
};
