import { parseAttributePath } from './filter/parse-filter.ts';
import { scimFailure } from './scim-error.ts';

/** Attributes that every answer has (RFC 7643, section 7: `returned` is `always`). */
const ALWAYS: ReadonlySet<string> = new Set(['id', 'schemas']);
const MAX_NAMES = 100;

/** Which attributes an answer has (RFC 7644, section 3.9). */
export interface AttributeSelection {
  /** Whether the answer has an attribute, or a sub-attribute; of a complex attribute, whether it has any of it. */
  has(name: string, sub?: string): boolean;
}

export const ALL_ATTRIBUTES: AttributeSelection = { has: () => true };

/** @throws 400 `invalidValue` for both lists together, and for names that are no attributes */
export function parseAttributeSelection(attributes: unknown, excludedAttributes: unknown): AttributeSelection {
  const included = parseNames('attributes', attributes);
  const excluded = parseNames('excludedAttributes', excludedAttributes);
  if (included && excluded) throw invalid('"attributes" and "excludedAttributes" exclude each other.');
  if (included) return createInclusion(included);
  if (!excluded) return ALL_ATTRIBUTES;
  return {
    has(name, sub) {
      const lower = name.toLowerCase();
      if (ALWAYS.has(lower)) return true;
      return !excluded.has(lower) && !(sub !== undefined && excluded.has(`${lower}.${sub.toLowerCase()}`));
    },
  };
}

function createInclusion(included: ReadonlySet<string>): AttributeSelection {
  const parents = new Set([...included].map((one) => one.split('.')[0]));
  return {
    has(name, sub) {
      const lower = name.toLowerCase();
      if (ALWAYS.has(lower) || included.has(lower)) return true;
      return sub === undefined ? parents.has(lower) : included.has(`${lower}.${sub.toLowerCase()}`);
    },
  };
}

/** Names in lower case without their schema; undefined where the request has no list. */
function parseNames(parameter: string, value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === '') return undefined;
  const names = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(names) || names.length > MAX_NAMES)
    throw invalid(`"${parameter}" must be a list of at most ${MAX_NAMES} attributes.`);
  const paths = names.map((one) => {
    const path = typeof one === 'string' ? parseAttributePath(one.trim()) : undefined;
    if (!path) throw invalid(`"${parameter}" has a name that is no attribute.`);
    return path.sub === undefined ? path.name : `${path.name}.${path.sub}`;
  });
  return paths.length === 0 ? undefined : new Set(paths);
}

const invalid = (detail: string) => scimFailure(400, detail, 'invalidValue');
