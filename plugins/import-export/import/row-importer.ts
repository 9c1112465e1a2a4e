import { type Caller, fail } from '#kernel';
import { storeInTemporaryFile, type TemporaryFile } from '../../files/library.ts';
import type { ItemsEngine, ReadImportBatches } from '../../items/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';
import { createSemaphore } from '../../workers/library.ts';
import type { ImportExportService } from '../contract.ts';
import { readCsvRows } from './csv-rows.ts';
import { assertKnownCharset, decodeText } from './decode-text.ts';
import { createImportDeadline } from './import-deadline.ts';
import { readJsonRows } from './json-rows.ts';
import { toBatches } from './row-batches.ts';

export interface ImportLimits {
  /** Milliseconds of one import. */
  readonly timeout: number;
  /** Imports of this process at a time. */
  readonly concurrency: number;
  /** Bytes of a file. */
  readonly maxBytes: number;
  /** Characters of a row. */
  readonly maxRowSize: number;
  /** Errors that one answer reports. */
  readonly maxErrors: number;
}

interface Deps {
  readonly items: Pick<ItemsEngine, 'checkImport' | 'importRows'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly limits: ImportLimits;
}

type FileFormat = 'csv' | 'json';

const FORMATS: Readonly<Record<string, FileFormat>> = {
  'text/csv': 'csv',
  'application/vnd.ms-excel': 'csv',
  'application/json': 'json',
};

/** Creates the function that imports the rows of a file: the file is stored first, then its rows are written. */
export function createRowImporter({ items, schema, limits }: Deps): ImportExportService['importRows'] {
  const semaphore = createSemaphore({
    limit: limits.concurrency,
    queue: 0,
    refuse: () => fail('SERVICE_UNAVAILABLE', 'Too many imports are running; try again later.', { service: 'import' }),
  });

  /** The columns of a CSV file are resolved in the schema at the beginning of each pass. */
  const createReader = (file: TemporaryFile, name: string, { format, charset }: FileType): ReadImportBatches =>
    async function* () {
      const text = decodeText(file.read(), charset);
      if (format === 'json') return yield* toBatches(readJsonRows(text, limits));
      const snapshot = await schema.snapshot();
      const collection = snapshot.collections.get(name);
      if (!collection) throw fail('FORBIDDEN', `the collection ${name} is gone`);
      yield* toBatches(readCsvRows(text, { ...limits, collection, schema: snapshot }));
    };

  return async (caller: Caller, name, { type, bytes }, { signal: clientSignal } = {}) => {
    await items.checkImport(caller, name);
    const fileType = parseFileType(type);
    const release = await semaphore.acquire();
    const deadline = createImportDeadline(limits.timeout, clientSignal);
    const { signal } = deadline;
    let file: TemporaryFile | undefined;
    try {
      file = await storeInTemporaryFile(bytes, { maxBytes: limits.maxBytes, signal });
      const readBatches = createReader(file, name, fileType);
      return await items.importRows(caller, name, readBatches, { signal, maxErrors: limits.maxErrors });
    } finally {
      deadline.clear();
      release();
      await file?.close();
    }
  };
}

interface FileType {
  readonly format: FileFormat;
  readonly charset: string | undefined;
}

/** @throws UNSUPPORTED_MEDIA_TYPE for a type that is neither CSV nor JSON, and for an unknown charset. */
function parseFileType(mediaType: string | undefined): FileType {
  const [type = '', ...parameters] = (mediaType ?? '').split(';').map((one) => one.trim());
  const format = FORMATS[type.toLowerCase()];
  if (!format)
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The file must be text/csv or application/json.', {
      mediaType,
      where: 'file',
    });
  const charset = parameters
    .map((one) => /^charset\s*=\s*"?([^"]+)"?$/i.exec(one)?.[1])
    .find((one) => one !== undefined);
  assertKnownCharset(charset);
  return { format, charset };
}
