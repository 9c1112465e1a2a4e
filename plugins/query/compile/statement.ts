import type { Collection, Field, Overview } from '../../schema/contract.ts';
import type { BoundValue, DynamicValue, Where } from '../contract.ts';
import { keyText } from './key.ts';

/** A parameter whose value is known only when the statement runs. */
export interface RuntimeParameter {
  readonly runtimeValue: DynamicValue;
  /** What the parameter is made of a value that is given. */
  readonly convert?: (value: BoundValue) => unknown;
}

export const isRuntimeParameter = (param: unknown): param is RuntimeParameter =>
  typeof param === 'object' && param !== null && 'runtimeValue' in param;

/** Writes a condition over the row `alias`: `whereSql` of `where.ts`. */
export type WhereCompiler = (statement: StatementBuilder, alias: string, where: Where) => string;

/**
 * The statement being written: hands out parameter numbers and table aliases. Fragments are plain text, since numbers
 * and aliases are fixed when they are made; identifiers come from the overview, values only ever as parameters.
 * It carries the compiler of conditions, because conditions hold operands, functions and values that hold conditions again.
 */
export class StatementBuilder {
  readonly schema: Overview;
  readonly params: unknown[] = [];
  readonly #whereSql: WhereCompiler;
  readonly #first: number;
  #aliases = 0;

  constructor(schema: Overview, whereSql: WhereCompiler, first = 1) {
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

  /** A condition over the row `alias`; `true` for one that holds always. */
  where(alias: string, where: Where): string {
    return this.#whereSql(this, alias, where);
  }
}

const QUOTE = /"/g;
const quotedNames = new Map<string, string>();

/** Quoted once and remembered: identifiers are few and come again with every statement. */
export function quote(name: string): string {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = `"${name.replace(QUOTE, '""')}"`;
    if (quotedNames.size < 10_000) quotedNames.set(name, quoted);
  }
  return quoted;
}

/** Collections without a table are never read: whoever asks for one has made a mistake. */
export function tableSql(table: Collection['table']): string {
  if (!table) throw new Error('a collection without a table cannot be read');
  return `${quote(table.schema)}.${quote(table.name)}`;
}

/** A field's value in the row `alias`: its column, or the text of several. */
export const fieldColumnSql = (alias: string, field: Field): string =>
  field.parts ? keyText(alias, field.parts) : `${alias}.${quote((field.column as { name: string }).name)}`;
