import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseGrant, isTableGranted, TABLE_DENIAL_TEXTS } from '../../plugins/database/grant.ts';
import type { ObservedStatement } from '../../plugins/database/library.ts';
import { parseStatements, type StatementTable } from '../../plugins/database/parse-statement.ts';
import { readCorePluginFolders } from './plugin-folders.ts';

export interface DatabaseGrantReport {
  /** Statements with tables that the database grant of their plugin does not cover. */
  readonly undeclared: readonly string[];
  /** Parts of database grants that no recorded statement needed. */
  readonly idle: readonly string[];
}

/** A table that a plugin used, and how. */
interface Use {
  readonly plugin: string;
  readonly table: string;
  readonly use: StatementTable['use'];
}

/** Schemas of PostgreSQL itself, which need no grant. */
const CATALOG = ['pg_catalog', 'information_schema'];

/** Compares the statements that the processes of a test run recorded with the database grants of the core plugins. */
export async function compareStatementsWithGrants(folder: string): Promise<DatabaseGrantReport> {
  const manifests = new Map(
    readCorePluginFolders().flatMap(({ name, manifest }) => {
      const grant = manifest.capabilities?.database as DatabaseGrant | undefined;
      return grant ? [[name, grant] as const] : [];
    }),
  );
  const undeclared = new Set<string>();
  const uses: Use[] = [];
  const plain = new Set<string>();
  for (const { plugin, kind, text } of readRecordedStatements(folder)) {
    const grant = manifests.get(plugin);
    if (!grant) continue;
    if (kind === 'plain') plain.add(plugin);
    else
      for (const { schema, name, use } of await tablesIn(text)) {
        if (isCatalog(schema, name) || (schema !== undefined && schema === grant.schema)) continue;
        uses.push({ plugin, table: name, use });
        if (!isTableGranted(grant, name, use) && grant.sql === undefined)
          undeclared.add(`${plugin} may not ${TABLE_DENIAL_TEXTS[use](name)}, and runs: ${text}`);
      }
  }
  return {
    undeclared: [...undeclared].sort(),
    idle: [...manifests].flatMap(([name, grant]) => findUnusedGrants(name, grant, uses, plain)),
  };
}

/** Whether a table belongs to the catalog, for which core plugins need no grant. */
const isCatalog = (schema: string | undefined, name: string): boolean =>
  CATALOG.includes(schema ?? '') || (schema === undefined && name.startsWith('pg_'));

function readRecordedStatements(folder: string): readonly ObservedStatement[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return [...new Set(lines)].filter((line) => line !== '').map((line) => JSON.parse(line));
}

const NEEDED: Readonly<Record<'own' | 'read' | 'write' | 'watch', readonly StatementTable['use'][]>> = {
  own: ['read', 'write', 'own', 'watch'],
  read: ['read'],
  write: ['write'],
  watch: ['watch'],
};

function findUnusedGrants(
  name: string,
  grant: DatabaseGrant,
  uses: readonly Use[],
  plain: ReadonlySet<string>,
): readonly string[] {
  const lists = ['own', 'read', 'write', 'watch'] as const;
  const idle = lists.flatMap((list) =>
    (grant[list] ?? [])
      .filter(
        (table) => !uses.some((one) => one.plugin === name && one.table === table && NEEDED[list].includes(one.use)),
      )
      .map((table) => `${name} declares database.${list} ${table}, and no statement needs it`),
  );
  const plainGrants = (['sql', 'schema'] as const).filter((member) => grant[member] !== undefined && !plain.has(name));
  return [...idle, ...plainGrants.map((member) => `${name} declares database.${member}, and no plain text needs it`)];
}

/** Parses the tables that a statement names; for `create function` also those in its body. */
async function tablesIn(text: string): Promise<readonly StatementTable[]> {
  const parsed = await parseStatements(text);
  const own = parsed.flatMap(({ tables }) => tables);
  if (!parsed.some(({ kind }) => kind === 'CreateFunctionStmt')) return own;
  const { parsePlPgSQLSync } = await import('libpg-query');
  const inner: StatementTable[] = [];
  for (const query of queriesOf(parsePlPgSQLSync(text))) {
    // The body also has expressions and assignments, which parse only behind `select`.
    const statements = await parseStatements(query).catch(() => parseStatements(`select ${query}`).catch(() => []));
    inner.push(...statements.flatMap(({ tables }) => tables));
  }
  return [...own, ...inner];
}

function queriesOf(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { query } = node as { readonly query?: unknown };
  return [...(typeof query === 'string' ? [query] : []), ...Object.values(node).flatMap(queriesOf)];
}
