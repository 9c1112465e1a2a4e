/** A folder as its caller may read it. */
export interface ZipFolder {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
}

/** Names of one path segment: longer ones cannot be unpacked on most systems. */
const MAX_NAME_BYTES = 200;
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** A name that every system can unpack as one segment of a path: no separators, no invisible characters, no device of Windows. */
export function toEntryName(name: string, fallback: string): string {
  const clean = name
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
    .replace(/[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/[. ]+$/, '')
    .trim();
  const safe = RESERVED.test(clean) ? `_${clean}` : clean;
  return safe === '' ? fallback : shorten(safe);
}

/** Cuts the name, not its extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? '';
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem + extension) > MAX_NAME_BYTES) stem = [...stem].slice(0, -1).join('');
  return stem + extension;
}

/** Creates the function that makes a path unique among those it has seen, also where case does not count: `a (2).txt`. */
export function createUniquePaths(): (folder: string, name: string) => string {
  const seen = new Set<string>();
  return (folder, name) => {
    const [, stem, extension] = /^(.+?)(\.[^.]{1,16})?$/s.exec(name) as unknown as [string, string, string?];
    for (let number = 1; ; number++) {
      const path = `${folder}${number === 1 ? name : `${stem} (${number})${extension ?? ''}`}`;
      const key = path.toLowerCase();
      if (seen.has(key)) continue;
      seen.add(key);
      return path;
    }
  };
}

/**
 * The paths of a folder and of all folders in it, by id; the folder itself is ''. A folder whose parent the caller may not read is
 * not below it.
 */
export function pathsBelow(root: string, folders: readonly ZipFolder[]): ReadonlyMap<string, string> {
  const children = Map.groupBy(folders, ({ parent }) => parent);
  const paths = new Map([[root, '']]);
  const unique = createUniquePaths();
  const pending = [root];
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const child of children.get(id) ?? []) {
      if (paths.has(child.id)) continue;
      paths.set(child.id, `${unique(paths.get(id) as string, toEntryName(child.name, 'folder'))}/`);
      pending.push(child.id);
    }
  return paths;
}
