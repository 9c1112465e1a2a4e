import type { Caller } from '#kernel';
import type { PermissionRestrictionMarker } from '../../query/contract.ts';
import { parseNowExpression, timestampOfNowOffset } from '../../query/library.ts';
import type { Collection, SchemaOverview } from '../../schema/contract.ts';
import type { DynamicValueCache } from '../contract.ts';
import { NO_DYNAMIC_VALUE } from '../validation/compare.ts';

const CALLER_VALUE = /^\$CURRENT_(USER|ROLE)(?:\.([\w.]+))?$/;

/** Replaces `$NOW`, `$CURRENT_USER` and the like at any depth of a rule or of presets. */
export type SubstituteDynamicValues = <T>(
  value: T,
  caller: Caller,
  schema: SchemaOverview,
  known: DynamicValueCache,
) => Promise<T>;

export function createSubstituteDynamicValues(
  readValue: PermissionRestrictionMarker['readValue'],
): SubstituteDynamicValues {
  async function resolved(
    text: string,
    caller: Caller,
    schema: SchemaOverview,
    known: DynamicValueCache,
  ): Promise<unknown> {
    const moment = parseNowExpression(text);
    if (moment) return timestampOfNowOffset(moment);
    const [whole, who, path] = CALLER_VALUE.exec(text) ?? [];
    if (!whole) return text;
    const key = who === 'USER' ? caller.user : caller.role;
    if (key === null) return NO_DYNAMIC_VALUE;
    if (!path) return key;
    const start = schema.collections.get(who === 'USER' ? 'platform_users' : 'platform_roles');
    let value = known.get(text);
    if (!value) {
      value = follow(start, key, path.split('.'), schema);
      known.set(text, value);
    }
    return (await value) ?? NO_DYNAMIC_VALUE;
  }

  /** Follows many-to-one fields from row to row without permissions, which only rules and presets may do. */
  async function follow(
    start: Collection | undefined,
    key: unknown,
    path: readonly string[],
    schema: SchemaOverview,
  ): Promise<unknown> {
    let collection = start;
    let value: unknown = key;
    for (const name of path) {
      const field = collection?.fields.get(name);
      if (!collection?.table || !collection.primary || !field?.column || field.concealed || value === null) return null;
      value = await readValue(collection, field, value);
      collection = field.relation?.kind === 'one' ? schema.collections.get(field.relation.to) : undefined;
    }
    return value;
  }

  async function substitute(
    value: unknown,
    caller: Caller,
    schema: SchemaOverview,
    known: DynamicValueCache,
  ): Promise<unknown> {
    if (typeof value === 'string') return value.startsWith('$') ? resolved(value, caller, schema, known) : value;
    if (Array.isArray(value)) return Promise.all(value.map((one) => substitute(one, caller, schema, known)));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(
      async ([key, one]) => [key, await substitute(one, caller, schema, known)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  }

  return (value, caller, schema, known) => substitute(value, caller, schema, known) as never;
}
