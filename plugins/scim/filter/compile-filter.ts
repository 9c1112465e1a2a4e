import type { Db, GrantedSqlStatement } from '../../database/contract.ts';
import { isUuid } from '../../database/library.ts';
import { scimFailure } from '../scim-error.ts';
import {
  findAttribute,
  findOwn,
  isComplex,
  isOfSchema,
  type ResourceAttributes,
  type SimpleAttribute,
} from './attributes.ts';
import type { AttributePath, ComparisonOperator, FilterValue, ScimFilter } from './filter-tree.ts';

type Comparison = Extract<ScimFilter, { kind: 'compare' }>;

/** The values of a statement, which are one parameter of the type text[]. */
export class FilterValues {
  readonly texts: string[] = [];
  readonly #db: Db;
  readonly #parameter: GrantedSqlStatement;

  /** `parameter` is the number of the parameter, such as `$2`. */
  constructor(db: Db, parameter: GrantedSqlStatement) {
    this.#db = db;
    this.#parameter = parameter;
  }

  add(text: string): GrantedSqlStatement {
    const at = this.texts.push(text);
    return this.#db.sql`(${this.#parameter}::text[])[${this.#db.literal(String(at))}::integer]`;
  }
}

const ORDER: readonly ComparisonOperator[] = ['gt', 'ge', 'lt', 'le'];

/**
 * Compiles a filter to a condition that is never null: an attribute without a value matches `ne` and no other comparison.
 * @throws 400 `invalidFilter` for unknown attributes, and operators and values that do not fit the type of one
 */
export function compileScimFilter(
  db: Db,
  filter: ScimFilter,
  attributes: ResourceAttributes,
  values: FilterValues,
): GrantedSqlStatement {
  const compile = (one: ScimFilter): GrantedSqlStatement => {
    switch (one.kind) {
      case 'and':
      case 'or': {
        const glue = one.kind === 'and' ? db.sql` and ` : db.sql` or `;
        const joined = one.of.map(compile).reduce((left, right) => db.sql`${left}${glue}${right}`);
        return db.sql`(${joined})`;
      }
      case 'not':
        return db.sql`not ${compile(one.of)}`;
      case 'some':
        return compileSome(one);
      default:
        return compileLeaf(one);
    }
  };

  function compileSome({ path, of }: Extract<ScimFilter, { kind: 'some' }>): GrantedSqlStatement {
    const attribute = findAttribute(path, attributes);
    if (attribute && isComplex(attribute) && path.sub === undefined) {
      const inner = { ...attributes, known: attribute.subs, notKept: NOTHING };
      return attribute.wrap(compileScimFilter(db, of, inner, values));
    }
    if (!attribute && attributes.notKept.has(path.name)) return db.sql`false`;
    throw unknownAttribute(path);
  }

  function compileLeaf(leaf: Extract<ScimFilter, { kind: 'compare' | 'present' }>): GrantedSqlStatement {
    const { path } = leaf;
    const attribute = findAttribute(path, attributes);
    if (!attribute) {
      if (!attributes.notKept.has(path.name) && isOfSchema(path, attributes)) throw unknownAttribute(path);
      return leaf.kind === 'compare' && isMatchOfNoValue(leaf) ? db.sql`true` : db.sql`false`;
    }
    const compileOne = (one: SimpleAttribute) =>
      leaf.kind === 'present' ? compilePresence(db, one) : compileComparison(db, one, leaf, (text) => values.add(text));
    if (!isComplex(attribute)) {
      if (path.sub !== undefined) throw unknownAttribute(path);
      return compileOne(attribute);
    }
    if (path.sub === undefined && leaf.kind === 'present') return attribute.wrap(db.sql`true`);
    const sub = findOwn(attribute.subs, path.sub ?? attribute.main ?? '');
    if (!sub) throw unknownAttribute(path);
    // Of several values none may be equal for `ne`, and a resource without a value has none that is.
    if (leaf.kind === 'compare' && isMatchOfNoValue(leaf)) {
      const opposite: Comparison = { ...leaf, operator: leaf.operator === 'ne' ? 'eq' : 'ne' };
      return db.sql`not ${attribute.wrap(compileComparison(db, sub, opposite, (text) => values.add(text)))}`;
    }
    return attribute.wrap(compileOne(sub));
  }

  return compile(filter);
}

const NOTHING: ReadonlySet<string> = new Set();

/** Whether a resource without a value of the attribute matches. */
const isMatchOfNoValue = ({ operator, value }: Comparison): boolean => (operator === 'ne') !== (value === null);

const compilePresence = (db: Db, { sql, type }: SimpleAttribute): GrantedSqlStatement =>
  type === 'text' || type === 'exact' ? db.sql`coalesce(${sql} <> '', false)` : db.sql`(${sql} is not null)`;

function compileComparison(
  db: Db,
  attribute: SimpleAttribute,
  { operator, value, path }: Comparison,
  add: (text: string) => GrantedSqlStatement,
): GrantedSqlStatement {
  const { sql, type } = attribute;
  const isEquality = operator === 'eq' || operator === 'ne';
  if (value === null) {
    if (!isEquality) throw misfit(path, operator, value);
    return operator === 'eq' ? db.sql`(${sql} is null)` : db.sql`(${sql} is not null)`;
  }
  if (type === 'boolean') {
    const flag = typeof value === 'string' ? value.toLowerCase() : String(value);
    if (!isEquality || (flag !== 'true' && flag !== 'false')) throw misfit(path, operator, value);
    return compileEquality(db, operator, sql, flag === 'true' ? db.sql`true` : db.sql`false`);
  }
  if (typeof value !== 'string') throw misfit(path, operator, value);
  if (type === 'time') {
    if (!isEquality && !ORDER.includes(operator)) throw misfit(path, operator, value);
    const time = Date.parse(value);
    const text = Number.isNaN(time) ? '' : new Date(time).toISOString();
    // Other years have other forms in PostgreSQL, which has no year 0.
    if (![value, text].every((one) => /^(?!0000)\d{4}-/.test(one))) throw misfit(path, operator, value);
    return compileTexts(db, operator, sql, db.sql`${add(text)}::timestamptz`);
  }
  if (type === 'key' && isEquality && isUuid(value))
    return compileEquality(db, operator, sql, db.sql`${add(value)}::uuid`);
  const text = type === 'key' ? db.sql`${sql}::text` : sql;
  if (type === 'exact') return compileTexts(db, operator, text, add(value));
  return compileTexts(db, operator, db.sql`lower(${text})`, db.sql`lower(${add(value)})`);
}

const compileEquality = (
  db: Db,
  operator: ComparisonOperator,
  sql: GrantedSqlStatement,
  value: GrantedSqlStatement,
): GrantedSqlStatement =>
  operator === 'ne' ? db.sql`(${sql} is distinct from ${value})` : db.sql`coalesce(${sql} = ${value}, false)`;

/** Compares two texts or times. No operator of it reads the value as a pattern. */
function compileTexts(
  db: Db,
  operator: ComparisonOperator,
  sql: GrantedSqlStatement,
  value: GrantedSqlStatement,
): GrantedSqlStatement {
  switch (operator) {
    case 'co':
      return db.sql`coalesce(position(${value} in ${sql}) > 0, false)`;
    case 'sw':
      return db.sql`coalesce(starts_with(${sql}, ${value}), false)`;
    case 'ew':
      return db.sql`coalesce(right(${sql}, length(${value})) = ${value}, false)`;
    case 'gt':
      return db.sql`coalesce(${sql} > ${value}, false)`;
    case 'ge':
      return db.sql`coalesce(${sql} >= ${value}, false)`;
    case 'lt':
      return db.sql`coalesce(${sql} < ${value}, false)`;
    case 'le':
      return db.sql`coalesce(${sql} <= ${value}, false)`;
    default:
      return compileEquality(db, operator, sql, value);
  }
}

const nameOf = ({ name, sub }: AttributePath): string => (sub === undefined ? name : `${name}.${sub}`);

const unknownAttribute = (path: AttributePath) =>
  scimFailure(
    400,
    `The filter is invalid: there is no attribute "${nameOf(path).slice(0, 100)}" to filter by.`,
    'invalidFilter',
  );

const misfit = (path: AttributePath, operator: string, value: FilterValue) =>
  scimFailure(
    400,
    `The filter is invalid: "${nameOf(path)}" has no comparison "${operator}" with a value of the type ${value === null ? 'null' : typeof value}, or the value has another form.`,
    'invalidFilter',
  );
