import { fail } from '#kernel';
import { extended, parameterised } from './parameters.ts';
import type { Part, Parts } from './parts.ts';

/** Texts by field name. */
export type Fields = ReadonlyMap<string, string>;

export interface FormFile {
  readonly filename: string;
  readonly type: string | undefined;
  /** Those that stand between the file before and this one. */
  readonly fields: Fields;
  /**
   * Ends when the next file begins or the form has come to its end: what is wrong with the rest of a form is known before the
   * last byte of its file is given away.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface Form {
  /** The next file, once the bytes of the one before are read. */
  next(): Promise<FormFile | undefined>;
  /** Those that no file came after. */
  rest(): Fields;
}

interface Options {
  readonly maxFiles: number;
  /** Counts bytes that are kept in memory until the form is done. */
  hold(bytes: number): void;
}

/** Characters of a name, bytes of all texts that belong to one file, parts of one form. */
const LONGEST_NAME = 255;
const MAX_TEXT = 1024 * 1024;
const MAX_PARTS = 1000;

const invalid = (reason: string, extensions = {}) => fail('INVALID_PAYLOAD', reason, extensions);

/** Fields and files of a form (specification, "Files endpoints", 1): a file has the fields before it. */
export function formOf(parts: Parts, { maxFiles, hold }: Options): Form {
  let fields = new Map<string, string>();
  let size = 0;
  let count = 0;
  let files = 0;
  let isReading = false;
  let ahead: Promise<FormFile | undefined> | undefined;

  async function find(): Promise<FormFile | undefined> {
    for (let part = await parts.next(); part; part = await parts.next()) {
      if (++count > MAX_PARTS)
        throw fail('CONTENT_TOO_LARGE', `The form has more than the ${MAX_PARTS} parts allowed.`);
      const { name, filename, type, isFile } = described(part);
      if (isFile) return fileOf(part, filename, type);
      const text = await textOf(part.bytes, MAX_TEXT - size, hold);
      size += Buffer.byteLength(text);
      fields.set(name, text);
    }
    return undefined;
  }

  function fileOf({ bytes }: Part, filename: string | undefined, type: string | undefined): FormFile {
    if (!filename) throw invalid('A file of the form has no name.', { part: count });
    if (++files > maxFiles)
      throw invalid(`The form has ${files} files or more, more than the ${maxFiles} allowed.`, { part: count });
    const own = fields;
    fields = new Map();
    size = 0;
    isReading = true;
    return { filename, type, fields: own, bytes: untilNext(bytes) };
  }

  async function* untilNext(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* bytes;
    isReading = false;
    ahead = find();
    await ahead;
  }

  return {
    async next() {
      if (isReading && !ahead) throw new Error('the file before was not read to its end');
      const found = ahead ?? find();
      ahead = undefined;
      return found;
    },
    rest: () => fields,
  };
}

interface Described {
  readonly name: string;
  readonly filename: string | undefined;
  /** As it was said, parameters included. */
  readonly type: string | undefined;
  readonly isFile: boolean;
}

function described({ headers }: Part): Described {
  const { value, parameters } = parameterised(decoded(headers['content-disposition']?.[0] ?? ''));
  const name = parameters.get('name');
  if (value !== 'form-data' || !name) throw invalid('A part of the form has no name.');
  if (name.length > LONGEST_NAME)
    throw invalid(`A part of the form has a name of ${name.length} characters, more than the ${LONGEST_NAME} allowed.`);
  const filename = extended(parameters.get('filename*')) ?? parameters.get('filename');
  if (`${name}${filename}`.includes('\0')) throw invalid('A name of the form contains a NUL character.');
  const said = headers['content-type']?.[0]?.trim() || undefined;
  const type = said === undefined ? undefined : decoded(said);
  return { name, filename, type, isFile: filename !== undefined || !isText(type) };
}

/** Without a name of a file it may still be said to be one. */
const isText = (type: string | undefined): boolean =>
  type === undefined || /^(?:text\/|application\/json\s*(?:;|$))/i.test(type);

/** Bytes of a header are those of a text in UTF-8. */
const decoded = (header: string): string => Buffer.from(header, 'latin1').toString('utf8');

async function textOf(bytes: AsyncIterable<Uint8Array>, most: number, hold: (bytes: number) => void): Promise<string> {
  const taken: Uint8Array[] = [];
  let size = 0;
  for await (const one of bytes) {
    size += one.length;
    if (size > most)
      throw fail('CONTENT_TOO_LARGE', `The fields of a file are larger than the ${MAX_TEXT} bytes allowed.`);
    taken.push(one);
    hold(one.length);
  }
  const text = Buffer.concat(taken).toString('utf8');
  if (text.includes('\0')) throw invalid('A field of the form contains a NUL character.');
  return text;
}
