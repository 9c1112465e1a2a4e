import { setFlagsFromString } from 'node:v8';
import type { TableUse } from './contract.ts';

/** A table that a statement names, and how the statement uses it. */
export interface StatementTable {
  readonly schema: string | undefined;
  readonly name: string;
  readonly use: TableUse;
}

export interface ParsedStatement {
  /** The node type of PostgreSQL's parser: `SelectStmt`, `CreateStmt`, … */
  readonly kind: string;
  readonly tables: readonly StatementTable[];
  /** Names of the functions called, with their schema where the statement names one. */
  readonly functions: readonly string[];
  /** How often `OTHER_PLUGIN_SQL_PLACEHOLDER` is an expression. */
  readonly placeholders: number;
  /** `select … into`, which creates a table. */
  readonly createsTable: boolean;
}

/** Replaces text that another plugin created by `raw`: a column name, since an expression may stand there. */
export const OTHER_PLUGIN_SQL_PLACEHOLDER = 'sql_of_another_plugin';

type Node = Readonly<Record<string, unknown>>;
type Parser = (text: string) => { readonly stmts?: readonly { readonly stmt?: Node }[] };

let loading: Promise<Parser> | undefined;

/**
 * PostgreSQL's own parser as WebAssembly, loaded for the first statement that is parsed. It is not optimized after that:
 * V8 would take 500 MB for some seconds to optimize its largest function.
 */
async function loadParser(): Promise<Parser> {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
  const { loadModule, parseSync } = await import('libpg-query');
  await loadModule();
  return parseSync as Parser;
}

/** Parses the statements of a text. Rejects with the syntax error of PostgreSQL. */
export async function parseStatements(text: string): Promise<readonly ParsedStatement[]> {
  loading ??= loadParser();
  const { stmts = [] } = (await loading)(text);
  return stmts.map(({ stmt = {} }) => {
    const found: ParsedParts = { tables: [], functions: [], placeholders: 0, createsTable: false };
    visit(stmt, { names: new Set(), use: 'read' }, found);
    return { kind: Object.keys(stmt)[0] ?? '', ...found };
  });
}

interface ParsedParts {
  readonly tables: StatementTable[];
  readonly functions: string[];
  placeholders: number;
  createsTable: boolean;
}

interface VisitScope {
  /** Names of common table expressions, which hide tables of the same names. */
  readonly names: ReadonlySet<string>;
  /** How the statement uses the tables named here. */
  readonly use: TableUse;
}

/** How each kind of statement uses its target table. It reads all other tables. */
const TARGET_USES: Readonly<Record<string, TableUse>> = {
  InsertStmt: 'write',
  UpdateStmt: 'write',
  DeleteStmt: 'write',
  MergeStmt: 'write',
  TruncateStmt: 'write',
  LockStmt: 'write',
  CopyStmt: 'write',
  CreateTrigStmt: 'watch',
};
const TABLE_CHANGES = [
  'CreateStmt',
  'AlterTableStmt',
  'IndexStmt',
  'RenameStmt',
  'CreateTableAsStmt',
  'AlterObjectSchemaStmt',
];

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

function visit(node: unknown, scope: VisitScope, found: ParsedParts): void {
  if (Array.isArray(node)) for (const one of node) visit(one, scope, found);
  if (!isNode(node) || Array.isArray(node)) return;
  if (typeof node.relname === 'string') return void addTable(node, scope, found);
  if (Array.isArray(node.funcname)) found.functions.push(node.funcname.map(textOf).join('.'));
  if (isNode(node.intoClause)) found.createsTable = true;
  if (Array.isArray(node.fields) && textOf(node.fields.at(-1)) === OTHER_PLUGIN_SQL_PLACEHOLDER) found.placeholders++;
  const inner = visitExpressions(node, scope, found);
  for (const [key, value] of Object.entries(node)) {
    // `for update of` repeats aliases of tables that the statement names elsewhere.
    if (key === 'withClause' || key === 'lockedRels') continue;
    if (key in TARGET_USES) visitTarget(value as Node, TARGET_USES[key] as TableUse, inner, found);
    else if (TABLE_CHANGES.includes(key)) visit(value, { ...inner, use: 'own' }, found);
    else if (key === 'DropStmt' || key === 'CommentStmt') addObjects(value as Node, found);
    else if (key === 'SelectStmt' || key === 'pktable') visit(value, { ...inner, use: 'read' }, found);
    else visit(value, inner, found);
  }
}

/** Visits the target of a statement, which is always a table, also where a common table expression has its name. */
function visitTarget(node: Node, use: TableUse, scope: VisitScope, found: ParsedParts): void {
  const { relation, relations, ...rest } = node;
  for (const target of [relation, ...(Array.isArray(relations) ? relations : [])])
    visit(target, { names: new Set(), use }, found);
  visit(rest, { ...scope, use: 'read' }, found);
}

/** Visits the common table expressions of a statement, and answers the scope of the rest of it. */
function visitExpressions(node: Node, scope: VisitScope, found: ParsedParts): VisitScope {
  const clause = node.withClause as { readonly ctes?: readonly Node[]; readonly recursive?: boolean } | undefined;
  if (!clause) return scope;
  const all = (clause.ctes ?? []).map(({ CommonTableExpr }) => CommonTableExpr as Node);
  const names = new Set(scope.names);
  if (clause.recursive) for (const { ctename } of all) names.add(String(ctename));
  for (const { ctename, ...rest } of all) {
    visit(rest, { names: new Set(names), use: 'read' }, found);
    names.add(String(ctename));
  }
  return { ...scope, names };
}

function addTable(node: Node, { names, use }: VisitScope, found: ParsedParts): void {
  const { catalogname, schemaname, relname } = node;
  if (catalogname === undefined && schemaname === undefined && names.has(String(relname))) return;
  const schema = [catalogname, schemaname].filter((one) => one !== undefined).join('.');
  found.tables.push({ schema: schema === '' ? undefined : schema, name: String(relname), use });
}

/** `drop` and `comment` name objects by lists: schema and table, or schema, table and trigger. */
function addObjects({ objects, object, removeType, objtype }: Node, found: ParsedParts): void {
  const type = removeType ?? objtype;
  if (type !== 'OBJECT_TABLE' && type !== 'OBJECT_TRIGGER') return;
  for (const one of Array.isArray(objects) ? objects : [object]) {
    const { items = [] } = ((one as Node).List ?? {}) as { readonly items?: readonly unknown[] };
    const names = items.map(textOf);
    if (type === 'OBJECT_TRIGGER') names.pop();
    const name = names.pop();
    if (name === undefined) continue;
    const schema = names.length > 0 ? names.join('.') : undefined;
    found.tables.push({ schema, name, use: type === 'OBJECT_TRIGGER' ? 'watch' : 'own' });
  }
}

const textOf = (node: unknown): string =>
  String(((node as Node).String as { sval?: unknown } | undefined)?.sval ?? '?');
