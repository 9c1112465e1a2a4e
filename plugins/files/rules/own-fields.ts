import type { Payload } from '../../items/contract.ts';

/** Only the platform says these; from anybody else they are dropped without a word (specification, "File record"). */
const OWN: readonly string[] = [
  'filename_disk',
  'detected_type',
  'filesize',
  'uploaded_by',
  'uploaded_on',
  'created_on',
  'modified_by',
  'modified_on',
];

export const withoutOwn = (payload: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !OWN.includes(name)));
