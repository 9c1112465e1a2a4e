/** One `{{ path }}` alone: its value is taken as it is. */
const WHOLE = /^\s*\{\{\s*([^{}]+?)\s*\}\}\s*$/;
const PART = /\{\{\s*([^{}]+?)\s*\}\}/g;
/** What stands in place of a path that has no value, so that a reader sees where one is missing. */
const MISSING = 'undefined';
/** Options nested deeper than this are refused. */
const MAX_DEPTH = 100;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The parts of a path: `$trigger.body.items[0].id`, also with quoted parts such as `["first name"]`. */
function parsePath(path: string): readonly string[] {
  const parts: string[] = [];
  for (const match of path.matchAll(/\[\s*(?:"([^"]*)"|'([^']*)'|([^\]]*))\s*\]|([^.[\]]+)/g))
    parts.push((match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim());
  return parts;
}

/** The value at a path of the run's data; undefined where there is none. Only own members count. */
export function readPath(data: unknown, path: string): unknown {
  let value = data;
  for (const part of parsePath(path)) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? MISSING);
}

/**
 * Renders the options of an operation (conventions, "Option templating"): a text that is one template keeps the type of its value, in
 * other texts objects become JSON, and paths without a value the text `undefined`. Keys stay as they are.
 * @param missing receives each path that has no value
 * @throws RangeError for options nested deeper than 100 levels
 */
export function renderOptions(options: unknown, data: unknown, missing: (path: string) => void, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError(`options are nested deeper than ${MAX_DEPTH} levels`);
  const read = (path: string): unknown => {
    const value = readPath(data, path);
    if (value === undefined) missing(path);
    return value;
  };
  if (typeof options === 'string') {
    if (!options.includes('{{')) return options;
    const [, whole] = WHOLE.exec(options) ?? [];
    if (whole === undefined) return options.replace(PART, (_, path: string) => toText(read(path)));
    const value = read(whole);
    return value === undefined ? MISSING : value;
  }
  if (Array.isArray(options)) return options.map((one) => renderOptions(one, data, missing, depth + 1));
  if (!isObject(options)) return options;
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, renderOptions(value, data, missing, depth + 1)]),
  );
}
