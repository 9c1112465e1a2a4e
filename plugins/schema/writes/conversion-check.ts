import { type Db, DISABLE_STATEMENT_TIMEOUT_SQL } from '../../database/contract.ts';
import { quoteLiteral } from '../../database/library.ts';
import type { ConversionCheck } from '../contract.ts';
import type { ColumnConversion } from './write-deps-and-guards.ts';

/**
 * Counts the rows of a column that do not convert to another type. The statement itself would stop at the first of them, so it is
 * recorded and not run where there are any.
 */
export const createConversionCheck =
  (db: Pick<Db, 'ddl' | 'query'>, statements: string[], conversions: ConversionCheck[]) =>
  async (conversion: ColumnConversion): Promise<boolean> => {
    const { collection, field, table, column, from, to, cast } = conversion;
    await db.ddl(renderConversionFunction(conversion));
    await db.query(DISABLE_STATEMENT_TIMEOUT_SQL);
    const { rows } = await db.query<{ filled: string; failing: string }>(
      `select count(${column}) as filled, count(${column}) filter (where not pg_temp.platform_converts(${column})) as failing from ${table}`,
    );
    await db.ddl(`drop function pg_temp.platform_converts(${from})`);
    const failing = Number(rows[0]?.failing);
    conversions.push({ collection, field, from, to, rows: Number(rows[0]?.filled), failing });
    if (failing > 0) statements.push(`alter table ${table} alter column ${column} type ${to} using ${column}::${cast}`);
    return failing === 0;
  };

/** A function that does with one value what the statement does with all, and answers whether it succeeds. */
function renderConversionFunction({ from, to, cast }: ColumnConversion): string {
  const body = `declare
  converted ${to};
begin
  converted := source::${cast};
  return true;
exception when others then
  return false;
end`;
  return `create function pg_temp.platform_converts(source ${from}) returns boolean language plpgsql as ${quoteLiteral(body)}`;
}
