import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, type Log } from '#kernel';
import { type Db, identifier } from '../../database/contract.ts';
import type { Media } from '../../media/contract.ts';
import { type Location, temporaryFolder } from '../../storage/contract.ts';
import type { FileRecord, Variant } from '../variant.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly media: Media;
}

/** Makes a variant and puts it beside the file's own bytes. */
export type Make = (location: Location, file: FileRecord, variant: Variant) => Promise<void>;

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

  return async (location, file, variant) => {
    const folder = await temporaryFolder('asset');
    const target = join(folder, variant.name);
    try {
      const done = await location.asFile(file.filename_disk, (source) => transform(source, target, variant));
      if (!done) throw fail('FORBIDDEN', `the bytes of the file ${file.id} are gone`);
      await location.write(variant.name, createReadStream(target), { type: variant.type });
    } catch (error) {
      // Bytes that vanish in the middle of the work look like damage.
      throw (await isStillNamed(file)) ? error : vanished(file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    if (await isStillNamed(file)) return;
    await location.remove(variant.name);
    throw vanished(file);
  };
}

const vanished = ({ id }: FileRecord) =>
  fail('FORBIDDEN', `the bytes of the file ${id} were replaced or deleted while an image was made of them`);
