type Undo = () => unknown;

/**
 * Everything one extension added, to be taken away as a whole. What is added after it was closed is taken away at once:
 * code that was given up may still be running.
 */
export interface UndoStack {
  /** Answers how to take this one thing away before. */
  add(undo: Undo): () => unknown;
  /** Last in, first out; one that fails does not keep the others. Throws the first failure. */
  close(): Promise<void>;
}

export function createUndoStack(): UndoStack {
  const undos = new Set<() => unknown>();
  let closed = false;
  return {
    add(undo) {
      const now = () => (undos.delete(now) ? undo() : undefined);
      undos.add(now);
      if (closed) now();
      return now;
    },
    async close() {
      closed = true;
      const failures: unknown[] = [];
      for (const undo of [...undos].reverse()) {
        try {
          await undo();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
