import type { Db, Statement, Table, TableUse } from './contract.ts';
import { allows, type DatabaseGrant, grants, REFUSED } from './grant.ts';
import { identifier, literal } from './library.ts';
import { FOREIGN_SQL } from './parse-statement.ts';

/** A part of a statement: a text, a table, or text that a holder of `sql` made. */
type Piece = string | Table | RawText;
interface RawText {
  readonly raw: string;
}

interface MadeStatement {
  readonly owner: object;
  readonly pieces: readonly Piece[];
  /** Its text without what other plugins made by `raw`: what the owner's grant has to allow. */
  readonly checked: string;
}

/** Handles and statements that were made here, and by which plugin. An object that looks like one is not among them. */
export interface MadeParts {
  readonly tables: WeakMap<object, object>;
  readonly statements: WeakMap<object, MadeStatement>;
}

export const createMadeParts = (): MadeParts => ({ tables: new WeakMap(), statements: new WeakMap() });

export type Templates = Pick<Db, 'read' | 'write' | 'own' | 'watch' | 'sql' | 'name' | 'literal' | 'raw'> & {
  /** What the grant has to allow of a statement: its text without what other plugins made by `raw`. */
  checkedText(statement: Statement): string;
  /** Throws where the plugin may not run plain text. */
  assertPlain(): void;
};

interface Options {
  readonly grant: DatabaseGrant;
  readonly schema: string;
  readonly made: MadeParts;
  readonly deny: (what: string) => Error;
}

/** The templates of one plugin. Everything here happens once a statement, while the plugin registers. */
export function createTemplates({ grant, schema, made, deny }: Options): Templates {
  const owner = {};
  const full = grant.sql !== undefined;

  function handle(name: string, use: TableUse): Table {
    if (!grants(grant, name, use)) throw deny(REFUSED[use](name));
    const text = `${identifier(schema)}.${identifier(name)}`;
    const table: Table = Object.freeze({ name, use, toString: () => text });
    made.tables.set(table, owner);
    return table;
  }

  function build(pieces: readonly Piece[]): Statement {
    let text = '';
    let checked = '';
    for (const piece of pieces) {
      if (typeof piece === 'string' || !('raw' in piece)) {
        if (typeof piece !== 'string') assertUse(piece, checked, deny);
        text += String(piece);
        checked += String(piece);
      } else {
        text += piece.raw;
        checked += ` ${FOREIGN_SQL} `;
      }
    }
    const statement: Statement = Object.freeze({ text });
    made.statements.set(statement, { owner, pieces, checked });
    return statement;
  }

  function piecesOf(part: unknown): readonly Piece[] {
    if (typeof part === 'object' && part !== null) {
      if (made.tables.get(part) === owner) return [part as Table];
      const known = made.statements.get(part);
      if (known?.owner === owner) return known.pieces;
      if (known?.pieces.every((piece) => typeof piece === 'object' && 'raw' in piece)) return known.pieces;
    }
    throw deny('put anything into a statement but its own tables and statements');
  }

  const assertPlain = (): void => {
    if (!full) throw deny('run any statement');
  };

  const known = (statement: Statement): MadeStatement => {
    const found = made.statements.get(statement);
    if (!found || (found.owner !== owner && !full)) throw deny('run a statement that it did not make by db.sql');
    return found;
  };

  return {
    read: (name) => handle(name, 'read'),
    write: (name) => handle(name, 'write'),
    own: (name) => handle(name, 'own'),
    watch: (name) => handle(name, 'watch'),
    sql(texts, ...parts) {
      if (!Array.isArray(texts) || !Object.isFrozen(texts) || !('raw' in texts) || parts.length !== texts.length - 1)
        throw deny('make a statement but by the template db.sql`…`');
      return build(texts.flatMap((text, at) => [text, ...(at < parts.length ? piecesOf(parts[at]) : [])]));
    },
    name: (text) => build([identifier(String(text))]),
    literal: (text) => build([literal(String(text))]),
    raw(text) {
      assertPlain();
      return build([{ raw: String(text) }]);
    },
    checkedText: (statement) => known(statement).checked,
    assertPlain,
  };
}

/** What a table is the target of, by the words before it. */
const TARGETS: readonly (readonly [use: TableUse, before: RegExp])[] = [
  ['watch', /\b(create\s+(or\s+replace\s+)?trigger|drop\s+trigger)\b[^;]*\bon\s*$/i],
  ['own', /\bcreate\s+(unique\s+)?index\b[^;]*\bon\s*$/i],
  ['own', /\b(create|alter|drop)\s+table(\s+if\s+(not\s+)?exists)?(\s+only)?\s*$/i],
  ['own', /\bcomment\s+on\s+table\s*$/i],
  ['write', /\b(insert\s+into|delete\s+from|merge\s+into|update|truncate|lock)(\s+table)?(\s+only)?\s*$/i],
];

function assertUse({ name, use }: Table, before: string, deny: Options['deny']): void {
  const words = before.slice(-1000).replaceAll(/--[^\n]*\n|\/\*[\s\S]*?\*\//g, ' ');
  const target = TARGETS.find(([, pattern]) => pattern.test(words))?.[0] ?? 'read';
  if (!allows(use, target)) throw deny(`${REFUSED[target](name)} by a handle of db.${use}`);
}
