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
   * Takes deleted fields out of the lists and rules of their collection. No permission may become wider by that. `key` is
   * the collection's primary key, if it still has one.
   */
  forgetFields(collection: string, fields: readonly string[], key: string | null): Promise<void>;
}

/** What permissions say of collections and fields that are deleted. */
export function createPermissionCleanUp(db: Db): PermissionCleanUp {
  const permissions = db.write('platform_permissions');
  const FORGET_COLLECTIONS = db.sql`delete from ${permissions} where collection = any($1::text[])`;
  // A list of just this field becomes empty, which is "none"; null would say the same, `*` the opposite.
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
      // Where there is no key to compare, the rule keeps naming a field that is gone, which refuses every request.
      const noRows = key !== null && !fields.includes(key) ? { [key]: { _null: true } } : undefined;
      for (const row of rows) {
        const before = [parseRule(row.permissions), parseRule(row.validation), parseRule(row.presets)] as const;
        const [rule, validation, presets] = before;
        const after = [
          rule && noRows ? closeRule(rule, fields, noRows) : rule,
          validation && pruneValidation(validation, fields),
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

/** A row rule without its conditions on these fields; they count as never met, so that no row is added. */
export function closeRule(rule: Filter, fields: readonly string[], noRows: Filter): Filter {
  const parts = Object.entries(rule);
  if (parts.some(([key]) => fields.includes(key))) return noRows;
  return Object.fromEntries(
    parts.map(([key, value]) => [
      key,
      isLogical(key, value) ? value.map((one) => closeRule(one, fields, noRows)) : value,
    ]),
  );
}

/** A validation without its conditions on these fields: there is nothing left to hold them against. */
export function pruneValidation(rule: Filter, fields: readonly string[]): Filter {
  return Object.fromEntries(
    Object.entries(rule).flatMap(([key, value]) => {
      if (fields.includes(key)) return [];
      if (!isLogical(key, value)) return [[key, value]];
      return [[key, value.map((one) => pruneValidation(one, fields)).filter((one) => Object.keys(one).length > 0)]];
    }),
  );
}

const isLogical = (key: string, value: unknown): value is Filter[] =>
  (key === '_and' || key === '_or') &&
  Array.isArray(value) &&
  value.every((one) => typeof one === 'object' && one !== null);
