import { type EventMeta, type EventsApi, Failures, fail, isSystem } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { FindReadableItem } from '../items/library.ts';
import type { NotificationService } from '../notifications/contract.ts';
import { COMMENTS_COLLECTION_NAME } from './collections.ts';
import type { CreateMentionNotices } from './mentions.ts';

type Payload = Readonly<Record<string, unknown>>;

export interface CommentWriteFilterDeps {
  readonly access: Pick<AccessControl, 'assertAllowed'>;
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly notifications: NotificationService;
  readonly findReadableItem: FindReadableItem;
  readonly createNotices: CreateMentionNotices;
}

/** Rules of comments for every caller and every way of writing them. */
export function registerCommentWriteFilters(deps: CommentWriteFilterDeps, events: EventsApi): void {
  events.onFilter('comments.create', (payload, meta) => filterCreate(deps, payload as Payload, meta));
  events.onFilter('comments.update', (payload, meta) => filterUpdate(deps, payload as Payload, meta));
}

/**
 * A caller needs to be signed in and to be able to read the item. Mentions are stored with the comment or not at all.
 */
async function filterCreate(deps: CommentWriteFilterDeps, payload: Payload, { caller }: EventMeta): Promise<Payload> {
  await deps.access.assertAllowed(caller, 'create', COMMENTS_COLLECTION_NAME);
  if (caller.user === null && !isSystem(caller)) throw fail('FORBIDDEN', 'a comment needs a user');
  // This filter checks the required fields, since presets of a permission are applied after it and could not be checked.
  assertRequiredFields(payload);
  const collection = readText(payload, 'collection');
  const key = typeof payload.item === 'number' ? payload.item : readText(payload, 'item');
  const comment = readText(payload, 'comment');
  const commentedItem = await deps.findReadableItem(caller, collection, key);
  // All reads come first: the unit of work does not cache reads after its first write.
  const notices = await deps.createNotices(comment, commentedItem);
  await deps.activity.record(caller, { action: 'comment', ...commentedItem, comment });
  await deps.notifications.notify(caller.user, notices);
  return { ...payload, ...commentedItem };
}

/** The item of a comment cannot be changed, so that a comment never appears under another item. */
async function filterUpdate(deps: CommentWriteFilterDeps, payload: Payload, { caller }: EventMeta): Promise<undefined> {
  await deps.access.assertAllowed(caller, 'update', COMMENTS_COLLECTION_NAME);
  if (isSystem(caller)) return;
  const field = ['collection', 'item'].find((name) => payload[name] !== undefined);
  if (field !== undefined) throw invalidField(field, 'cannot be changed');
}

const invalidField = (field: string, what: string) =>
  fail('INVALID_PAYLOAD', `${field} ${what}.`, { field, path: [field] });

function assertRequiredFields(payload: Payload): void {
  const missing = ['collection', 'item', 'comment'].filter((field) => (payload[field] ?? null) === null);
  if (missing.length === 0) return;
  throw new Failures(
    missing.map((field) => {
      const type = payload[field] === null ? 'nnull' : 'required';
      return fail('FAILED_VALIDATION', `Validation failed for field "${field}": a value is required.`, {
        field,
        path: [],
        type,
      });
    }),
  );
}

function readText(payload: Payload, field: string): string {
  const value = payload[field];
  if (typeof value !== 'string') throw invalidField(field, 'must be a text');
  return value;
}
