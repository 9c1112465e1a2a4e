import { createReadStream } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fail, type Log } from '#kernel';
import { type Db, identifier } from '../../database/contract.ts';
import type { Media } from '../../media/contract.ts';
import { type Location, type Opened, temporaryFile } from '../../storage/contract.ts';
import type { FileRecord, Variant } from '../variant.ts';

/** Bytes up to which what is made is read once, for both who want it. */
const SMALL = 256 * 1024;

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly media: Media;
}

/**
 * Makes a variant and puts it beside the file's own bytes. `show` is given it as soon as it is made: to be on the disk takes
 * longer than whoever waits for an image has to wait.
 */
export type Make = (
  location: Location,
  file: FileRecord,
  variant: Variant,
  show: (made: Opened) => void,
) => Promise<void>;

export function createMake({ db, log, media }: Deps): Make {
  async function transform(source: string, target: string, { name, plan }: Variant): Promise<true> {
    const began = performance.now();
    const { width, height, size } = await media.transform(source, target, plan);
    log.debug({ object: name, width, height, size, ms: Math.round(performance.now() - began) }, 'an image was made');
    return true;
  }

  /** Whoever replaced or deleted the file meanwhile may have looked for variants before there was this one. */
  async function isStillNamed({ id, filename_disk }: FileRecord): Promise<boolean> {
    const table = `${identifier(db.schemas[0] as string)}.platform_files`;
    const { count } = await db.query(
      `select 1 from ${table} where id = $1 and filename_disk = $2`,
      [id, filename_disk],
      {
        name: 'assets_still_named',
      },
    );
    return count > 0;
  }

  return async (location, file, variant, show) => {
    const target = temporaryFile('asset');
    try {
      const done = await location.asFile(file.filename_disk, (source) => transform(source, target, variant));
      if (!done) throw fail('FORBIDDEN', `the bytes of the file ${file.id} are gone`);
      const { shown, kept } = await twice(target);
      show(shown);
      await location.write(variant.name, kept, { type: variant.type });
    } catch (error) {
      // Bytes that vanish in the middle of the work look like damage.
      throw (await isStillNamed(file)) ? error : vanished(file);
    } finally {
      await rm(target, { force: true });
    }
    if (await isStillNamed(file)) return;
    await location.remove(variant.name);
    throw vanished(file);
  };
}

/** One reader for who waits, open from here on, so that it needs the file no more, and one for the storage. */
async function twice(path: string): Promise<{ shown: Opened; kept: AsyncIterable<Uint8Array> }> {
  const { size } = await stat(path);
  if (size <= SMALL) {
    const bytes = await readFile(path);
    return { shown: { size: bytes.length, bytes: Readable.from([bytes]) }, kept: Readable.from([bytes]) };
  }
  const file = await open(path);
  return { shown: { size, bytes: file.createReadStream() }, kept: createReadStream(path) };
}

const vanished = ({ id }: FileRecord) =>
  fail('FORBIDDEN', `the bytes of the file ${id} were replaced or deleted while an image was made of them`);
