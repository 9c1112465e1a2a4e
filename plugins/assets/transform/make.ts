import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fail, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { Media } from '../../media/contract.ts';
import type { Location } from '../../storage/contract.ts';
import { temporaryFile } from '../../storage/library.ts';
import { type FileRecord, SMALL, type Variant } from '../variant.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly media: Media;
}

export interface Maker {
  /** Makes a variant and puts it beside the file's own bytes. Answers it where it is small, so that it is not read again. */
  make(location: Location, file: FileRecord, variant: Variant): Promise<Buffer | undefined>;
  /** Resolves when nothing is left to do after what was made. Never rejects. */
  tidied(): Promise<void>;
}

export function createMaker({ db, log, media }: Deps): Maker {
  const STILL_NAMED = db.sql`select 1 from ${db.read('platform_files')} where id = $1 and filename_disk = $2`;
  const tidying = new Set<Promise<unknown>>();

  async function transform(source: string, target: string, { name, plan }: Variant): Promise<true> {
    const began = performance.now();
    const { width, height, size } = await media.transform(source, target, plan);
    log.debug({ object: name, width, height, size, ms: Math.round(performance.now() - began) }, 'an image was made');
    return true;
  }

  /** Whoever replaced or deleted the file meanwhile may have looked for variants before there was this one. */
  async function isStillNamed({ id, filename_disk }: FileRecord): Promise<boolean> {
    const { count } = await db.query(STILL_NAMED, [id, filename_disk], { name: 'assets_still_named' });
    return count > 0;
  }

  /** What is there has been stored: nobody waits for this. */
  function tidy(location: Location, file: FileRecord, { name }: Variant, clean: () => Promise<void>): void {
    const removeVanished = async () => (await isStillNamed(file)) || location.remove(name);
    const work: Promise<unknown> = Promise.all([clean(), removeVanished()])
      .catch((error) => log.warn({ err: error, object: name }, 'an image may have outlived the file it was made of'))
      .finally(() => tidying.delete(work));
    tidying.add(work);
  }

  async function make(location: Location, file: FileRecord, variant: Variant): Promise<Buffer | undefined> {
    const target = temporaryFile('asset');
    const clean = () => rm(target, { force: true });
    let small: Buffer | undefined;
    try {
      const done = await location.asFile(file.filename_disk, (source) => transform(source, target, variant));
      if (!done) throw fail('FORBIDDEN', `the bytes of the file ${file.id} are gone`);
      if ((await stat(target)).size <= SMALL) small = await readFile(target);
      await store(location, variant, small ? Readable.from([small]) : createReadStream(target));
    } catch (error) {
      // Bytes that vanish in the middle of the work look like damage.
      await clean();
      throw (await isStillNamed(file)) ? error : vanished(file);
    }
    tidy(location, file, variant, clean);
    return small;
  }

  return {
    make,
    async tidied() {
      await Promise.all(tidying);
    },
  };
}

async function store(location: Location, { name, type }: Variant, bytes: Readable): Promise<void> {
  // A file that cannot be opened says so before the location reads: whoever reads it is told.
  bytes.on('error', () => {});
  try {
    await location.write(name, bytes, { type });
  } finally {
    // A location that refuses at once has not begun to read.
    bytes.destroy();
  }
}

const vanished = ({ id }: FileRecord) =>
  fail('FORBIDDEN', `the bytes of the file ${id} were replaced or deleted while an image was made of them`);
