import { findOwn } from './attributes.ts';
import type { FilterValue, ScimFilter } from './filter-tree.ts';

/** Whether a value of an attribute, by its sub-attributes in lower case, matches a filter of PATCH. Texts are compared without regard to case. */
export function matchesFilter(filter: ScimFilter, value: Readonly<Record<string, FilterValue>>): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((one) => matchesFilter(one, value));
    case 'or':
      return filter.of.some((one) => matchesFilter(one, value));
    case 'not':
      return !matchesFilter(filter.of, value);
    case 'some':
      return false;
    case 'present':
      return (findOwn(value, filter.path.name) ?? null) !== null;
    default: {
      const known = toText(findOwn(value, filter.path.name) ?? null);
      const expected = toText(filter.value);
      return compareTexts(filter.operator, known, expected);
    }
  }
}

const toText = (value: FilterValue): string | null => (value === null ? null : String(value).toLowerCase());

function compareTexts(operator: string, known: string | null, expected: string | null): boolean {
  if (operator === 'eq') return known === expected;
  if (operator === 'ne') return known !== expected;
  if (known === null || expected === null) return false;
  if (operator === 'co') return known.includes(expected);
  if (operator === 'sw') return known.startsWith(expected);
  if (operator === 'ew') return known.endsWith(expected);
  if (operator === 'gt') return known > expected;
  if (operator === 'ge') return known >= expected;
  return operator === 'lt' ? known < expected : known <= expected;
}
