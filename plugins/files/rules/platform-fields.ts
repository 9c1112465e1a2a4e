import type { Payload } from '../../items/contract.ts';

/** Fields that only the platform sets. Values of callers are dropped without an error (specification, "File record"). */
const PLATFORM_FIELDS: readonly string[] = [
  'filename_disk',
  'detected_type',
  'filesize',
  'uploaded_by',
  'uploaded_on',
  'created_on',
  'modified_by',
  'modified_on',
];

export const withoutPlatformFields = (payload: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !PLATFORM_FIELDS.includes(name)));
