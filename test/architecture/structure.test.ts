import { expect } from 'chai';
import { type Source, sourcesIn } from '../support/sources.ts';

const MAX_FUNCTION = 80;
const MAX_FILE = 300;

/** Folders whose files call each other in cycles: expressions inside expressions, and strategies with the function that picks one. */
const CYCLIC_FOLDERS = ['plugins/query/compile/', 'plugins/query/parse/', 'sandbox/host/launch/cgroups/'];

interface Block {
  readonly path: string;
  readonly line: number;
  readonly lines: number;
}

/** `) {`, `): Type {`, `=> {` at the end of a line: what opens the body of a function, and not of a statement or a class. */
const OPENS = /(?:\)|\)\s*:\s*[^=]+|=>)\s*\{$/;
const STATEMENT = /^\s*(?:\}\s*)?(?:if|for|while|switch|catch|else|with)\b/;

/** Bodies of functions, found by the line that opens each and the line of the same indent that closes it. */
function functionsIn({ path, raw }: Source): readonly Block[] {
  const lines = raw.split('\n');
  return lines.flatMap((text, at) => {
    if (!OPENS.test(text) || STATEMENT.test(text)) return [];
    const indent = /^\s*/.exec(text)?.[0] ?? '';
    const end = lines.findIndex((other, below) => below > at && other.startsWith(`${indent}}`));
    return end < 0 ? [] : [{ path, line: at + 1, lines: end - at + 1 }];
  });
}

const isKnownCycle = (path: string, target: string): boolean =>
  CYCLIC_FOLDERS.some((folder) => path.startsWith(folder) && target.startsWith(folder));

/** One cycle of imports as a path, or undefined. Imports of types alone do not count: nothing of them is left when code runs. */
function cycleIn(sources: readonly Source[]): string | undefined {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): string | undefined => {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path].join(' → ');
    if (done.has(path)) return undefined;
    for (const { target, typeOnly } of byPath.get(path)?.imports ?? []) {
      if (target === null || typeOnly || isKnownCycle(path, target)) continue;
      const found = visit(target, [...above, path]);
      if (found) return found;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of sources) {
    const found = visit(path, []);
    if (found) return found;
  }
  return undefined;
}

describe('architecture: structure', () => {
  const kernel = sourcesIn('kernel');
  const plugins = sourcesIn('plugins');
  const sandbox = sourcesIn('sandbox');
  const sources = [...kernel, ...plugins, ...sandbox, ...sourcesIn('extensions/{examples,sdk}')];

  it(`has no function over ${MAX_FUNCTION} lines`, function () {
    const all = sources.flatMap(functionsIn).sort((a, b) => b.lines - a.lines);
    const [largest] = all;
    if (this.test && largest) {
      this.test.title += ` (largest: ${largest.path}:${largest.line}, ${largest.lines})`;
    }
    expect(all.filter(({ lines }) => lines > MAX_FUNCTION)).to.deep.equal([]);
  });

  it(`has no file over ${MAX_FILE} lines`, () => {
    const long = sources.filter(({ lines }) => lines > MAX_FILE);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).to.deep.equal([]);
  });

  it('has no cycle of imports between files', () => {
    expect(cycleIn([...kernel, ...plugins, ...sandbox])).to.equal(undefined);
  });
});
