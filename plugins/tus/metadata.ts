import { type Failure, fail } from '#kernel';
import { FILES, type Incoming } from '../files/contract.ts';
import { checkJson } from '../http/contract.ts';
import type { Field, Schema } from '../schema/contract.ts';

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
  const fields = (await schema.overview()).collections.get(FILES)?.fields;
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
      metadata: Object.fromEntries(
        Object.entries(said).map(([name, text]) => [
          name,
          text === null ? null : asValue(name, fields?.get(name), text),
        ]),
      ),
    },
    replaces: id?.toLowerCase() ?? null,
  };
}

function asValue(name: string, field: Field | undefined, text: string): unknown {
  if (text === 'null') return null;
  const isTree = field?.type === 'json' || field?.column?.array || field?.relation;
  if (isTree && /^\s*[[{]/.test(text)) return parsed(name, text);
  return name === 'tags' ? text.split(',').map((tag) => tag.trim()) : text;
}

function parsed(name: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(`The value of "${name}" in Upload-Metadata is not JSON.`);
  }
  checkJson(value, text, name);
  return value;
}

const invalid = (detail: string): Failure => fail('INVALID_METADATA', detail);
