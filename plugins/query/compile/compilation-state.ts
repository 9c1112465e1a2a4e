import type { Collection, Column, Field, SchemaOverview } from '../../schema/contract.ts';
import type { BoundPlaceholderValue, ConditionTree, DynamicValue } from '../contract.ts';
import { keyTextSql } from './key.ts';
import type { ReachableRowTables } from './reachable.ts';

/** A parameter whose value is resolved when the statement runs. */
export interface RuntimeParameter {
  readonly runtimeValue: DynamicValue;
  /** Converts the value of a placeholder to the value of the parameter. */
  readonly convert?: (value: BoundPlaceholderValue) => unknown;
}

export const isRuntimeParameter = (param: unknown): param is RuntimeParameter =>
  typeof param === 'object' && param !== null && 'runtimeValue' in param;

/** Compiles a condition on the row `alias`: `whereSql` of `where.ts`. */
export type WhereCompiler = (statement: CompilationState, alias: string, where: ConditionTree) => string;

/**
 * The state of one compilation: assigns parameter numbers and table aliases. Compiled fragments are plain text. Identifiers come from
 * the schema snapshot, and values are always parameters. It holds the compiler of conditions, because the modules that `where.ts`
 * imports compile conditions as well.
 */
export class CompilationState {
  readonly schema: SchemaOverview;
  readonly params: unknown[] = [];
  /** The tables and views that the statement reads, as quoted names with their schemas. */
  readonly tables = new Set<string>();
  /** The expressions of the `with` clause of a whole read; undefined for a condition in the statement of another plugin. */
  reachableRowTables: ReachableRowTables | undefined;
  readonly #whereSql: WhereCompiler;
  readonly #first: number;
  #aliases = 0;

  constructor(schema: SchemaOverview, whereSql: WhereCompiler, first = 1) {
    this.schema = schema;
    this.#whereSql = whereSql;
    this.#first = first;
  }

  param(value: unknown, type: string): string {
    this.params.push(value);
    return `$${this.params.length + this.#first - 1}::${type}`;
  }

  alias(): string {
    return `t${++this.#aliases}`;
  }

  /** The quoted name of a table that the statement reads. @throws Error for a collection without a table */
  table(table: Collection['table']): string {
    const name = tableSql(table);
    this.tables.add(name);
    return name;
  }

  /** A condition on the row `alias`; `true` when it always holds. */
  where(alias: string, where: ConditionTree): string {
    return this.#whereSql(this, alias, where);
  }
}

const QUOTE = /"/g;
const quotedNames = new Map<string, string>();

/** Quotes an identifier; caches the result, since statements repeat few identifiers. */
export function quoteIdentifierCached(name: string): string {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = `"${name.replace(QUOTE, '""')}"`;
    if (quotedNames.size < 10_000) quotedNames.set(name, quoted);
  }
  return quoted;
}

/** @throws Error for a collection without a table, which the parser must not let through */
function tableSql(table: Collection['table']): string {
  if (!table) throw new Error('a collection without a table cannot be read');
  return `${quoteIdentifierCached(table.schema)}.${quoteIdentifierCached(table.name)}`;
}

/** SQL of a field in the row `alias`: its column, the column that stands for it where it is null, or the text of a composite key. */
export function fieldColumnSql(alias: string, field: Field): string {
  if (field.parts) return keyTextSql(alias, field.parts);
  const { name, whenNull } = field.column as Column;
  const column = `${alias}.${quoteIdentifierCached(name)}`;
  return whenNull === undefined ? column : `coalesce(${column}, ${alias}.${quoteIdentifierCached(whenNull)})`;
}
