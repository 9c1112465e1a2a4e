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
      return (value[filter.path.name] ?? null) !== null;
    default: {
      const known = toText(value[filter.path.name] ?? null);
      const wanted = toText(filter.value);
      return compareTexts(filter.operator, known, wanted);
    }
  }
}

const toText = (value: FilterValue): string | null => (value === null ? null : String(value).toLowerCase());

function compareTexts(operator: string, known: string | null, wanted: string | null): boolean {
  if (operator === 'eq') return known === wanted;
  if (operator === 'ne') return known !== wanted;
  if (known === null || wanted === null) return false;
  if (operator === 'co') return known.includes(wanted);
  if (operator === 'sw') return known.startsWith(wanted);
  if (operator === 'ew') return known.endsWith(wanted);
  if (operator === 'gt') return known > wanted;
  if (operator === 'ge') return known >= wanted;
  return operator === 'lt' ? known < wanted : known <= wanted;
}
