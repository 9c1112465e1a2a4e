import { fail } from '#kernel';
import type { FormPart, FormPartReader } from './form-parts.ts';
import { decodeExtendedHeaderParameter, parseHeaderValue } from './header-value.ts';

/** Texts by field name. */
export type FormFields = ReadonlyMap<string, string>;

export interface FormFile {
  readonly filename: string;
  readonly type: string | undefined;
  /** The fields between the previous file and this one. */
  readonly fields: FormFields;
  /**
   * Ends when the next file begins or the form ends, so that a malformed rest of the form fails the reader before it has the
   * whole file.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FormReader {
  /** The next file of the form. The bytes of the previous file must be read before. */
  nextFile(): Promise<FormFile | undefined>;
  /** The fields behind the last file. */
  remainingFields(): FormFields;
}

interface FormOptions {
  readonly maxFiles: number;
  /** Counts bytes that stay in memory until the form is done. */
  countMemory(bytes: number): void;
}

/** Maximum characters of a name, bytes of all fields of one file, and parts of one form. */
const MAX_NAME_LENGTH = 255;
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_PARTS = 1000;

const invalid = (reason: string, extensions = {}) => fail('INVALID_PAYLOAD', reason, extensions);

/** Reads fields and files of a form (specification, "Files endpoints", 1): a file has the fields before it. */
export function createFormReader(parts: FormPartReader, { maxFiles, countMemory }: FormOptions): FormReader {
  let fields = new Map<string, string>();
  let size = 0;
  let count = 0;
  let files = 0;
  let isReading = false;
  let prefetched: Promise<FormFile | undefined> | undefined;

  async function findFile(): Promise<FormFile | undefined> {
    for (let part = await parts.next(); part; part = await parts.next()) {
      if (++count > MAX_PARTS)
        throw fail('CONTENT_TOO_LARGE', `The form has more than the ${MAX_PARTS} parts allowed.`);
      const { name, filename, type, isFile } = parsePartHeaders(part);
      if (isFile) return createFile(part, filename, type);
      const text = await readText(part.bytes, MAX_TEXT_BYTES - size, countMemory);
      size += Buffer.byteLength(text);
      fields.set(name, text);
    }
    return undefined;
  }

  function createFile({ bytes }: FormPart, filename: string | undefined, type: string | undefined): FormFile {
    if (!filename) throw invalid('A file of the form has no name.', { part: count });
    if (++files > maxFiles)
      throw invalid(`The form has ${files} files or more, more than the ${maxFiles} allowed.`, { part: count });
    const precedingFields = fields;
    fields = new Map();
    size = 0;
    isReading = true;
    return { filename, type, fields: precedingFields, bytes: readThenPrefetch(bytes) };
  }

  async function* readThenPrefetch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* bytes;
    isReading = false;
    prefetched = findFile();
    await prefetched;
  }

  return {
    async nextFile() {
      if (isReading && !prefetched) throw new Error('the file before was not read to its end');
      const found = prefetched ?? findFile();
      prefetched = undefined;
      return found;
    },
    remainingFields: () => fields,
  };
}

interface PartHeaders {
  readonly name: string;
  readonly filename: string | undefined;
  /** As it was sent, parameters included. */
  readonly type: string | undefined;
  readonly isFile: boolean;
}

function parsePartHeaders({ headers }: FormPart): PartHeaders {
  const { value, parameters } = parseHeaderValue(decodeHeader(headers['content-disposition']?.[0] ?? ''));
  const name = parameters.get('name');
  if (value !== 'form-data' || !name) throw invalid('A part of the form has no name.');
  if (name.length > MAX_NAME_LENGTH)
    throw invalid(
      `A part of the form has a name of ${name.length} characters, more than the ${MAX_NAME_LENGTH} allowed.`,
    );
  const filename = decodeExtendedHeaderParameter(parameters.get('filename*')) ?? parameters.get('filename');
  if (`${name}${filename}`.includes('\0')) throw invalid('A name of the form contains a NUL character.');
  const rawType = headers['content-type']?.[0]?.trim() || undefined;
  const type = rawType === undefined ? undefined : decodeHeader(rawType);
  return { name, filename, type, isFile: filename !== undefined || !isTextType(type) };
}

/** A part without a file name is a file if its type is not text or JSON. */
const isTextType = (type: string | undefined): boolean =>
  type === undefined || /^(?:text\/|application\/json\s*(?:;|$))/i.test(type);

/** Node reads headers as latin1; browsers send UTF-8. */
const decodeHeader = (header: string): string => Buffer.from(header, 'latin1').toString('utf8');

async function readText(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  countMemory: (bytes: number) => void,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const one of bytes) {
    size += one.length;
    if (size > maxBytes)
      throw fail('CONTENT_TOO_LARGE', `The fields of a file are larger than the ${MAX_TEXT_BYTES} bytes allowed.`);
    chunks.push(one);
    countMemory(one.length);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.includes('\0')) throw invalid('A field of the form contains a NUL character.');
  return text;
}
