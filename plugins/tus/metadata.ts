import { Failure, fail } from '#kernel';
import { FILES, type Incoming } from '../files/contract.ts';
import { payloadOf } from '../files/library.ts';
import type { Payload } from '../items/contract.ts';
import type { Collection, Schema } from '../schema/contract.ts';

/** What the sender says of a file, in the words of clients of tus, and the file whose bytes are replaced. */
export interface About {
  readonly incoming: Omit<Incoming, 'bytes'>;
  readonly replaces: string | null;
}

/** Pairs as Upload-Metadata has them: a name without a value is null. */
export type Pairs = Readonly<Record<string, string | null>>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads Upload-Metadata by what the fields of a file hold: all its values are texts, as in a form. */
export async function aboutOf(schema: Pick<Schema, 'overview'>, pairs: Pairs): Promise<About> {
  const collection = (await schema.overview()).collections.get(FILES);
  for (const [name, value] of Object.entries(pairs)) {
    if (value?.includes('\0')) throw invalid(`The value of "${name}" in Upload-Metadata contains a NUL character.`);
  }
  // What many clients call them, beside our own names.
  const { id = null, filename, filetype, type, ...said } = pairs;
  if (id !== null && !UUID.test(id)) throw invalid('The value of "id" in Upload-Metadata is not the id of a file.');
  return {
    incoming: {
      filename: filename || undefined,
      type: type || filetype || undefined,
      metadata: valuesOf(collection, said),
    },
    replaces: id?.toLowerCase() ?? null,
  };
}

function valuesOf(collection: Collection | undefined, said: Pairs): Payload {
  const texts = Object.entries(said).filter((pair): pair is [string, string] => pair[1] !== null);
  const nothing = Object.entries(said).filter(([, text]) => text === null);
  try {
    return { ...Object.fromEntries(nothing), ...(collection && payloadOf(new Map(texts), collection)) };
  } catch (error) {
    throw error instanceof Failure ? invalid(`Upload-Metadata: ${error.message}`) : error;
  }
}

const invalid = (detail: string): Failure => fail('INVALID_METADATA', detail);
