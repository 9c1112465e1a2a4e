import { expect } from 'chai';
import { codeIn, findCycle, type Source, sourcesIn } from '../support/sources.ts';

/** All code of the project; what stands in `extensions/local` is third-party. */
const FOLDERS = ['kernel', 'plugins', 'sandbox', 'extensions/sdk', 'extensions/examples', 'scripts', 'test'];
const MAX_FUNCTION = 80;
const MAX_FILE = 300;

/** Files that are over a limit: the number of lines they may not exceed. An entry leaves the list with its reason. */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
  'plugins/database/unit-of-work.ts': 162,
  'plugins/extensions-full/services/schema.ts': 140,
  'plugins/items/collection-routes.ts': 139,
  'plugins/extensions-full/services/items.ts': 132,
  'plugins/items/read/read.ts': 111,
  'plugins/items/write/write.ts': 104,
  'plugins/sandbox/account.ts': 102,
  'plugins/items/capability/api.ts': 102,
  'plugins/schema/freshness/keeper.ts': 100,
  'plugins/files/janitor.ts': 100,
  'plugins/files/upload/plan.ts': 100,
  'plugins/extensions-consent/consent.ts': 96,
  'plugins/extensions/load/extensions.ts': 94,
  'plugins/extensions/index.ts': 92,
  'plugins/extensions/load/steps.ts': 92,
  'plugins/workers/worker.ts': 92,
  'plugins/workers/pool.ts': 92,
  'plugins/workers/semaphore.ts': 84,
  'plugins/files/multipart/parts.ts': 82,
  'plugins/items/descriptions/collection.ts': 82,
  'plugins/database/capability.ts': 81,
};
const LONG_FILES: Readonly<Record<string, number>> = {};

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

  it('has no cycle of imports between files, in any folder', () => {
    const cycle = findCycle(FOLDERS.flatMap(codeIn));
    expect(cycle, cycle).to.equal(undefined);
  });
});
