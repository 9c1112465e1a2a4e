import { type Db, identifier, type Migration } from '../../database/contract.ts';

const table = (db: Pick<Db, 'schemas'>): string => `${identifier(db.schemas[0] as string)}.platform_extension_ticks`;

/** When each schedule ran last: what processes of one cluster agree by. */
export const extensionTicks: Migration = {
  id: '2026-11-21-extension-ticks',
  async up(db) {
    await db.query(`create table if not exists ${table(db)} (schedule text primary key, tick timestamptz not null)`);
  },
};

/** Of all processes that reach this tick one is told true; a later tick that has run already leaves it out. */
export async function claimTick(db: Pick<Db, 'query' | 'schemas'>, schedule: string, tick: Date): Promise<boolean> {
  const { rows } = await db.query(
    `insert into ${table(db)} as t (schedule, tick) values ($1, $2)
    on conflict (schedule) do update set tick = excluded.tick where t.tick < excluded.tick returning 1`,
    [schedule, tick],
    { name: 'extension_tick' },
  );
  return rows.length > 0;
}
