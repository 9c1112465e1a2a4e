import type { Db } from '../database/contract.ts';
import { toUnavailableOnDatabaseOutage } from '../database/library.ts';
import { EXTENSION_REQUIREMENTS_TABLE } from './migrations.ts';

/** What is stored about one package, for all processes on this database. */
export interface PackageRequirement {
  readonly name: string;
  /** The id of the package when it was last on disk. */
  readonly place: string;
  /** An admin's decision; null without one. */
  readonly decision: boolean | null;
  /** Whether the manifest says `required`. */
  readonly declared: boolean;
  /** Events that the package filters; null if they are not known. */
  readonly filters: readonly string[] | null;
}

export interface RequirementStore {
  all(): Promise<readonly PackageRequirement[]>;
  put(one: PackageRequirement): Promise<void>;
  /** Writes only the decision, so that another process's other members stay. */
  putDecision(one: PackageRequirement): Promise<void>;
  remove(name: string): Promise<void>;
}

export function createRequirementStore(db: Pick<Db, 'query' | 'write' | 'sql'>): RequirementStore {
  const table = db.write(EXTENSION_REQUIREMENTS_TABLE);
  const ALL = db.sql`select name, place, decision, declared, filters from ${table}`;
  const PUT = db.sql`insert into ${table} (name, place, decision, declared, filters) values ($1, $2, $3, $4, $5)
    on conflict (name) do update set place = excluded.place, declared = excluded.declared, filters = excluded.filters`;
  const DECIDE = db.sql`insert into ${table} (name, place, decision, declared, filters) values ($1, $2, $3, $4, $5)
    on conflict (name) do update set decision = excluded.decision`;
  const REMOVE = db.sql`delete from ${table} where name = $1`;
  const run = async (statement: typeof ALL, params: readonly unknown[]) => {
    try {
      return await db.query<PackageRequirement>(statement, params);
    } catch (error) {
      throw toUnavailableOnDatabaseOutage(error);
    }
  };
  const toParameters = ({ name, place, decision, declared, filters }: PackageRequirement) => [
    name,
    place,
    decision,
    declared,
    filters,
  ];
  return {
    all: async () => (await run(ALL, [])).rows,
    put: async (one) => void (await run(PUT, toParameters(one))),
    putDecision: async (one) => void (await run(DECIDE, toParameters(one))),
    remove: async (name) => void (await run(REMOVE, [name])),
  };
}
