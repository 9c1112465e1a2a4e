import type { DatabaseGrant } from './grant.ts';
import { isTableGranted, TABLE_DENIAL_TEXTS } from './grant.ts';
import { OTHER_PLUGIN_SQL_PLACEHOLDER, type ParsedStatement, parseStatements } from './parse-statement.ts';

/**
 * Checks a statement against the grant of its plugin.
 * @throws CAPABILITY_DENIED where the grant does not allow the statement
 */
export type StatementGrantCheck = (text: string, kind: 'query' | 'ddl') => Promise<void>;

interface StatementCheckOptions {
  readonly grant: DatabaseGrant;
  readonly schema: string;
  readonly deny: (what: string) => Error;
}

const CACHE_SIZE = 500;
const QUERY_KINDS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'];
const CHANGE_KINDS = ['CreateStmt', 'AlterTableStmt', 'IndexStmt', 'DropStmt'];

/**
 * Functions that run text, reach files, other databases or connections, or change state that outlives the statement.
 */
const REFUSED_FUNCTIONS =
  /^(pg_|query_to_|cursor_to_|table_to_|schema_to_|database_to_|dblink|lo_|lo(read|write)$|set_config$|setval$|nextval$|ts_stat$|ts_rewrite$|crosstab|connectby|xpath_table|binary_upgrade_|current_setting$|txid_snapshot)/;
const HARMLESS_FUNCTIONS = ['pg_typeof', 'pg_column_size', 'pg_client_encoding'];

/**
 * For third-party plugins, and for core plugins with a schema of their own: PostgreSQL's own parser parses each statement before it runs the first time, so that the
 * text between the handles can name no other table and run no other kind of statement.
 */
export function createStatementGrantCheck({ grant, schema, deny }: StatementCheckOptions): StatementGrantCheck {
  const checks = new Map<string, Promise<void>>();

  async function check(text: string, kind: 'query' | 'ddl'): Promise<void> {
    const parsed = await parseStatements(text).catch((error) => {
      throw deny(`run a statement that cannot be parsed: ${(error as Error).message}`);
    });
    const [one] = parsed;
    if (!one || parsed.length !== 1) throw deny(`run ${parsed.length} statements as one`);
    if (!(kind === 'query' ? QUERY_KINDS : CHANGE_KINDS).includes(one.kind) || one.createsTable)
      throw deny(`run a statement of the kind ${one.kind}${one.createsTable ? ' that makes a table' : ''}`);
    // In a string or a comment the text of the other plugin would not be an expression.
    if (text.split(OTHER_PLUGIN_SQL_PLACEHOLDER).length - 1 !== one.placeholders)
      throw deny('interpolate the text of another plugin outside the place of an expression');
    checkTables(one);
    for (const name of one.functions) {
      const [functionName = name, from] = name.split('.').reverse();
      if (from !== undefined && from !== 'pg_catalog' && from !== grant.schema) throw deny(`call the function ${name}`);
      if (REFUSED_FUNCTIONS.test(functionName) && !HARMLESS_FUNCTIONS.includes(functionName))
        throw deny(`call the function ${functionName}`);
    }
  }

  function checkTables({ tables, kind }: ParsedStatement): void {
    // `drop index` and the like name no table, so the grant cannot cover them.
    if (kind === 'DropStmt' && !tables.some(({ use }) => use === 'own')) throw deny('drop anything but its own tables');
    for (const table of tables) {
      if (grant.schema !== undefined && table.schema === grant.schema) continue;
      if (table.schema !== undefined && table.schema !== schema) throw deny(`use the schema ${table.schema}`);
      if (!isTableGranted(grant, table.name, table.use)) throw deny(TABLE_DENIAL_TEXTS[table.use](table.name));
    }
  }

  return (text, kind) => {
    const key = `${kind} ${text}`;
    const cached = checks.get(key);
    if (cached) return cached;
    if (checks.size >= CACHE_SIZE) checks.clear();
    const result = check(text, kind);
    checks.set(key, result);
    return result;
  };
}
