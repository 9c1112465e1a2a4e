import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fail, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { MediaService } from '../../media/contract.ts';
import type { StorageLocation } from '../../storage/contract.ts';
import { createTemporaryFilePath } from '../../storage/library.ts';
import { type FileRecord, type ImageVariant, MAX_BUFFERED_BYTES } from '../variant.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly media: MediaService;
}

export interface ImageVariantMaker {
  /** Makes a variant and stores it beside the object of its file. Answers its bytes if it is small, so that it is not read again. */
  make(location: StorageLocation, file: FileRecord, variant: ImageVariant): Promise<Buffer | undefined>;
  /** Resolves when the temporary files and outdated variants of all made images are removed. Never rejects. */
  waitForCleanUp(): Promise<void>;
}

export function createImageVariantMaker({ db, log, media }: Deps): ImageVariantMaker {
  const IS_CURRENT = db.sql`select 1 from ${db.read('platform_files')} where id = $1 and filename_disk = $2`;
  const cleanUps = new Set<Promise<unknown>>();

  async function transform(source: string, target: string, { name, plan }: ImageVariant): Promise<true> {
    const began = performance.now();
    const { width, height, size } = await media.transform(source, target, plan);
    log.debug({ object: name, width, height, size, ms: Math.round(performance.now() - began) }, 'an image was made');
    return true;
  }

  /** False if the file was replaced or deleted meanwhile: its variants may have been removed before this one was stored. */
  async function isCurrent({ id, filename_disk }: FileRecord): Promise<boolean> {
    const { count } = await db.query(IS_CURRENT, [id, filename_disk], { name: 'assets_still_named' });
    return count > 0;
  }

  /**
   * Removes the temporary file, and the variant if its file was replaced meanwhile. Runs in the background, since the variant is
   * stored already.
   */
  function cleanUpAfter(
    location: StorageLocation,
    file: FileRecord,
    { name }: ImageVariant,
    clean: () => Promise<void>,
  ): void {
    const removeIfOutdated = async () => (await isCurrent(file)) || location.remove(name);
    const work: Promise<unknown> = Promise.all([clean(), removeIfOutdated()])
      .catch((error) =>
        log.warn({ err: error, object: name }, 'a variant of a replaced or deleted file could not be removed'),
      )
      .finally(() => cleanUps.delete(work));
    cleanUps.add(work);
  }

  async function make(location: StorageLocation, file: FileRecord, variant: ImageVariant): Promise<Buffer | undefined> {
    const target = createTemporaryFilePath('asset');
    const clean = () => rm(target, { force: true });
    let small: Buffer | undefined;
    try {
      const isMade = await location.asFile(file.filename_disk, (source) => transform(source, target, variant));
      if (!isMade) throw fail('FORBIDDEN', `the bytes of the file ${file.id} are gone`);
      if ((await stat(target)).size <= MAX_BUFFERED_BYTES) small = await readFile(target);
      await store(location, variant, small ? Readable.from([small]) : createReadStream(target));
    } catch (error) {
      // An object removed during the work looks damaged.
      await clean();
      throw (await isCurrent(file)) ? error : createReplacedFailure(file);
    }
    cleanUpAfter(location, file, variant, clean);
    return small;
  }

  return {
    make,
    async waitForCleanUp() {
      await Promise.all(cleanUps);
    },
  };
}

async function store(location: StorageLocation, { name, type }: ImageVariant, bytes: Readable): Promise<void> {
  // A temporary file may fail to open before the location reads it; `location.write` gets that error as well.
  bytes.on('error', () => {});
  try {
    await location.write(name, bytes, { type });
  } finally {
    // A location that fails at once never reads the stream.
    bytes.destroy();
  }
}

const createReplacedFailure = ({ id }: FileRecord) =>
  fail('FORBIDDEN', `the bytes of the file ${id} were replaced or deleted while an image was made of them`);
