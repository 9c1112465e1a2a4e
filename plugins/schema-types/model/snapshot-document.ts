import { fail } from '#kernel';
import type { SchemaSnapshotDocument } from '../../schema-snapshots/contract.ts';

type SnapshotLists = Pick<SchemaSnapshotDocument, 'collections' | 'fields' | 'relations'>;

/** Members that name what an entry is about, by list. */
const NAMES = {
  collections: ['collection'],
  fields: ['collection', 'field', 'type'],
  relations: ['collection', 'field'],
};

/** The parts of a document that types are made of; members with defaults may be missing. @throws INVALID_PAYLOAD */
export function requireSnapshotDocument(value: unknown): SnapshotLists {
  const document = (typeof value === 'object' ? value : null) as Readonly<Record<string, unknown>> | null;
  for (const [list, names] of Object.entries(NAMES)) {
    const entries = document?.[list];
    if (!Array.isArray(entries)) throw fail('INVALID_PAYLOAD', `The file is no snapshot: "${list}" must be a list.`);
    for (const [at, entry] of entries.entries())
      for (const name of names)
        if (typeof (entry as Record<string, unknown> | null)?.[name] !== 'string')
          throw fail('INVALID_PAYLOAD', `"${list}.${at}.${name}" must be a text.`);
  }
  return document as unknown as SnapshotLists;
}
