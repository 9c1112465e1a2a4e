import { type Caller, Failures } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection, Overview } from '../../schema/contract.ts';

/** Known only when the bytes are there. */
const LATER = ['filesize', 'width', 'height', 'duration', 'metadata', 'detected_type', 'uploaded_on', 'filename_disk'];
/** Found in the bytes where the sender does not say them. */
const MAYBE_LATER = ['title', 'description', 'tags', 'type'];

export interface Rehearsed {
  readonly access: Pick<Access, 'admit' | 'permissions'>;
  readonly collection: Collection;
  readonly overview: Overview;
  readonly caller: Caller;
}

/**
 * Field list and validation of a write that is to come, so that no bytes are taken in vain. A rule that speaks of what only the
 * bytes tell cannot be measured yet; the write itself does it then.
 */
export async function rehearse(
  { access, collection, overview, caller }: Rehearsed,
  action: 'create' | 'update',
  payload: Payload,
  given: Payload,
): Promise<void> {
  try {
    await access.admit(collection, action, payload, caller, overview, given);
  } catch (error) {
    if (!(error instanceof Failures)) throw error;
    const { of } = await access.permissions(caller);
    const rules = [
      ...of(collection.name, action).map(({ validation }) => validation),
      ...[...collection.fields.values()].map(({ meta }) => meta?.validation),
    ];
    const open = [...LATER, ...MAYBE_LATER.filter((name) => !Object.hasOwn(payload, name))];
    const speaksOf = (rule: unknown) => open.some((name) => JSON.stringify(rule ?? null).includes(`"${name}"`));
    if (!rules.some(speaksOf)) throw error;
  }
}
