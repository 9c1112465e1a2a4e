import { FILTER_OPERATORS, type FilterOperator } from '../../plugins/query/contract.ts';
import { ARRAY_OPERATORS, filterOperatorsOfFieldType, RANGE_OPERATORS } from '../../plugins/query/library.ts';
import { FIELD_TYPES, type FieldType } from '../../plugins/schema/contract.ts';
import { inlineCode, inlineCodes, markdownPage, markdownTable } from './markdown.ts';

/** What each operator without a leading `n`, which negates it, compares. */
const MEANINGS: Readonly<Partial<Record<FilterOperator, string>>> = {
  _eq: 'equal to the value',
  _ieq: 'equal, upper and lower case alike',
  _lt: 'less than, before',
  _lte: 'less than or equal',
  _gt: 'greater than, after',
  _gte: 'greater than or equal',
  _in: 'one of the list; of an array column: has one of them',
  _between: 'between the two values of the list, both included',
  _null: 'has no value; the operand is `true` or `false`',
  _empty: 'has no value, or an empty text, list or range',
  _contains: 'contains the text; of an array column: the element; of a range: the value or range',
  _icontains: 'contains the text, upper and lower case alike',
  _starts_with: 'begins with the text',
  _istarts_with: 'begins with the text, upper and lower case alike',
  _ends_with: 'ends with the text',
  _iends_with: 'ends with the text, upper and lower case alike',
  _has_any: 'has at least one of the elements',
  _has_all: 'has all of the elements',
  _intersects: 'touches or overlaps the GeoJSON geometry, or the range',
  _intersects_bbox: 'touches or overlaps the box around the GeoJSON geometry',
};

/** What stands in a filter beside the operators. */
const MEMBERS: readonly (readonly string[])[] = [
  ['`_and`, `_or`', 'a list of filters, of which all or at least one have to hold'],
  ['`_some`, `_none`', 'in a relation to many: at least one related row, or none, matches'],
  ['`_json`', `in a field of type \`json\`: a path with its operators, \`{"meta": {"_json": {"a.b": {"_eq": 1}}}}\``],
  ['`item:collection.field`', 'a field behind a relation to any of several collections'],
  ['`count(comments)`, `year(date)`', 'a function of a field; its value is a whole number'],
  [
    '`$CURRENT_USER`, `$CURRENT_ROLE`',
    "as a value: the key of the caller's user or role, or with a path a field of it (`$CURRENT_USER.company`)",
  ],
  ['`$NOW`', 'as a value: the present moment, or with an offset (`$NOW(-1 day)`)'],
];

/** Types of fields with a column; all geometries take the same operators. */
const TYPES = FIELD_TYPES.filter((type) => type !== 'alias' && !type.startsWith('geometry.')).sort();

const negationOf = (operator: FilterOperator): FilterOperator | undefined =>
  FILTER_OPERATORS.find((one) => one === `_n${operator.slice(1)}`);

/** docs/reference/filters.md: the operators of filters, with the types of fields they fit. */
export function renderFiltersReferencePage(): string {
  const shown = FILTER_OPERATORS.filter((one) => !isNegation(one));
  const missing = shown.filter((one) => MEANINGS[one] === undefined);
  if (missing.length > 0)
    throw new Error(`operators without a text in scripts/reference/filters.ts: ${missing.join(', ')}`);
  return markdownPage(
    'Filters',
    `A filter is an object of fields, each with an object of operators: \`{"status": {"_eq": "published"}, "author": {"name": {"_contains": "Ann"}}}\`,
or \`filter[status][_eq]=published\` in a query string. All of its members have to hold.`,
    markdownTable(
      ['Operator', 'Negated', 'Holds where the field is', 'Types of fields'],
      shown.map((operator) => {
        const negation = negationOf(operator);
        return [
          inlineCode(operator),
          negation ? inlineCode(negation) : '',
          MEANINGS[operator] ?? '',
          typesOf(operator),
        ];
      }),
    ),
    `## Around operators

${markdownTable(['Member', 'Meaning'], MEMBERS)}

An operator that does not fit the type of the field is refused with \`INVALID_QUERY\`. Concealed fields take \`_null\` and \`_empty\` alone, fields
of a composite key \`_eq\`, \`_in\` and \`_null\`.`,
  );
}

const isNegation = (operator: FilterOperator): boolean => FILTER_OPERATORS.some((one) => negationOf(one) === operator);

function typesOf(operator: FilterOperator): string {
  const fits = (type: FieldType): boolean => filterOperatorsOfFieldType(type).has(operator);
  const others = TYPES.filter((type) => !fits(type));
  if (others.length === 0) return 'all types';
  if (others.length < 4) return `all types but ${inlineCodes(others)}`;
  const named = TYPES.filter((type) => type !== 'geometry' && fits(type));
  return [
    ...(named.length > 0 ? [inlineCodes(named)] : []),
    ...(fits('geometry') ? ['geometries'] : []),
    ...(ARRAY_OPERATORS.has(operator) ? ['arrays'] : []),
    ...(RANGE_OPERATORS.has(operator) ? ['ranges'] : []),
  ].join(', ');
}
