import { type AttributeSelection, parseAttributeSelection } from './attribute-selection.ts';
import type { AttributePath, ScimFilter } from './filter/filter-tree.ts';
import { parseAttributePath, parseScimFilter } from './filter/parse-filter.ts';
import { scimFailure } from './scim-error.ts';

/** Resources in one answer, whatever `count` asks for. */
export const MAX_RESULTS = 200;
const DEFAULT_RESULTS = 100;

/** A request for a list of resources (RFC 7644, section 3.4.2). */
export interface ListRequest {
  readonly filter: ScimFilter | undefined;
  readonly sortBy: AttributePath | undefined;
  readonly isDescending: boolean;
  /** Number of the first resource, from 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly selection: AttributeSelection;
}

export const SEARCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

export const LIST_PARAMETERS = [
  'filter',
  'sortBy',
  'sortOrder',
  'startIndex',
  'count',
  'attributes',
  'excludedAttributes',
] as const;

/** Parses the members of a query string, or of the body of `.search`. @throws 400 `invalidFilter`, `invalidValue` */
export function parseListRequest(request: Readonly<Record<string, unknown>>): ListRequest {
  const { filter, sortBy, sortOrder, startIndex, count, attributes, excludedAttributes } = request;
  return {
    filter: filter === undefined || filter === '' ? undefined : parseScimFilter(parseText('filter', filter)),
    sortBy: sortBy === undefined || sortBy === '' ? undefined : parseSortAttribute(parseText('sortBy', sortBy)),
    isDescending: parseOrder(sortOrder),
    // Numbers below the least are that one (RFC 7644, section 3.4.2.4).
    startIndex: Math.max(1, parseInteger('startIndex', startIndex) ?? 1),
    count: Math.min(MAX_RESULTS, Math.max(0, parseInteger('count', count) ?? DEFAULT_RESULTS)),
    selection: parseAttributeSelection(attributes, excludedAttributes),
  };
}

const invalid = (detail: string) => scimFailure(400, detail, 'invalidValue');

function parseText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalid(`"${name}" must be one text.`);
}

function parseSortAttribute(text: string): AttributePath {
  const path = parseAttributePath(text);
  if (!path) throw invalid('"sortBy" must be the name of an attribute.');
  return path;
}

function parseOrder(order: unknown): boolean {
  const text = order === undefined || order === '' ? 'ascending' : parseText('sortOrder', order).toLowerCase();
  if (text !== 'ascending' && text !== 'descending') throw invalid('"sortOrder" must be "ascending" or "descending".');
  return text === 'descending';
}

function parseInteger(name: string, value: unknown): number | undefined {
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return Math.min(number, 2 ** 31 - 1);
  throw invalid(`"${name}" must be a whole number.`);
}
