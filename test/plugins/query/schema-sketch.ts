import type {
  Collection,
  ElementType,
  Field,
  FieldMeta,
  FieldType,
  Relation,
  RelationEnd,
  SchemaOverview,
} from '../../../plugins/schema/contract.ts';
import { createCompositeField } from '../../../plugins/schema/snapshot/keys.ts';

/**
 * A short notation of a schema, for tests of the query engine without a service:
 * `{ book: { id: 'integer key', title: 'string', author: 'one person', tags: 'many tag.book' } }`.
 * The words after a type: `key`, `concealed`, `unsearchable`, `array`, `sort=<field>` (of a to-many: its rows' order) and
 * `as=<type>` (the column's own type, `_` for a blank). `any kind hero|quote` is a many-to-any whose collection the field
 * `kind` names; `alias` is an alias without a relation. Several fields with `key` are a composite key, and
 * `joint role film|actor` is a composite foreign key of these columns, in the order of the key of `role`. `$` has words about
 * the collection: `singleton`, `sort=<field>`.
 */
export type SchemaSketch = Readonly<Record<string, Readonly<Record<string, string>>>>;

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
  geometry: ['geometry', 'geometry'],
};

const keysOf = (fields: SchemaSketch[string]): readonly string[] =>
  columnsAndAliases(fields).flatMap(([name, words]) => (words.split(' ').includes('key') ? [name] : []));

/** The name of the key column of a collection whose key is one column. */
const keyOf = (fields: SchemaSketch[string]): string => keysOf(fields)[0] ?? 'id';

const columnsAndAliases = (fields: SchemaSketch[string]) => Object.entries(fields).filter(([name]) => name !== '$');

/** The value of `<name>=` in the notation of a field, such as `sort=place`; undefined where it is missing. */
const wordValue = (words: string, name: string): string | undefined =>
  words
    .split(' ')
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .replaceAll('_', ' ');

export function buildSketchedSchema(tables: SchemaSketch, schema = 'public'): SchemaOverview {
  const relations: Relation[] = [];
  for (const [collection, fields] of Object.entries(tables)) {
    for (const [field, words] of columnsAndAliases(fields)) {
      const [kind, related] = words.split(' ');
      if ((kind === 'one' || kind === 'joint') && related)
        relations.push(relationOf(tables, schema, collection, field, words));
      if (kind === 'any')
        relations.push({ collection, field, related: null, meta: metaOf(tables, collection, field), schema: null });
    }
  }
  const collections = Object.entries(tables).map(([name, fields]): Collection => {
    const [joined, single] = [true, false].map((is) =>
      columnsAndAliases(fields).filter(([, words]) => isJoint(words) === is),
    );
    const all = new Map(
      (single ?? []).map(([field, words]) => [field, fieldOf(tables, relations, name, field, words)]),
    );
    const joints = (joined ?? []).map(([field, words]) => jointOf(relations, all, name, field, words));
    for (const field of joints) all.set(field.name, field);
    const keys = keysOf(fields);
    const isComposite = keys.length > 1;
    return {
      name,
      table: { schema, name, comment: null },
      kind: 'table',
      hasSideEffects: false,
      system: false,
      meta: null,
      primary: isComposite ? null : keyOf(fields),
      key: isComposite ? createCompositeField(name, keys.join(), partsOf(all, keys)) : (all.get(keyOf(fields)) ?? null),
      hasKey: true,
      compositeForeignKeys: joints,
      fields: all,
      singleton: (fields.$ ?? '').includes('singleton'),
      sortField: wordValue(fields.$ ?? '', 'sort') ?? null,
    };
  });
  return {
    version: 'sketch',
    collections: new Map(collections.map((one) => [one.name, one])),
    relations,
    listedTables: new Map(),
  };
}

/** Renders SQL that creates the tables of a sketch. */
export function renderCreateTables(tables: SchemaSketch): string {
  return Object.entries(tables)
    .map(([name, fields]) => {
      const columns = columnsAndAliases(fields).flatMap(([field, words]) => {
        const [kind, related] = words.split(' ');
        if (kind === 'many' || kind === 'alias' || kind === 'joint') return [];
        const type =
          kind === 'one' ? typeOf(tables, related as string) : kind === 'any' ? 'string' : (kind as FieldType);
        return [`"${field.replaceAll('"', '""')}" ${wordValue(words, 'as') ?? SQL[type]?.[0]}`];
      });
      const key = keysOf(fields).map((field) => `"${field.replaceAll('"', '""')}"`);
      return `create table "${name}" (${[...columns, ...(key.length > 0 ? [`primary key (${key})`] : [])].join(', ')});`;
    })
    .join('\n');
}

const typeOf = (tables: SchemaSketch, collection: string): FieldType => {
  const fields = tables[collection] ?? {};
  return (fields[keyOf(fields)] ?? 'integer').split(' ')[0] as FieldType;
};

function fieldOf(
  tables: SchemaSketch,
  relations: readonly Relation[],
  collection: string,
  name: string,
  words: string,
): Field {
  const [kind = 'string', related = ''] = words.split(' ');
  const concealed = words.includes('concealed') || kind === 'hash';
  const meta = words.includes('unsearchable') ? ({ searchable: false } as FieldMeta) : null;
  const base = { collection, name, special: [], meta, concealed, sensitive: false };
  if (kind === 'alias') return { ...base, type: 'alias', column: null, relation: null };
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
      sqlType: wordValue(words, 'as') ?? SQL[type]?.[0] ?? 'text',
      dataType: words.includes(' array') ? 'ARRAY' : (wordValue(words, 'as') ?? SQL[type]?.[1] ?? 'text'),
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
      leadsIndex: false,
      primary: words.includes('key'),
      array: words.includes(' array'),
      ...(words.includes(' array') ? { element: elementIn(wordValue(words, 'as') ?? 'text[]') } : {}),
      enumValues: null,
      comment: null,
    },
    relation: relation ? endOf(relation, words) : null,
  };
}

const partsOf = (all: ReadonlyMap<string, Field>, names: readonly string[]): readonly Field[] =>
  names.map((name) => all.get(name) as Field);

const isJoint = (words: string): boolean => words.startsWith('joint ');

function jointOf(
  relations: readonly Relation[],
  all: ReadonlyMap<string, Field>,
  collection: string,
  name: string,
  words: string,
): Field {
  const [, to = '', columns = ''] = words.split(' ');
  const relation = relations.find((one) => one.collection === collection && one.field === name) as Relation;
  const field = createCompositeField(collection, name, partsOf(all, columns.split('|')));
  return { ...field, relation: { kind: 'one', relation, to } };
}

function elementIn(sqlType: string): ElementType {
  const name = sqlType.replace(/\[\]$/, '');
  const type = Object.entries(SQL).find(([, names]) => names?.includes(name))?.[0] as FieldType | undefined;
  return { type: type ?? 'unknown', sqlType: name, dataType: name };
}

function endOf(relation: Relation, words: string): RelationEnd {
  const [kind, related = '', allowed = ''] = words.split(' ');
  return kind === 'any'
    ? { kind, relation, collectionField: related, allowedCollections: allowed.split('|') }
    : { kind: 'one', relation, to: related };
}

/** Builds the meta of a relation from the notation of its to-many alias, which names the sort field. */
function metaOf(tables: SchemaSketch, collection: string, field: string): Relation['meta'] {
  const aliases = Object.values(tables).flatMap((fields) => Object.values(fields));
  const sorted = aliases.find((words) => words.startsWith(`many ${collection}.${field} sort=`));
  return sorted ? ({ sort_field: wordValue(sorted, 'sort') } as Relation['meta']) : null;
}

function relationOf(tables: SchemaSketch, schema: string, collection: string, field: string, words: string): Relation {
  const [, related = '', columns] = words.split(' ');
  const to = keysOf(tables[related] ?? {});
  const from = isJoint(words) ? columns?.split('|') : undefined;
  return {
    collection,
    field,
    related,
    meta: metaOf(tables, collection, field),
    schema: {
      constraint_name: `${collection}_${field}_foreign`,
      table: collection,
      column: from?.join() ?? field,
      foreign_key_schema: schema,
      foreign_key_table: related,
      foreign_key_column: from ? to.join() : (to[0] ?? 'id'),
      ...(from ? { columns: from, foreign_key_columns: to } : {}),
      on_update: 'NO ACTION',
      on_delete: 'NO ACTION',
    },
  };
}
