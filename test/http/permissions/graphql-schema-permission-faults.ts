import { APP_ACCESS_PERMISSIONS } from '../../../plugins/access/contract.ts';
import type { ExpectedGraphqlSchema } from './expected-graphql-schema.ts';
import { COLLECTION_NAMES, PERMISSION_TEST_MODEL, tableNameOfCollection } from './permission-test-collections.ts';
import type { TestPerson } from './permission-test-service.ts';
import type { PermissionTestModel } from './reference-types.ts';

/** `__schema` in the answer to the query INTROSPECTION. */
export interface IntrospectedSchema {
  readonly types: readonly IntrospectedType[];
}

interface IntrospectedType {
  readonly name: string;
  readonly kind: string;
  readonly fields: readonly { readonly name: string }[] | null;
  readonly inputFields: readonly { readonly name: string }[] | null;
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

export const INTROSPECTION_QUERY = `{ __schema { types {
  name kind possibleTypes { name }
  fields(includeDeprecated: true) { name } inputFields(includeDeprecated: true) { name }
} } }`;

type Action = 'read' | 'create' | 'update' | 'delete';
type Use = 'shown' | 'compared' | 'created' | 'updated' | 'nested';

const TYPES: readonly (readonly [Use, (table: string) => string])[] = [
  ['shown', (table) => table],
  ['shown', (table) => `${table}_aggregated_count`],
  ['shown', (table) => `${table}_aggregated_fields`],
  ['compared', (table) => `${table}_filter`],
  ['compared', (table) => `${table}_quantifier_filter`],
  ['created', (table) => `create_${table}_input`],
  ['updated', (table) => `update_${table}_input`],
  ['nested', (table) => `nested_${table}_input`],
];
const WORDS = ['_and', '_or', '_some', '_none'];

/** Lists the fields in a person's schema for which the person has no permission, and readable fields that the schema lacks. */
export function findSchemaPermissionFaults(
  introspected: IntrospectedSchema,
  person: TestPerson,
  visibleSchema: ExpectedGraphqlSchema,
  tables: readonly string[],
): readonly string[] {
  const types = new Map(introspected.types.map((type) => [type.name, type]));
  const faults: string[] = [];
  for (const table of tables) {
    for (const [use, typeName] of TYPES) {
      const type = types.get(typeName(table));
      if (!type) continue;
      const names = [...(type.fields ?? []), ...(type.inputFields ?? [])].map(({ name }) => name);
      for (const name of names) {
        if (
          WORDS.includes(name) ||
          (use === 'compared' && name.includes('__') && names.includes(name.split('__')[0] as string))
        )
          continue;
        if (!isAllowedInSchema(use, table, name.replace(/_func$/, ''), person, visibleSchema))
          faults.push(`${type.name}.${name}`);
      }
    }
  }
  for (const { name, kind, possibleTypes } of introspected.types) {
    if (kind !== 'UNION') continue;
    for (const one of possibleTypes ?? [])
      if (!granted(one.name, 'read', person, visibleSchema).some(() => true)) faults.push(`${name} of ${one.name}`);
  }
  return [...faults, ...missing(types, visibleSchema), ...roots(types, person, visibleSchema, tables)];
}

function isAllowedInSchema(
  use: Use,
  table: string,
  field: string,
  person: TestPerson,
  visibleSchema: ExpectedGraphqlSchema,
): boolean {
  const sensitive = PERMISSION_TEST_MODEL[modelName(table)]?.sensitive ?? [];
  const listed = (action: Action): boolean =>
    granted(table, action, person, visibleSchema).some(
      (fields) => fields.includes(field) || (fields.includes('*') && !sensitive.includes(field)),
    );
  /** Updates and nested payloads may name the key of their row, whatever fields the permission lists. */
  const key = PERMISSION_TEST_MODEL[modelName(table)]?.key ?? ['id'];
  const isKeyOf = (action: Action) => key.includes(field) && granted(table, action, person, visibleSchema).length > 0;
  switch (use) {
    case 'shown':
    case 'compared':
      return listed('read');
    case 'created':
      return listed('create');
    case 'updated':
      return listed('update') || isKeyOf('update');
    case 'nested':
      return (['create', 'update'] as const).some((action) => listed(action) || isKeyOf(action));
  }
}

/** The field lists of a person's permissions for an action on a table, those of app access included. */
function granted(
  table: string,
  action: Action,
  person: TestPerson,
  visibleSchema: ExpectedGraphqlSchema,
): readonly (readonly string[])[] {
  if (person.callerPermissions.admin) return [['*', ...ALL_SENSITIVE]];
  const name = modelName(table);
  const stored = COLLECTION_NAMES.includes(name) ? visibleSchema.of(name, action).map(({ fields }) => fields) : [];
  const hasApp = person.about.includes('app access');
  const minimal = APP_ACCESS_PERMISSIONS.filter((one) => hasApp && one.collection === table && one.action === action);
  return [...stored, ...minimal.map(({ fields }) => fields)];
}

const ALL_SENSITIVE = Object.values(PERMISSION_TEST_MODEL).flatMap(({ sensitive = [] }) => sensitive);
const modelName = (table: string): string =>
  COLLECTION_NAMES.find((name) => tableNameOfCollection(name) === table) ?? table;

/** Readable fields that the schema does not have. */
function missing(
  types: ReadonlyMap<string, IntrospectedType>,
  visibleSchema: ExpectedGraphqlSchema,
): readonly string[] {
  return COLLECTION_NAMES.filter(
    (name) => visibleSchema.hasReadableType(name) && types.has(tableNameOfCollection(name)),
  ).flatMap((name) => {
    const { toMany } = PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];
    const shown = new Set(types.get(tableNameOfCollection(name))?.fields?.map((one) => one.name));
    const expectedFields = visibleSchema.all(name).filter((field) => visibleSchema.isReadable(name, field));
    const lost = expectedFields.filter(
      (field) => !shown.has(field) && !(toMany[field] && !visibleSchema.hasReadableType(toMany[field].to)),
    );
    return lost.map((field) => `no ${name}.${field}`);
  });
}

const VERBS: readonly (readonly [Action, RegExp])[] = [
  ['create', /^create_(.+)_items?$/],
  ['update', /^update_(.+)_(?:items?|batch)$/],
  ['delete', /^delete_(.+)_items?$/],
  ['read', /^(.+?)(?:_by_id|_aggregated)?$/],
];

/** The root fields in the schema for which the person has no permission. */
function roots(
  types: ReadonlyMap<string, IntrospectedType>,
  person: TestPerson,
  visibleSchema: ExpectedGraphqlSchema,
  tables: readonly string[],
): readonly string[] {
  const known = new Map(
    tables.flatMap((table) => [[table, table] as const, [table.replace(/^platform_/, ''), table] as const]),
  );
  const names = ['Query', 'Mutation'].flatMap((root) => types.get(root)?.fields?.map(({ name }) => name) ?? []);
  return names.filter((name) => {
    const [action, found] = VERBS.flatMap(([verb, pattern]): [Action, string][] => {
      const table = known.get(pattern.exec(name)?.[1] ?? '');
      return table ? [[verb, table]] : [];
    })[0] ?? ['read', undefined];
    return found !== undefined && granted(found, action, person, visibleSchema).length === 0;
  });
}
