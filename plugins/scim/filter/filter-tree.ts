/** Operators that compare an attribute with a value (RFC 7644, section 3.4.2.2). */
export const COMPARISON_OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type ComparisonOperator = (typeof COMPARISON_OPERATORS)[number];

export type FilterValue = string | number | boolean | null;

/** `name.familyName`, with or without the URN of its schema. Names are in lower case, since they are compared so. */
export interface AttributePath {
  readonly schema?: string;
  readonly name: string;
  readonly sub?: string;
}

export type ScimFilter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly ScimFilter[] }
  | { readonly kind: 'not'; readonly of: ScimFilter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | {
      readonly kind: 'compare';
      readonly path: AttributePath;
      readonly operator: ComparisonOperator;
      readonly value: FilterValue;
    }
  /** `emails[type eq "work"]`: some value of the attribute matches; paths in `of` are those of its sub-attributes. */
  | { readonly kind: 'some'; readonly path: AttributePath; readonly of: ScimFilter };

/** What an operation of PATCH is about: `members[value eq "…"]`, `emails[type eq "work"].value`. */
export interface PatchPath extends AttributePath {
  readonly filter?: ScimFilter;
}
