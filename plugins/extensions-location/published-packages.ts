import type { BackedUpObjects } from '../backup/contract.ts';
import type { Db, Migration } from '../database/contract.ts';
import { quoteLiteral } from '../database/library.ts';
import { archiveObjectName } from './archive.ts';

const TABLE = 'platform_published_extensions';

/** A package that all processes run. */
export interface PublishedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the archive in storage, in hexadecimal. Its object is named by it. */
  readonly archive: string;
  /** SHA-256 over names and contents of its files. */
  readonly content: string;
}

/** Which packages are published. What is in storage counts only where this table names its checksum. */
export interface PublishedPackages {
  /** In the order of their names. */
  list(): Promise<readonly PublishedPackage[]>;
  /** Publishes a package in place of the one of its name. Answers the archives that no package has any more. */
  put(one: PublishedPackage): Promise<readonly string[]>;
  /** Undefined if no package of this name is published; else the archives that no package has any more. */
  remove(name: string): Promise<readonly string[] | undefined>;
}

export function publishedExtensionsMigration(db: Db): Migration {
  const table = db.own(TABLE);
  return {
    id: '2026-11-27-published-extensions',
    up: () =>
      db.ddl(
        db.sql`create table if not exists ${table} (
          name text primary key, version text not null, archive text not null, content text not null,
          published_on timestamptz not null default now())`,
      ),
  };
}

/** The archives in the location, for backups. */
export const createBackedUpPackages = (location: string): BackedUpObjects => {
  const [before = '', after = ''] = archiveObjectName('\0').split('\0');
  return {
    query: (table) =>
      `select distinct on (archive) ${quoteLiteral(location)} as location, ${quoteLiteral(before)} || archive || ${quoteLiteral(after)} as name, 'package ' || name as row,
      null::float8 as size, 'application/gzip' as type from ${table(TABLE)} order by archive`,
  };
};

export function createPublishedPackages(db: Pick<Db, 'query' | 'write' | 'sql' | 'transaction'>): PublishedPackages {
  const table = db.write(TABLE);
  const LIST = db.sql`select name, version, archive, content from ${table} order by name`;
  const FIND = db.sql`select archive from ${table} where name = $1 for update`;
  const IS_USED = db.sql`select 1 from ${table} where archive = $1`;
  const PUT = db.sql`insert into ${table} (name, version, archive, content) values ($1, $2, $3, $4)
    on conflict (name) do update set version = excluded.version, archive = excluded.archive, content = excluded.content,
      published_on = now()`;
  const REMOVE = db.sql`delete from ${table} where name = $1`;
  const archiveOf = async (name: string) =>
    (await db.query<{ archive: string }>(FIND, [name])).rows.map(({ archive }) => archive);
  const findUnused = async (archives: readonly string[]) => {
    const unused: string[] = [];
    for (const one of archives) if ((await db.query(IS_USED, [one])).rows.length === 0) unused.push(one);
    return unused;
  };
  return {
    list: async () => (await db.query<PublishedPackage>(LIST)).rows,
    put: ({ name, version, archive, content }) =>
      db.transaction(async () => {
        const before = await archiveOf(name);
        await db.query(PUT, [name, version, archive, content]);
        return findUnused(before);
      }),
    remove: (name) =>
      db.transaction(async () => {
        const before = await archiveOf(name);
        if (before.length === 0) return undefined;
        await db.query(REMOVE, [name]);
        return findUnused(before);
      }),
  };
}
