import { LRUCache } from 'lru-cache';
import { ANSWER_SCOPES } from '../request/answer-key.ts';
import type { TableChanges } from '../tables/table-changes.ts';
import type { AnswerStore, AnswerToStore } from './answer-store.ts';

/** The part of the memory for answers that no second client has asked for. */
const NEW_ANSWERS_SHARE = 1 / 4;
/** Bytes of an entry beside its body, approximately. */
const ENTRY_OVERHEAD = 600;
const BYTES_OF_NUMBER = 8;

type Entry = Omit<AnswerToStore, 'position'> & { readonly position: number };

/**
 * Answers in the memory of this process, in two lists that each forget what was not used for longest. A new answer is in the small list
 * until it is used by another client, or by a signed-in one. So a client that asks for everything once, or again and again, replaces
 * new answers only, and never those that others use.
 */
export function createMemoryStore(changes: TableChanges, maxSize: number): AnswerStore {
  const newSize = Math.floor(maxSize * NEW_ANSWERS_SHARE);
  const sizeCalculation = ({ answer, relations, key }: Entry) =>
    answer.body.length + 2 * key.length + BYTES_OF_NUMBER * relations.length + ENTRY_OVERHEAD;
  const fresh = new LRUCache<string, Entry>({ maxSize: newSize, sizeCalculation });
  const used = new LRUCache<string, Entry>({ maxSize: maxSize - newSize, sizeCalculation });

  const isUsable = ({ answer, position, relations }: Entry) =>
    answer.expiresAt > Date.now() && changes.isUnchangedSince(position, relations);

  return {
    find(keys, client) {
      for (const scope of ANSWER_SCOPES) {
        const key = keys[scope];
        const entry = used.get(key) ?? fresh.get(key);
        if (!entry) continue;
        if (!isUsable(entry)) {
          used.delete(key);
          fresh.delete(key);
        } else {
          if ((client.isSignedIn || client.id !== entry.client.id) && fresh.delete(key)) used.set(key, entry);
          return { answer: entry.answer, position: changes.now };
        }
      }
      return { answer: undefined, position: changes.now };
    },
    put(stored) {
      const entry = stored as Entry;
      if (!isUsable(entry)) return;
      // An answer that was used before it became stale keeps its place.
      (used.has(entry.key) ? used : fresh).set(entry.key, entry);
    },
    change: () => {},
    clear() {
      fresh.clear();
      used.clear();
    },
    async measure() {
      const since = performance.now();
      fresh.has('');
      return performance.now() - since;
    },
    async stop() {
      fresh.clear();
      used.clear();
    },
  };
}
