import type {
  Collection,
  Field,
  FieldType,
  Overview,
  Relation,
  RelationEnd,
} from '../../../plugins/schema/contract.ts';

/**
 * A schema in few words, for tests of the query engine alone:
 * `{ book: { id: 'integer key', title: 'string', author: 'one person', tags: 'many tag.book' } }`.
 * The words after a type: `key`, `concealed`. `any kind hero|quote` is a many-to-any whose collection the field `kind` names.
 */
export type Sketch = Readonly<Record<string, Readonly<Record<string, string>>>>;

const SQL: Partial<Record<FieldType, [type: string, dataType: string]>> = {
  integer: ['integer', 'integer'],
  bigInteger: ['bigint', 'bigint'],
  decimal: ['numeric', 'numeric'],
  float: ['real', 'real'],
  boolean: ['boolean', 'boolean'],
  uuid: ['uuid', 'uuid'],
  date: ['date', 'date'],
  dateTime: ['timestamp', 'timestamp without time zone'],
  timestamp: ['timestamptz', 'timestamp with time zone'],
  time: ['time', 'time without time zone'],
  json: ['jsonb', 'jsonb'],
  string: ['varchar', 'character varying'],
  text: ['text', 'text'],
  csv: ['text', 'text'],
  hash: ['varchar', 'character varying'],
  binary: ['bytea', 'bytea'],
  unknown: ['inet', 'inet'],
};

const keyOf = (fields: Sketch[string]): string =>
  Object.entries(fields).find(([, words]) => words.includes('key'))?.[0] ?? 'id';

export function sketch(tables: Sketch, schema = 'public'): Overview {
  const relations: Relation[] = [];
  for (const [collection, fields] of Object.entries(tables)) {
    for (const [field, words] of Object.entries(fields)) {
      const [kind, related] = words.split(' ');
      if (kind === 'one' && related) relations.push(relationOf(tables, schema, collection, field, related));
      if (kind === 'any') relations.push({ collection, field, related: null, meta: null, schema: null });
    }
  }
  const collections = Object.entries(tables).map(([name, fields]): Collection => {
    const made = Object.entries(fields).map(([field, words]) => fieldOf(tables, relations, name, field, words));
    return {
      name,
      table: { schema, name, comment: null },
      kind: 'table',
      system: false,
      meta: null,
      primary: keyOf(fields),
      fields: new Map(made.map((field) => [field.name, field])),
      singleton: false,
      sortField: null,
    };
  });
  return { version: 'sketch', collections: new Map(collections.map((one) => [one.name, one])), relations };
}

/** The tables of a sketch, for running what was compiled. */
export function createTables(tables: Sketch): string {
  return Object.entries(tables)
    .map(([name, fields]) => {
      const columns = Object.entries(fields).flatMap(([field, words]) => {
        const [kind, related] = words.split(' ');
        if (kind === 'many') return [];
        const type =
          kind === 'one' ? typeOf(tables, related as string) : kind === 'any' ? 'string' : (kind as FieldType);
        return [`"${field}" ${SQL[type]?.[0]}${words.includes('key') ? ' primary key' : ''}`];
      });
      return `create table "${name}" (${columns.join(', ')});`;
    })
    .join('\n');
}

const typeOf = (tables: Sketch, collection: string): FieldType => {
  const fields = tables[collection] ?? {};
  return (fields[keyOf(fields)] ?? 'integer').split(' ')[0] as FieldType;
};

function fieldOf(
  tables: Sketch,
  relations: readonly Relation[],
  collection: string,
  name: string,
  words: string,
): Field {
  const [kind = 'string', related = ''] = words.split(' ');
  const base = { collection, name, special: [], meta: null, concealed: words.includes('concealed'), sensitive: false };
  if (kind === 'many') {
    const [to = '', key] = related.split('.');
    const relation = relations.find((one) => one.collection === to && one.field === key) as Relation;
    return { ...base, type: 'alias', column: null, relation: { kind: 'many', relation, to } };
  }
  const type = kind === 'one' ? typeOf(tables, related) : kind === 'any' ? 'string' : (kind as FieldType);
  const relation = relations.find((one) => one.collection === collection && one.field === name);
  return {
    ...base,
    type,
    column: {
      name,
      sqlType: SQL[type]?.[0] ?? 'text',
      dataType: SQL[type]?.[1] ?? 'text',
      nullable: !words.includes('key'),
      default: null,
      generated: false,
      generationExpression: null,
      autoIncrement: false,
      identityAlways: false,
      maxLength: null,
      precision: null,
      scale: null,
      unique: false,
      indexed: false,
      primary: words.includes('key'),
      array: false,
      enumValues: null,
      comment: null,
    },
    relation: relation ? endOf(relation, words) : null,
  };
}

function endOf(relation: Relation, words: string): RelationEnd {
  const [kind, related = '', allowed = ''] = words.split(' ');
  return kind === 'any'
    ? { kind, relation, by: related, allowed: allowed.split('|') }
    : { kind: 'one', relation, to: related };
}

const relationOf = (tables: Sketch, schema: string, collection: string, field: string, related: string): Relation => ({
  collection,
  field,
  related,
  meta: null,
  schema: {
    constraint_name: `${collection}_${field}_foreign`,
    table: collection,
    column: field,
    foreign_key_schema: schema,
    foreign_key_table: related,
    foreign_key_column: keyOf(tables[related] ?? {}),
    on_update: 'NO ACTION',
    on_delete: 'NO ACTION',
  },
});
