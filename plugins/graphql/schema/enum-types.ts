import { type ConstValueNode, GraphQLEnumType, GraphQLError, type GraphQLInputObjectType, Kind } from 'graphql';
import type { Collection, Column } from '../../schema/contract.ts';
import { findAlternativeGraphqlAlias, toGraphqlName } from './database-name-aliases.ts';
import { createEnumOperators } from './operators.ts';

/** Names that enum values of GraphQL may not have. */
const RESERVED: readonly string[] = ['true', 'false', 'null'];

/**
 * The GraphQL type of a PostgreSQL enum. Besides names it accepts texts, for documents that were written for a
 * `String`: a quoted name or database value, and the dynamic values of filters.
 */
export class ColumnEnumGraphqlType extends GraphQLEnumType {
  /** Aliases by database value; undefined when no value has one. */
  readonly labels: ReadonlyMap<string, string> | undefined;
  /** The operators of columns of this type. */
  readonly operators: GraphQLInputObjectType;

  constructor(name: string, values: readonly string[]) {
    const named = values.map((value) => [value, valueName(value)] as const);
    super({
      name,
      values: Object.fromEntries(
        named.map(([value, alias]) => [
          alias,
          { value, ...(alias === value ? {} : { description: databaseNameNote(value) }) },
        ]),
      ),
    });
    const labels = named.filter(([value, alias]) => value !== alias);
    this.labels = labels.length > 0 ? new Map(labels) : undefined;
    this.operators = createEnumOperators(this);
  }

  override coerceInputValue(value: unknown, hideSuggestions?: boolean): unknown {
    return this.#toValue(value) ?? super.coerceInputValue(value, hideSuggestions);
  }

  override coerceInputLiteral(node: ConstValueNode, hideSuggestions?: boolean): unknown {
    if (node.kind !== Kind.STRING) return super.coerceInputLiteral(node, hideSuggestions);
    const text = this.#toValue(node.value);
    if (text !== undefined) return text;
    throw new GraphQLError(`Value "${node.value.slice(0, 60)}" does not exist in "${this.name}" enum.`, {
      nodes: node,
    });
  }

  /** The database value of a text; undefined for a text that is neither a name nor a value nor a dynamic value. */
  #toValue(value: unknown): string | undefined {
    if (typeof value !== 'string') return undefined;
    const enumValue = this.getValue(value);
    if (enumValue) return enumValue.value as string;
    return this.#values.has(value) || value.startsWith('$') ? value : undefined;
  }

  get #values(): ReadonlySet<string> {
    this.#valueSet ??= new Set(this.getValues().map(({ value }) => value as string));
    return this.#valueSet;
  }

  #valueSet: ReadonlySet<string> | undefined;
}

function valueName(value: string): string {
  return RESERVED.includes(value) ? findAlternativeGraphqlAlias(value, () => false) : toGraphqlName(value);
}

/** The note with the database name in the description of an alias. */
export const databaseNameNote = (text: string): string => `In the database: ${JSON.stringify(text)}.`;

/** The enum types of columns, by their `sqlType`. */
export type ColumnEnums = ReadonlyMap<string, ColumnEnumGraphqlType>;

/**
 * Creates the enum types of all columns, named after their PostgreSQL types: `mood_enum`, outside of `public` with the
 * schema before it, so that types of other schemas change no name. `claimName` answers a free name for a type.
 */
export function createColumnEnums(collections: Iterable<Collection>, claimName: (name: string) => string): ColumnEnums {
  const valuesByType = new Map<string, readonly string[]>();
  for (const { fields } of collections)
    for (const { column } of fields.values())
      if (column?.enumValues?.length) valuesByType.set(elementSqlType(column), column.enumValues);
  return new Map(
    [...valuesByType]
      .sort(([a], [b]) => comparePublicFirst(a, b))
      .map(([type, values]) => [type, new ColumnEnumGraphqlType(claimName(enumTypeName(type)), values)]),
  );
}

/** The key of a column in `ColumnEnums`: its type, or that of its elements. */
export const elementSqlType = ({ sqlType }: Column): string =>
  sqlType.endsWith('[]') ? sqlType.slice(0, -2) : sqlType;

const PUBLIC_SCHEMA = /^public\./;

const comparePublicFirst = (a: string, b: string): number =>
  Number(PUBLIC_SCHEMA.test(b)) - Number(PUBLIC_SCHEMA.test(a)) || (a < b ? -1 : a > b ? 1 : 0);

/** `public.mood` or `"My schema"."Mood"`, each as `quote_ident` writes it. */
function enumTypeName(type: string): string {
  const parts = (type.match(/"(?:[^"]|"")+"|[^".]+/g) ?? [])
    .map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part))
    .slice(PUBLIC_SCHEMA.test(type) ? 1 : 0);
  return `${parts.map(toGraphqlName).join('_')}_enum`;
}
