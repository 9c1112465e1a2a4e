import { bytesOf } from './read.js';
import { writeObject } from './write.js';

/** Rows of a list that are fetched at once. */
const PAGE = 500;

/** Milliseconds after which a write that is not complete was one of a process that ended. */
const ABANDONED = 24 * 60 * 60 * 1000;

/** A driver (the service's `plugins/storage/contract.ts` says what one does) that keeps objects in two tables. */
export async function openDatabase(db, location) {
  const objects = () => db.table('platform_stored_objects');
  const chunks = () => db.table('platform_stored_chunks');
  const complete = (name) => objects().where({ location, name }).whereNotNull('modified');
  const find = async (name) => (await complete(name).select('id', 'name', 'size', 'modified'))[0];

  await objects()
    .where({ location })
    .whereNull('modified')
    .where('begun', '<', new Date(Date.now() - ABANDONED))
    .del();

  return {
    async open(name, range) {
      const found = await find(name);
      if (!found) return undefined;
      const size = Number(found.size);
      return { size, bytes: bytesOf(chunks, found.id, range ?? { start: 0, end: size - 1 }) };
    },

    write: (name, source, options) =>
      writeObject({ db, objects, chunks }, { location, name, type: options?.type }, source),

    /** With it go its bytes, and those of writes that are not complete: one that still runs fails. */
    async remove(name) {
      await objects().where({ location, name }).del();
    },

    async stat(name) {
      const found = await find(name);
      return found && told(found);
    },

    /** By pages that begin behind the last name, so that no list keeps a connection. */
    async *list(prefix) {
      let page = await names('>=', prefix);
      while (page.length > 0) {
        for (const one of page) {
          if (!one.name.startsWith(prefix)) return;
          yield told(one);
        }
        page = await names('>', page.at(-1).name);
      }
    },
  };

  function names(comparison, name) {
    return objects()
      .where({ location })
      .whereNotNull('modified')
      .where('name', comparison, name)
      .orderBy('name')
      .limit(PAGE)
      .select('name', 'size', 'modified');
  }
}

const told = ({ name, size, modified }) => ({ name, size: Number(size), modified });
