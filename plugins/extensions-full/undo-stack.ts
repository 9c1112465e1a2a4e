type Undo = () => unknown;

/**
 * The undo functions of everything that one extension added. What is added after `close` is undone at once, because
 * code that exceeded its deadline may still run.
 */
export interface UndoStack {
  /** Adds an undo function. Answers a function that undoes this one thing earlier. */
  add(undo: Undo): () => unknown;
  /** Undoes everything, last in first out. A failure does not stop the others; the first one is thrown at the end. */
  close(): Promise<void>;
}

export function createUndoStack(): UndoStack {
  const undos = new Set<() => unknown>();
  let closed = false;
  return {
    add(undo) {
      const undoOnce = () => (undos.delete(undoOnce) ? undo() : undefined);
      undos.add(undoOnce);
      if (closed) undoOnce();
      return undoOnce;
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
