/** Longer names are not compared: the cost of a name is its length times that of each candidate. */
const MAX_LENGTH = 64;

/**
 * The candidate that a misspelt name most likely means, or undefined where none is close. Without `allowed`, a third of the name
 * may be wrong. Upper and lower case make no difference.
 *
 * @param allowed Keystrokes (one character more, less, other, or two swapped) that may lie between the two names.
 */
export function findNearestName(name: string, candidates: Iterable<string>, allowed?: number): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const lowerName = name.toLowerCase();
  let nearest: string | undefined;
  let least = (allowed ?? Math.floor(name.length / 3) + (name.length > 3 ? 1 : 0)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH || Math.abs(candidate.length - lowerName.length) >= least) continue;
    const found = editDistance(lowerName, candidate.toLowerCase(), least);
    if (found >= least) continue;
    nearest = candidate;
    least = found;
    if (found === 0) break;
  }
  return nearest;
}

/** The number of keystrokes from one text to the other (optimal string alignment); `bound` as soon as it cannot be fewer. */
function editDistance(a: string, b: string, bound: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(
        (row[j - 1] as number) + (same ? 0 : 1),
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
      );
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, (before[j - 2] as number) + 1);
      next.push(least);
    }
    if (Math.min(...next) >= bound) return bound;
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
