import { readFile } from 'node:fs/promises';
import { Failure } from '#kernel';
import type { Permission, PermissionSet } from '../../../plugins/access/contract.ts';
import { createFieldVisibility } from '../../../plugins/access/readable-fields.ts';
import { restrictReadByPermissions } from '../../../plugins/access/restrict/read.ts';
import { createPermissionRowRules } from '../../../plugins/access/restrict/row-rules.ts';
import type {
  DynamicValue,
  GroupSelection,
  ParseOptions,
  PermissionRestricted,
  PreparedStatement,
  RawQuery,
  ReadNode,
  ReadResultText,
  RowSelection,
} from '../../../plugins/query/contract.ts';
import { timestampOfNowOffset } from '../../../plugins/query/library.ts';
import type { Collection, SchemaOverview } from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createPermissionSet } from '../../support/permissions.ts';
import { createQueryEngine, TEST_QUERY_CEILINGS, type TestQueryCeilings } from './query-engine.ts';
import { buildSketchedSchema, renderCreateTables, type SchemaSketch } from './schema-sketch.ts';

/** One test case of the query engine: the content of `query.json` in its folder. */
export interface QueryCase {
  /** The rules of the query language, by their names in `rows.json`, that the case covers. */
  readonly row: string | readonly string[];
  readonly schema: string;
  readonly collection: string;
  readonly query: RawQuery;
  readonly caller?: { readonly user: string | null; readonly role: string | null };
  /** Read permissions of the caller by collection; without them the caller is an admin. */
  readonly rules?: Readonly<Record<string, Rule | readonly Rule[]>>;
  readonly ceilings?: Partial<TestQueryCeilings>;
  readonly single?: boolean;
  readonly keys?: readonly (string | number)[];
  readonly unlimited?: boolean;
}

interface Rule {
  readonly fields: readonly string[];
  readonly filter?: Record<string, unknown>;
}

/** The value of `$NOW` in every test. */
export const FIXED_NOW = new Date('2022-06-15T12:00:00.000Z');

const folder = new URL('./schemas/', import.meta.url);

export interface QueryTestDatabase {
  readonly schema: SchemaOverview;
  readonly database: FreshDatabase;
}

const readSketch = async (name: string): Promise<SchemaSketch> =>
  JSON.parse(await readFile(new URL(`${name}/schema.json`, folder), 'utf8'));

/** Creates a database with the tables and rows of a folder in `schemas/`. */
export async function createQueryTestDatabase(name: string): Promise<QueryTestDatabase> {
  const tables = await readSketch(name);
  const database = await freshDatabase(`query_${name}`);
  await database.query(renderCreateTables(tables));
  await database.query(await readFile(new URL(`${name}/rows.sql`, folder), 'utf8'));
  return { schema: buildSketchedSchema(tables), database };
}

type CaseQuery = Omit<QueryCase, 'row' | 'schema'>;

/** Builds the read permissions of the caller of a query case. */
export const createQueryCasePermissions = ({ rules }: CaseQuery): PermissionSet =>
  createPermissionSet(rules ? createPermissionRows(rules) : 'admin');

/** Parses the query of a case, or a selection in its place, adds the permissions, and compiles it to a statement. */
export function compileCaseToSql(
  one: CaseQuery,
  schema: SchemaOverview,
  selection?: RowSelection | GroupSelection,
): PreparedStatement {
  const engine = createQueryEngine({ ...TEST_QUERY_CEILINGS, ...one.ceilings });
  const collection = schema.collections.get(one.collection) as Collection;
  const set = one.rules && createQueryCasePermissions(one);
  const { single, keys, unlimited } = one;
  const options: ParseOptions = {
    schema,
    single,
    keys,
    unlimited,
    isVisible: set && createFieldVisibility(set),
    selection,
  };
  const tree = engine.parse(collection, one.query, options);
  const read = set ? restrictReadByPermissions(tree, { set, schema, rules: createPermissionRowRules(engine) }) : tree;
  return engine.prepare(read as PermissionRestricted<ReadNode>, schema);
}

const createPermissionRows = (rules: NonNullable<QueryCase['rules']>): readonly Permission[] =>
  Object.entries(rules).flatMap(([collection, some]) =>
    [some].flat().map(
      ({ fields, filter = null }): Permission => ({
        collection,
        action: 'read',
        rule: filter,
        validation: null,
        presets: null,
        fields,
      }),
    ),
  );

export interface QueryCaseAnswer {
  readonly data?: unknown;
  readonly meta?: unknown;
  readonly error?: { readonly code: string; readonly path?: unknown };
}

/** Runs the statement of a query case and returns `data` and `meta` as JSON texts from PostgreSQL. */
export async function runCaseAsJsonText(
  one: CaseQuery,
  { schema, database }: QueryTestDatabase,
  selection?: RowSelection | GroupSelection,
): Promise<ReadResultText> {
  const prepared = compileCaseToSql(one, schema, selection);
  const { user = null, role = null } = one.caller ?? {};
  const statement = { ...prepared, params: prepared.params.map(resolveNow) };
  return createQueryEngine(TEST_QUERY_CEILINGS, database).run(statement as PreparedStatement, { user, role });
}

/** Runs a query case and returns its answer, or the code and path of its Failure. Other errors are thrown. */
export async function runQueryCase(one: CaseQuery, ground: QueryTestDatabase): Promise<QueryCaseAnswer> {
  try {
    const { data, meta } = await runCaseAsJsonText(one, ground);
    return { data: JSON.parse(data ?? 'null'), ...(meta ? { meta: JSON.parse(meta) } : {}) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const path = (error.extensions as { path?: unknown } | undefined)?.path;
    return { error: { code: error.code, ...(path === undefined ? {} : { path }) } };
  }
}

/** Replaces a parameter that stands for `$NOW` by the fixed time of the tests. */
function resolveNow(param: unknown): unknown {
  const value = (param as { runtimeValue?: DynamicValue } | null)?.runtimeValue;
  return value?.dynamic === 'now' ? timestampOfNowOffset(value, FIXED_NOW) : param;
}
