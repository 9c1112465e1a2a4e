import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseGrant, DENIED_ACTIONS, isGranted } from '../../plugins/database/grant.ts';
import type { ObservedStatement } from '../../plugins/database/library.ts';
import { type NamedTable, parseStatements } from '../../plugins/database/parse-statement.ts';
import { pluginFolders } from './manifests.ts';

export interface GrantReport {
  /** Statements that name what their plugin's manifest does not grant. */
  readonly undeclared: readonly string[];
  /** Parts of grants that no statement needed. */
  readonly idle: readonly string[];
}

/** A table that a plugin used, and how. */
interface Use {
  readonly plugin: string;
  readonly table: string;
  readonly use: NamedTable['use'];
}

/** The schema of tests is the first one of `DB_SCHEMAS`, whatever it is called; these are PostgreSQL's own. */
const CATALOG = ['pg_catalog', 'information_schema'];

/** Compares the statements that processes of a test run wrote down with the manifests of the product's plugins. */
export async function compareGrants(folder: string): Promise<GrantReport> {
  const manifests = new Map(
    pluginFolders().flatMap(({ name, manifest }) => {
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
        if (isCatalog(schema, name)) continue;
        uses.push({ plugin, table: name, use });
        if (!isGranted(grant, name, use) && grant.sql === undefined)
          undeclared.add(`${plugin} may not ${DENIED_ACTIONS[use](name)}, and runs: ${text}`);
      }
  }
  return {
    undeclared: [...undeclared].sort(),
    idle: [...manifests].flatMap(([name, grant]) => findUnusedGrants(name, grant, uses, plain)),
  };
}

/** Reading the catalog is not granted table by table: names in it are no secret to core plugins. */
const isCatalog = (schema: string | undefined, name: string): boolean =>
  CATALOG.includes(schema ?? '') || (schema === undefined && name.startsWith('pg_'));

function readRecordedStatements(folder: string): readonly ObservedStatement[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return [...new Set(lines)].filter((line) => line !== '').map((line) => JSON.parse(line));
}

const NEEDED: Readonly<Record<'own' | 'read' | 'write' | 'watch', readonly NamedTable['use'][]>> = {
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
  return grant.sql !== undefined && !plain.has(name)
    ? [...idle, `${name} declares database.sql, and no plain text needs it`]
    : idle;
}

/** Tables of a statement; of a function also those that its body names. */
async function tablesIn(text: string): Promise<readonly NamedTable[]> {
  const parsed = await parseStatements(text);
  const own = parsed.flatMap(({ tables }) => tables);
  if (!parsed.some(({ kind }) => kind === 'CreateFunctionStmt')) return own;
  const { parsePlPgSQLSync } = await import('libpg-query');
  const inner: NamedTable[] = [];
  for (const query of queriesOf(parsePlPgSQLSync(text))) {
    // The body also has expressions and assignments, which are no statements of their own.
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
