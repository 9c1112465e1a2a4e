import type { AnnouncedChange, OldRow, RowKey } from './contract.ts';

/** A message of the trigger function. */
export interface FeedMessage {
  readonly id: string;
  readonly relation: number;
  readonly event: AnnouncedChange['event'];
  /** Undefined: the content is stored under the id. Null: there are too many rows. */
  readonly content: FeedContent | null | undefined;
}

/** Keys, gone rows and old rows, by the names that the trigger function gives them. */
export interface FeedContent {
  readonly k?: readonly RowKey[] | null;
  readonly g?: readonly (readonly [RowKey, string])[] | null;
  readonly o?: readonly (readonly [RowKey, string])[] | null;
}

const EVENTS: Readonly<Record<string, AnnouncedChange['event']>> = {
  i: 'create',
  u: 'update',
  d: 'delete',
  t: 'many',
  m: 'mark',
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Undefined for what the trigger function did not send: any client of the database may write to the channel. */
export function parseFeedMessage(payload: unknown): FeedMessage | undefined {
  if (!isRecord(payload)) return undefined;
  const { i: id, t: relation, e, c } = payload;
  const event = typeof e === 'string' ? EVENTS[e] : undefined;
  if (typeof id !== 'string' || typeof relation !== 'number' || event === undefined) return undefined;
  if (c !== null && c !== 'stored' && !isFeedContent(c)) return undefined;
  return { id, relation, event, content: c === 'stored' ? undefined : c };
}

export const isFeedContent = (value: unknown): value is FeedContent =>
  isRecord(value) &&
  [value.k, value.g, value.o].every((list) => list === undefined || list === null || Array.isArray(list));

export function toChange(message: FeedMessage, content: FeedContent | null, bytes: number): AnnouncedChange {
  const { id, relation, event } = message;
  return {
    id,
    relation,
    event: content === null && event !== 'mark' ? 'many' : event,
    keys: content?.k ?? [],
    goneRows: (content?.g ?? []).map(toOldRow),
    oldRows: (content?.o ?? []).map(toOldRow),
    bytes,
  };
}

const toOldRow = ([key, text]: readonly [RowKey, string]): OldRow => ({ key, text });
