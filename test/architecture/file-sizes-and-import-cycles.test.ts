import { expect } from 'chai';
import { findImportCycle, type ParsedCodeFile, readCodeFiles, readTypeScriptFiles } from '../support/sources.ts';

/** All folders with code of the project; `extensions/local` holds third-party code. */
const FOLDERS = ['kernel', 'plugins', 'sandbox', 'extensions/sdk', 'extensions/examples', 'scripts', 'test'];
const MAX_FUNCTION = 80;
const MAX_FILE = 300;

interface Block {
  readonly path: string;
  readonly line: number;
  readonly lines: number;
}

/** `) {`, `): Type {`, `=> {` at the end of a line: opens a function body, or a statement, which `STATEMENT` excludes. */
const OPENS = /(?:\)|\)\s*:\s*[^=]+|=>)\s*\{$/;
const STATEMENT = /^\s*(?:\}\s*)?(?:if|for|while|switch|catch|else|with)\b/;

/** Bodies of functions, found by the line that opens each and the line of the same indent that closes it. */
function functionsIn({ path, raw }: ParsedCodeFile): readonly Block[] {
  const lines = raw.split('\n');
  return lines.flatMap((text, at) => {
    if (!OPENS.test(text) || STATEMENT.test(text)) return [];
    const indent = /^\s*/.exec(text)?.[0] ?? '';
    const end = lines.findIndex((other, below) => below > at && other.startsWith(`${indent}}`));
    return end < 0 ? [] : [{ path, line: at + 1, lines: end - at + 1 }];
  });
}

describe('architecture: structure', () => {
  const kernel = readTypeScriptFiles('kernel');
  const plugins = readTypeScriptFiles('plugins');
  const sandbox = readTypeScriptFiles('sandbox');
  const sources = [...kernel, ...plugins, ...sandbox, ...readTypeScriptFiles('extensions/{examples,sdk}')];

  it(`no function has more than ${MAX_FUNCTION} lines`, function () {
    const all = sources.flatMap(functionsIn).sort((a, b) => b.lines - a.lines);
    const [largest] = all;
    if (this.test && largest) {
      this.test.title += ` (largest: ${largest.path}:${largest.line}, ${largest.lines})`;
    }
    expect(all.filter(({ lines }) => lines > MAX_FUNCTION)).to.deep.equal([]);
  });

  it(`no file has more than ${MAX_FILE} lines`, () => {
    const long = sources.filter(({ lines }) => lines > MAX_FILE);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).to.deep.equal([]);
  });

  it('no folder has an import cycle between files', () => {
    const cycle = findImportCycle(FOLDERS.flatMap(readCodeFiles));
    expect(cycle, cycle).to.equal(undefined);
  });
});
