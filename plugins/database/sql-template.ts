import type { Db, GrantedSqlStatement, TableHandle, TableUse } from './contract.ts';
import { type DatabaseGrant, isTableGranted, TABLE_DENIAL_TEXTS, tableHandleAllowsUse } from './grant.ts';
import { quoteIdentifier, quoteLiteral } from './library.ts';
import { OTHER_PLUGIN_SQL_PLACEHOLDER } from './parse-statement.ts';

/** A part of a statement: a text, a table handle, or text created by `raw`. */
type StatementPart = string | TableHandle | RawText;
interface RawText {
  readonly raw: string;
}

interface RegisteredStatement {
  readonly owner: object;
  readonly parts: readonly StatementPart[];
  /** The text that the owner's grant has to allow: without the texts that other plugins created by `raw`. */
  readonly checked: string;
}

/** Handles and statements that this module created, with their plugin. A look-alike object is not registered. */
export interface SqlHandleRegistry {
  readonly tables: WeakMap<object, object>;
  readonly statements: WeakMap<object, RegisteredStatement>;
}

export const createSqlHandleRegistry = (): SqlHandleRegistry => ({ tables: new WeakMap(), statements: new WeakMap() });

export type PluginSqlTemplateFunctions = Pick<
  Db,
  'read' | 'write' | 'own' | 'watch' | 'sql' | 'name' | 'literal' | 'raw'
> & {
  /** The text that the grant has to allow: without the texts that other plugins created by `raw`. */
  checkedText(statement: GrantedSqlStatement): string;
  /** @throws CAPABILITY_DENIED without the grant `sql` or `schema`; under `schema` the text is parsed and checked before it runs. */
  assertPlainTextAllowed(): void;
};

interface TemplateOptions {
  readonly grant: DatabaseGrant;
  readonly schema: string;
  readonly handles: SqlHandleRegistry;
  readonly deny: (what: string) => Error;
}

/** Creates `db.sql`, the table handles and `db.raw` of one plugin. Templates run once a statement, while the plugin registers. */
export function createPluginSqlTemplateFunctions({
  grant,
  schema,
  handles,
  deny,
}: TemplateOptions): PluginSqlTemplateFunctions {
  const owner = {};
  const runsAnyStatement = grant.sql !== undefined;

  function createHandle(name: string, use: TableUse): TableHandle {
    if (!isTableGranted(grant, name, use)) throw deny(TABLE_DENIAL_TEXTS[use](name));
    const text = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
    const table: TableHandle = Object.freeze({ name, use, toString: () => text });
    handles.tables.set(table, owner);
    return table;
  }

  function createStatement(parts: readonly StatementPart[]): GrantedSqlStatement {
    let text = '';
    let checked = '';
    for (const part of parts) {
      if (typeof part === 'string' || !('raw' in part)) {
        if (typeof part !== 'string') assertHandleAllows(part, checked, deny);
        text += String(part);
        checked += String(part);
      } else {
        text += part.raw;
        checked += ` ${OTHER_PLUGIN_SQL_PLACEHOLDER} `;
      }
    }
    const statement: GrantedSqlStatement = Object.freeze({ text });
    handles.statements.set(statement, { owner, parts, checked });
    return statement;
  }

  function toParts(part: unknown): readonly StatementPart[] {
    if (typeof part === 'object' && part !== null) {
      if (handles.tables.get(part) === owner) return [part as TableHandle];
      const registered = handles.statements.get(part);
      if (registered?.owner === owner) return registered.parts;
      if (registered?.parts.every((one) => typeof one === 'object' && 'raw' in one)) return registered.parts;
    }
    throw deny('interpolate anything but its own tables and statements');
  }

  const assertPlainTextAllowed = (): void => {
    if (!runsAnyStatement && grant.schema === undefined) throw deny('run any statement');
  };

  const findStatement = (statement: GrantedSqlStatement): RegisteredStatement => {
    const found = handles.statements.get(statement);
    if (!found || (found.owner !== owner && !runsAnyStatement))
      throw deny('run a statement that it did not create by db.sql');
    return found;
  };

  return {
    read: (name) => createHandle(name, 'read'),
    write: (name) => createHandle(name, 'write'),
    own: (name) => createHandle(name, 'own'),
    watch: (name) => createHandle(name, 'watch'),
    sql(texts, ...parts) {
      if (!Array.isArray(texts) || !Object.isFrozen(texts) || !('raw' in texts) || parts.length !== texts.length - 1)
        throw deny('create a statement without the template db.sql`…`');
      return createStatement(texts.flatMap((text, at) => [text, ...(at < parts.length ? toParts(parts[at]) : [])]));
    },
    name: (text) => createStatement([quoteIdentifier(String(text))]),
    literal: (text) => createStatement([quoteLiteral(String(text))]),
    raw(text) {
      if (!runsAnyStatement) throw deny('run any statement');
      return createStatement([{ raw: String(text) }]);
    },
    checkedText: (statement) => findStatement(statement).checked,
    assertPlainTextAllowed,
  };
}

/** How a statement uses a table, by the words before it. */
const TARGET_PATTERNS: readonly (readonly [use: TableUse, before: RegExp])[] = [
  ['watch', /\b(create\s+(or\s+replace\s+)?trigger|drop\s+trigger)\b[^;]*\bon\s*$/i],
  ['own', /\bcreate\s+(unique\s+)?index\b[^;]*\bon\s*$/i],
  ['own', /\b(create|alter|drop)\s+table(\s+if\s+(not\s+)?exists)?(\s+only)?\s*$/i],
  ['own', /\bcomment\s+on\s+table\s*$/i],
  ['write', /\b(insert\s+into|delete\s+from|merge\s+into|update|truncate|lock)(\s+table)?(\s+only)?\s*$/i],
];

function assertHandleAllows({ name, use }: TableHandle, before: string, deny: TemplateOptions['deny']): void {
  const words = before.slice(-1000).replaceAll(/--[^\n]*\n|\/\*[\s\S]*?\*\//g, ' ');
  const target = TARGET_PATTERNS.find(([, pattern]) => pattern.test(words))?.[0] ?? 'read';
  if (!tableHandleAllowsUse(use, target)) throw deny(`${TABLE_DENIAL_TEXTS[target](name)} by a handle of db.${use}`);
}
