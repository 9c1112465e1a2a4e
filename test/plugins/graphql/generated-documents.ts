import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLUnionType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { createSeededRandom } from '../../support/random.ts';
import { createArgumentValueWriter } from './argument-value-writer.ts';
import { createArgumentValueGenerator } from './generated-argument-values.ts';
import type { ReferenceTableRow } from './reference-rows.ts';

export interface GeneratedGraphqlDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

type Rows = ReadonlyMap<string, readonly ReferenceTableRow[]>;
type Fields = Readonly<Record<string, GraphQLField<unknown, unknown>>>;

/** Unusual response keys for aliases: names that mean something in JavaScript, SQL or the schema, and long ones. */
const KEYS = [
  '__proto__',
  'constructor',
  'select',
  'id',
  'title',
  'name',
  'value',
  'k'.repeat(63),
  'k'.repeat(90),
  '_',
];

/** Generates a random GraphQL document, the same for the same seed. Some documents are invalid. */
export function generateGraphqlDocument(schema: GraphQLSchema, all: Rows, seed: number): GeneratedGraphqlDocument {
  const random = createSeededRandom(seed);
  const { variables, declared, variable, writeValue } = createArgumentValueWriter(random);
  const valueFor = createArgumentValueGenerator(random, all);
  const fragments: { readonly name: string; readonly on: string; readonly text: string }[] = [];
  const textByVariant = new Map<string, string>();
  let budget = 12 + random.upTo(40);

  function argumentsOf(field: GraphQLField<unknown, unknown>, collection: string): string {
    const isGrouped = field.args.some(({ name }) => name === 'groupBy');
    const chosen = field.args.filter((arg) => {
      if (isNonNullType(arg.type)) return true;
      if (isGrouped) return arg.name === 'groupBy' ? random.chance(0.7) : arg.name === 'filter' && random.chance(0.3);
      return random.chance(0.3);
    });
    return chosen.length === 0
      ? ''
      : `(${chosen.map((arg) => `${arg.name}: ${writeValue(valueFor(arg.name, collection), arg.type)}`).join(', ')})`;
  }

  function directives(): string {
    if (random.chance(0.85)) return '';
    const condition = () =>
      random.chance(0.5) ? String(random.chance(0.5)) : variable('Boolean!', random.chance(0.5));
    const skip = () => `@skip(if: ${condition()})`;
    const include = () => `@include(if: ${condition()})`;
    return ` ${random.one([skip, include, () => `${skip()} ${include()}`])()}`;
  }

  /** Renders a field. The same field has the same key and arguments everywhere, so that GraphQL can merge the selections. */
  function fieldText(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const variant = random.upTo(3);
    const id = `${type.name}.${field.name}.${variant}`;
    const inner = getNamedType(field.type);
    const isPlain = variant === 0 && !field.args.some((arg) => isNonNullType(arg.type));
    const collection = type.name === 'Query' ? field.name.replace(/_(by_id|aggregated)$/, '') : inner.name;
    const alias = random.chance(0.15) ? random.one(KEYS) : `${field.name}_${variant}`;
    const text =
      textByVariant.get(id) ?? (isPlain ? field.name : `${alias}: ${field.name}${argumentsOf(field, collection)}`);
    textByVariant.set(id, text);
    return `${text}${directives()}${isLeafType(inner) ? '' : ` ${selection(inner as Composite, depth - 1)}`}`;
  }

  type Composite = GraphQLObjectType | GraphQLUnionType;

  function selection(type: Composite, depth: number): string {
    const parts: string[] = [];
    const fields: Fields = isObjectType(type) ? type.getFields() : {};
    const names = Object.keys(fields).filter(
      (name) => depth > 0 || isLeafType(getNamedType((fields[name] as Fields[string]).type)),
    );
    for (let left = 1 + random.upTo(5); left > 0 && (budget > 0 || parts.length === 0); left--) {
      budget--;
      const choice = random.next();
      const members = isUnionType(type) ? type.getTypes() : [type as GraphQLObjectType];
      if (choice < 0.12 && type.name !== 'Query')
        parts.push(random.one(['__typename', 'kind: __typename', '__typename']));
      else if (choice < 0.2 || (isUnionType(type) && choice < 0.75)) {
        const on = random.one([type, ...members]);
        const condition = on === type && random.chance(0.5) ? '' : ` on ${on.name}`;
        parts.push(`...${condition}${directives()} ${selection(on, depth)}`);
      } else if (choice < 0.32 || isUnionType(type)) {
        parts.push(`...${fragment(random.one([type, ...members]), depth)}${directives()}`);
      } else if (names.length > 0) parts.push(fieldText(type, fields[random.one(names)] as Fields[string], depth));
    }
    return `{ ${parts.length === 0 ? '__typename' : parts.join(' ')} }`;
  }

  /** Spreads an earlier fragment or a new one. Earlier fragments are complete, so there are no cycles. */
  function fragment(type: Composite, depth: number): string {
    const known = fragments.filter(({ on }) => on === type.name);
    if (known.length > 0 && random.chance(0.5)) return random.one(known).name;
    const text = selection(type, depth);
    const name = `f${fragments.length}`;
    fragments.push({ name, on: type.name, text });
    return name;
  }

  const body = selection(schema.getQueryType() as GraphQLObjectType, 4);
  const head = declared.length > 0 ? `query (${declared.join(', ')}) ` : '';
  const texts = fragments.map(({ name, on, text }) => `fragment ${name} on ${on} ${text}`);
  return { query: [head + body, ...texts].join('\n'), variables };
}
