import { Readable } from 'node:stream';
import { fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ByteRange, StorageService } from '../storage/contract.ts';
import type { FindReadableFile } from './reading/readable-file.ts';
import { withReadableFile } from './reading/replaced-object-retry.ts';
import { createMissingBytesFailure } from './serving/asset-response-writers.ts';
import { assertStreamLength } from './serving/stream-length.ts';
import type { FileRecord, ImageVariant, ImageVariantService, WholeStoredObject } from './variant.ts';

interface Deps {
  readonly findReadable: FindReadableFile;
  readonly variants: Pick<ImageVariantService, 'choose' | 'open'>;
  readonly storage: Pick<StorageService, 'at'>;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * `AssetsService` of code with full authority: `getAsset(id, transformation, range)` answers `{ stream, file, stat }`. The caller needs the
 * permission that `GET /assets/<id>` asks for. `transformation` has the parameters of that route (`width`, `format`, `key`, …), or is
 * `{ transformationParams, acceptFormat }`. A range, `{ start, end }` in bytes with both ends included, applies to untransformed files.
 */
export function assetsServiceClass({ findReadable, variants, storage }: Deps): ServiceClass {
  async function open(file: FileRecord, transformation: Members, range: ByteRange | undefined) {
    const { transformationParams = transformation, acceptFormat } = transformation;
    const { variant } = await variants.choose(file, toQuery(transformationParams), toAccept(acceptFormat));
    const image = variant && (await variants.open(file, variant));
    if (variant && image) return toAsset(file, image, variant);
    const object = await storage.at(file.storage).open(file.filename_disk, range);
    if (!object) throw createMissingBytesFailure();
    return toAsset(file, object, undefined, range);
  }

  return {
    name: 'AssetsService',
    methods: {
      getAsset: (caller, [id, transformation, range]) =>
        withReadableFile(findReadable, caller, String(id), (file) =>
          open(file, toMembers(transformation), parseRange(range, file)),
        ),
    },
  };
}

function toAsset(file: FileRecord, object: WholeStoredObject, variant?: ImageVariant, range?: ByteRange) {
  const { id, filename_download, type, width, height, duration, modified_on } = file;
  const length = range ? range.end - range.start + 1 : object.size;
  return {
    stream: Readable.from(object.buffer ? [object.buffer] : assertStreamLength(object.bytes, length), {
      objectMode: false,
    }),
    file: { id, filename_download, type: variant?.type ?? type, width, height, duration, modified_on },
    /** `size`: bytes of the whole object, also for a range. */
    stat: { size: object.size, modified: modified_on },
  };
}

const toMembers = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

const toAccept = (format: unknown): string | undefined =>
  typeof format === 'string' ? (format.includes('/') ? format : `image/${format}`) : undefined;

/** Parameters as a query string has them. */
const toQuery = (parameters: unknown): Members =>
  Object.fromEntries(
    Object.entries(toMembers(parameters))
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );

function parseRange(range: unknown, { filesize }: FileRecord): ByteRange | undefined {
  if (range === undefined || range === null) return undefined;
  const last = (filesize ?? 0) - 1;
  const { start = 0, end = last } = toMembers(range);
  if (!Number.isInteger(start) || !Number.isInteger(end)) throw fail('INVALID_PAYLOAD', 'a range has whole numbers');
  const cut = { start: start as number, end: Math.min(end as number, last) };
  if (cut.start < 0 || cut.start > cut.end)
    throw fail('INVALID_PAYLOAD', `the range ${start} to ${end} is not in the ${filesize ?? 0} bytes of the file`);
  return cut;
}
