import { fail } from '#kernel';
import type { FilesConfig } from '../config.ts';
import { typeFilter } from '../names/type.ts';

/** INVALID_PAYLOAD for a MIME type that FILES_MIME_TYPE_ALLOW_LIST does not let in, as text in lower case. */
export type CheckType = (type: string) => void;

export function createCheckType({
  FILES_MIME_TYPE_ALLOW_LIST,
}: Pick<FilesConfig, 'FILES_MIME_TYPE_ALLOW_LIST'>): CheckType {
  const isAllowed = typeFilter(FILES_MIME_TYPE_ALLOW_LIST);
  return (type) => {
    if (isAllowed(type)) return;
    throw fail('INVALID_PAYLOAD', `Files of the type ${type} are not allowed.`, {
      field: 'type',
      path: ['type'],
      type,
    });
  };
}
