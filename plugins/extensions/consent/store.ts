import { asUnavailable, type Db } from '../../database/contract.ts';
import type { Grants } from '../confined/grants.ts';
import { grantsTable } from './migrations.ts';

/** What a package asks for: grants by contract key, and whether it keeps state between callers. */
export interface Asked {
  readonly entries: Readonly<Record<string, Grants>>;
  readonly stateful: boolean;
}

export interface Agreement {
  readonly version: string;
  readonly asked: Asked;
}

/** Agreements of all processes on this database, by package name. */
export interface Agreements {
  find(name: string): Promise<Agreement | undefined>;
  /** False where there is one already: of two processes that come first, one is. */
  first(name: string, agreement: Agreement): Promise<boolean>;
  /** What is asked now was allowed before, or somebody allows it: `by` null leaves who allowed it as it is. */
  put(name: string, agreement: Agreement, by: string | null): Promise<void>;
}

export function createAgreements(db: Pick<Db, 'query' | 'schemas'>): Agreements {
  const run = async (text: string, params: readonly unknown[]) => {
    try {
      return await db.query<Agreement>(text, params);
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  return {
    find: async (name) => (await run(`select version, asked from ${grantsTable(db)} where name = $1`, [name])).rows[0],
    async first(name, { version, asked }) {
      const { rows } = await run(
        `insert into ${grantsTable(db)} (name, version, asked) values ($1, $2, $3) on conflict (name) do nothing returning 1`,
        [name, version, JSON.stringify(asked)],
      );
      return rows.length > 0;
    },
    async put(name, { version, asked }, by) {
      await run(
        `insert into ${grantsTable(db)} as g (name, version, asked, agreed_by) values ($1, $2, $3, $4)
        on conflict (name) do update set version = excluded.version, asked = excluded.asked,
          agreed_by = coalesce(excluded.agreed_by, g.agreed_by),
          agreed_on = case when excluded.agreed_by is null then g.agreed_on else now() end`,
        [name, version, JSON.stringify(asked), by],
      );
    },
  };
}
