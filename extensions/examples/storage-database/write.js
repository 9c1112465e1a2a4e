import { randomUUID } from 'node:crypto';
import { inChunks } from './chunks.js';

/**
 * Each chunk is a statement of its own, since an upload may take hours and a transaction would keep a connection for as
 * long. Readers find the object only after the last statement marks it complete, which also replaces an older one.
 */
export async function writeObject({ db, objects, chunks }, { location, name, type }, source) {
  const id = randomUUID();
  await objects().insert({ id, location, name, type });
  try {
    let [part, size] = [0, 0];
    for await (const bytes of inChunks(source)) {
      await chunks().insert({ object: id, part, bytes });
      part++;
      size += bytes.length;
    }
    await db.transaction(async () => {
      await objects().where({ location, name }).whereNotNull('modified').del();
      const count = await objects().where({ id }).update({ size, modified: new Date() });
      if (count !== 1) throw new Error(`${name} was removed while it was written`);
    });
    return size;
  } catch (error) {
    // Where the database is unreachable, the next start removes the incomplete object a day later.
    await objects()
      .where({ id })
      .del()
      .catch(() => {});
    throw error;
  }
}
