import type { Db } from '../database/contract.ts';

type Filter = Record<string, unknown>;

interface RuleRow {
  readonly id: number;
  readonly permissions: string | null;
  readonly validation: string | null;
  readonly presets: string | null;
}

export interface PermissionCleanUp {
  forgetCollections(names: readonly string[]): Promise<void>;
  /**
   * Removes deleted fields from the field lists and rules of their collection, without widening any permission. `key` is the primary
   * key of the collection, null without one.
   */
  forgetFields(collection: string, fields: readonly string[], key: string | null): Promise<void>;
}

/** Removes deleted collections and fields from permissions. */
export function createPermissionCleanUp(db: Db): PermissionCleanUp {
  const permissions = db.write('platform_permissions');
  const FORGET_COLLECTIONS = db.sql`delete from ${permissions} where collection = any($1::text[])`;
  // A field list that named only deleted fields becomes empty, which permits no field. It does not become `*`, which permits all.
  const SHORTEN_LISTS = db.sql`update ${permissions} set fields = array_to_string(array(
      select name from unnest(string_to_array(fields, ',')) with ordinality as one(name, at)
      where not trim(name) = any($2::text[]) order by at), ',')
    where collection = $1 and fields is not null`;
  const RULES = db.sql`select id, permissions::text, validation::text, presets::text from ${permissions} where collection = $1`;
  const WRITE_RULES = db.sql`update ${permissions} set permissions = $2, validation = $3, presets = $4 where id = $1`;

  return {
    async forgetCollections(names) {
      await db.query(FORGET_COLLECTIONS, [names]);
    },
    async forgetFields(collection, fields, key) {
      await db.query(SHORTEN_LISTS, [collection, fields]);
      const { rows } = await db.query<RuleRow>(RULES, [collection]);
      // In a collection without a primary key the rule keeps the name of the deleted field, so it is malformed and refuses every
      // request.
      const noRows = key !== null && !fields.includes(key) ? { [key]: { _null: true } } : undefined;
      for (const row of rows) {
        const before = [parseRule(row.permissions), parseRule(row.validation), parseRule(row.presets)] as const;
        const [rule, validation, presets] = before;
        const after = [
          rule && noRows ? denyRowsByDeletedFields(rule, fields, noRows) : rule,
          validation && pruneDeletedFieldConditions(validation, fields),
          presets && withoutPresets(presets, fields),
        ];
        if (JSON.stringify(after) === JSON.stringify(before)) continue;
        await db.query(WRITE_RULES, [row.id, ...after.map((value) => (value ? JSON.stringify(value) : null))]);
      }
    },
  };
}

const withoutPresets = (presets: Filter, fields: readonly string[]): Filter =>
  Object.fromEntries(Object.entries(presets).filter(([name]) => !fields.includes(name)));

const parseRule = (text: string | null): Filter | null => {
  const value: unknown = text === null ? null : JSON.parse(text);
  return typeof value === 'object' && !Array.isArray(value) ? (value as Filter | null) : null;
};

/** A row rule in which conditions on these fields match no row, so that the permission does not widen. */
export function denyRowsByDeletedFields(rule: Filter, fields: readonly string[], noRows: Filter): Filter {
  const parts = Object.entries(rule);
  if (parts.some(([key]) => fields.includes(key))) return noRows;
  return Object.fromEntries(
    parts.map(([key, value]) => [
      key,
      isLogical(key, value) ? value.map((one) => denyRowsByDeletedFields(one, fields, noRows)) : value,
    ]),
  );
}

/** A validation without its conditions on these fields, which no payload can contain any more. */
export function pruneDeletedFieldConditions(rule: Filter, fields: readonly string[]): Filter {
  return Object.fromEntries(
    Object.entries(rule).flatMap(([key, value]) => {
      if (fields.includes(key)) return [];
      if (!isLogical(key, value)) return [[key, value]];
      return [
        [
          key,
          value.map((one) => pruneDeletedFieldConditions(one, fields)).filter((one) => Object.keys(one).length > 0),
        ],
      ];
    }),
  );
}

const isLogical = (key: string, value: unknown): value is Filter[] =>
  (key === '_and' || key === '_or') &&
  Array.isArray(value) &&
  value.every((one) => typeof one === 'object' && one !== null);
