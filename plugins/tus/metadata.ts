import { Failure, fail } from '#kernel';
import { isUuid } from '../database/library.ts';
import { FILES_COLLECTION_NAME, type IncomingFile } from '../files/contract.ts';
import { formToPayload } from '../files/library.ts';
import type { Payload } from '../items/contract.ts';
import type { Collection, SchemaService } from '../schema/contract.ts';

/** What the client says about the file of an upload, and the id of the file to replace. */
export interface UploadDescription {
  readonly incoming: Omit<IncomingFile, 'bytes'>;
  readonly replaces: string | null;
}

/** Pairs of Upload-Metadata: a name without a value is null. */
export type UploadMetadataPairs = Readonly<Record<string, string | null>>;

/**
 * Converts Upload-Metadata by the types of the fields: all values of the header are text, as in a form. @throws INVALID_METADATA.
 */
export async function parseUploadMetadata(
  schema: Pick<SchemaService, 'snapshot'>,
  pairs: UploadMetadataPairs,
): Promise<UploadDescription> {
  const collection = (await schema.snapshot()).collections.get(FILES_COLLECTION_NAME);
  for (const [name, value] of Object.entries(pairs)) {
    if (value?.includes('\0'))
      throw createInvalidMetadataFailure(`The value of "${name}" in Upload-Metadata contains a NUL character.`);
  }
  // `filename` and `filetype` are the usual names of clients.
  const { id = null, filename, filetype, type, ...fields } = pairs;
  if (id !== null && !isUuid(id))
    throw createInvalidMetadataFailure('The value of "id" in Upload-Metadata is not the id of a file.');
  return {
    incoming: {
      filename: filename || undefined,
      type: type || filetype || undefined,
      metadata: toPayload(collection, fields),
    },
    replaces: id?.toLowerCase() ?? null,
  };
}

function toPayload(collection: Collection | undefined, fields: UploadMetadataPairs): Payload {
  const texts = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== null);
  const nothing = Object.entries(fields).filter(([, text]) => text === null);
  try {
    return { ...Object.fromEntries(nothing), ...(collection && formToPayload(new Map(texts), collection)) };
  } catch (error) {
    throw error instanceof Failure ? createInvalidMetadataFailure(`Upload-Metadata: ${error.message}`) : error;
  }
}

const createInvalidMetadataFailure = (detail: string): Failure => fail('INVALID_METADATA', detail);
