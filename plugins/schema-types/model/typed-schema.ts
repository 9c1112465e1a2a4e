import type { FieldType } from '../../schema/contract.ts';

/** The rows that a field leads to: one, several, or one of several collections. */
export type TypedRelation =
  | { readonly kind: 'one' | 'many'; readonly to: string }
  | { readonly kind: 'any'; readonly to: readonly string[] };

/** A field, with what its type depends on. */
export interface TypedField {
  readonly name: string;
  readonly type: FieldType;
  readonly isNullable: boolean;
  /** The values that a field may have; null for any. */
  readonly choices: readonly (string | number)[] | null;
  readonly relation: TypedRelation | null;
}

/** A collection of which types are made. */
export interface TypedCollection {
  readonly name: string;
  readonly isSingleton: boolean;
  readonly isSystem: boolean;
  /** The type of its key, for references by key; undefined without one. */
  readonly keyType: FieldType | undefined;
  readonly fields: readonly TypedField[];
}

/** `options.choices` of a dropdown that takes no other values, as they stand in `meta`. */
export function parseChoices(meta: { readonly interface?: unknown; readonly options?: unknown } | null) {
  const options = meta?.options as { choices?: unknown; allowOther?: unknown } | null | undefined;
  const isChoice = /^select-(?:dropdown|radio|multiple-dropdown|multiple-checkbox)$/.test(String(meta?.interface));
  if (!isChoice || !Array.isArray(options?.choices) || options.allowOther === true) return null;
  const values = options.choices.map((choice: unknown) => (choice as { value?: unknown } | null)?.value);
  const isUsable = values.length > 0 && values.every((value) => typeof value === 'string' || typeof value === 'number');
  return isUsable ? (values as (string | number)[]) : null;
}
