import { fail } from '#kernel';
import type { RawQuery, RowSelection } from '../../query/contract.ts';
import type { SubscriptionRequest } from '../contract.ts';

/** What is read of each changed row: equal texts mean equal questions. */
export interface Question {
  readonly collection: string;
  readonly text: string;
  /** The parameters that apply to single rows. */
  readonly query: RawQuery;
  readonly selection: RowSelection | undefined;
  /** Rows that leave the filter are announced. */
  readonly leaving: boolean;
}

const MAX_TEXT = 20_000;
/** Parameters of lists, which say nothing about a single row. */
const LIST_PARAMETERS = new Set(['limit', 'offset', 'page', 'sort', 'meta', 'export']);
const AGGREGATES = ['aggregate', 'groupBy'] as const;

/** @throws INVALID_QUERY for aggregates, and for a query that is too long to be kept. */
export function parseQuestion({ collection, query = {}, selection, leaving = false }: SubscriptionRequest): Question {
  const found = AGGREGATES.find((name) => query[name] !== undefined && query[name] !== null);
  if (found) throw fail('INVALID_QUERY', `"${found}" cannot be subscribed to`, { path: [found] });
  const ofRows = Object.fromEntries(Object.entries(query).filter(([name]) => !LIST_PARAMETERS.has(name)));
  const text = `${leaving ? 'leaving' : ''}\n${collection}\n${selection ? `s ${selection.text}` : `q ${JSON.stringify(ofRows)}`}`;
  if (text.length > MAX_TEXT) throw fail('INVALID_QUERY', 'the query of a subscription is too long');
  return { collection, text, query: ofRows, selection: selection?.rows, leaving };
}
