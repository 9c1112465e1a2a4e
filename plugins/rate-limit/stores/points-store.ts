/** The current window of a key. */
export interface PointsInWindow {
  /** Points that the key has used, also those above its limit. */
  readonly used: number;
  /** Milliseconds until the window ends. */
  readonly resetIn: number;
}

/** Counts points of keys in windows; a window begins with the first point of its key. */
export interface PointsStore {
  /** Adds points to a key and resolves with its window. Rejects where the store is not reached. */
  add(key: string, points: number): Promise<PointsInWindow>;
}
