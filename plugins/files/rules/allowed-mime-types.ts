import { fail } from '#kernel';
import type { FilesConfig } from '../config.ts';
import { createMimeTypeFilter } from '../names/mime-type.ts';

/** @throws INVALID_PAYLOAD for a MIME type, in lower case, that FILES_MIME_TYPE_ALLOW_LIST does not allow. */
export type AssertMimeTypeAllowed = (type: string) => void;

export function createAssertMimeTypeAllowed({
  FILES_MIME_TYPE_ALLOW_LIST,
}: Pick<FilesConfig, 'FILES_MIME_TYPE_ALLOW_LIST'>): AssertMimeTypeAllowed {
  const isAllowed = createMimeTypeFilter(FILES_MIME_TYPE_ALLOW_LIST);
  return (type) => {
    if (isAllowed(type)) return;
    throw fail('INVALID_PAYLOAD', `Files of the type ${type} are not allowed.`, {
      field: 'type',
      path: ['type'],
      type,
    });
  };
}
