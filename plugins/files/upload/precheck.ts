import { type Caller, Failures } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection, SchemaOverview } from '../../schema/contract.ts';

/** Fields that are known only after the upload. */
const KNOWN_AFTER_UPLOAD = [
  'filesize',
  'width',
  'height',
  'duration',
  'metadata',
  'detected_type',
  'uploaded_on',
  'filename_disk',
];
/** Fields that come from the bytes if the sender leaves them out. */
const MAYBE_KNOWN_AFTER_UPLOAD = ['title', 'description', 'tags', 'type'];

export interface PrecheckContext {
  readonly access: Pick<AccessControl, 'validatePayload' | 'permissions'>;
  readonly collection: Collection;
  readonly schemaSnapshot: SchemaOverview;
  readonly caller: Caller;
}

/**
 * Checks the fields and validations of the coming write, so that no bytes are uploaded in vain. A rule about fields that only the
 * bytes determine is left to the write itself.
 */
export async function precheckUploadPayload(
  { access, collection, schemaSnapshot, caller }: PrecheckContext,
  action: 'create' | 'update',
  payload: Payload,
  platformValues: Payload,
): Promise<void> {
  try {
    await access.validatePayload(collection, action, payload, caller, schemaSnapshot, platformValues);
  } catch (error) {
    if (!(error instanceof Failures)) throw error;
    const { of } = await access.permissions(caller);
    const rules = [
      ...of(collection.name, action).map(({ validation }) => validation),
      ...[...collection.fields.values()].map(({ meta }) => meta?.validation),
    ];
    const unknownFields = [
      ...KNOWN_AFTER_UPLOAD,
      ...MAYBE_KNOWN_AFTER_UPLOAD.filter((name) => !Object.hasOwn(payload, name)),
    ];
    const namesUnknownField = (rule: unknown) =>
      unknownFields.some((name) => JSON.stringify(rule ?? null).includes(`"${name}"`));
    if (!rules.some(namesUnknownField)) throw error;
  }
}
