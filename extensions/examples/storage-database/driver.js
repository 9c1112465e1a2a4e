import { bytesOf } from './read.js';
import { writeObject } from './write.js';

/** Rows of a list that are fetched at once. */
const PAGE = 500;

/** Milliseconds after which an incomplete write counts as one of a process that has ended. */
const ABANDONED = 24 * 60 * 60 * 1000;

/** A storage driver (see `plugins/storage/contract.ts` of the service) that keeps objects in two tables. */
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

    /** Also removes the bytes, and incomplete writes of the name: a write that still runs fails. */
    async remove(name) {
      await objects().where({ location, name }).del();
    },

    async stat(name) {
      const found = await find(name);
      return found && toEntry(found);
    },

    /** Reads pages that begin after the last name, so that a list keeps no connection. */
    async *list(prefix) {
      let page = await names('>=', prefix);
      while (page.length > 0) {
        for (const one of page) {
          if (!one.name.startsWith(prefix)) return;
          yield toEntry(one);
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

const toEntry = ({ name, size, modified }) => ({ name, size: Number(size), modified });
