import type { Kernel } from '#kernel/boot';

/** Warns about each setting whose name nearly is the name of a declared one: probably a typing error. */
export function warnOfUnknownSettings({ log, settings }: Pick<Kernel, 'log' | 'settings'>): void {
  const declared = settings.declared().map(({ name }) => name);
  for (const { name, meant } of similarNames(Object.keys(settings.source), declared)) {
    log.warn({ owner: 'kernel' }, `unknown setting ${name}: did you mean ${meant}?`);
  }
}

/** Names that are one or two keystrokes away from a declared one and begin alike. */
export function similarNames(
  present: readonly string[],
  declared: readonly string[],
): readonly { name: string; meant: string }[] {
  const known = new Set(declared.flatMap((name) => [name, `${name}_FILE`]));
  return present
    .filter((name) => name.length >= 6 && !known.has(name))
    .flatMap((name) => {
      const meant = declared.find((other) => other[0] === name[0] && isNear(name, other));
      return meant ? [{ name, meant }] : [];
    });
}

function isNear(a: string, b: string): boolean {
  const allowed = Math.min(a.length, b.length) >= 9 ? 2 : 1;
  if (Math.abs(a.length - b.length) > allowed) return false;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[b.length] ?? allowed + 1) <= allowed;
}
