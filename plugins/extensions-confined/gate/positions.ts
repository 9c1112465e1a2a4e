import { SourceMap, type SourceMapPayload } from 'node:module';
import { relative, resolve } from 'node:path';

/** A place in the script that runs; line and column from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds where in the files of a package something of the script was written. */
export interface Positions {
  /** `index.js:12:5`, with the path inside of the package; undefined where that is not known. */
  find(position: Position): string | undefined;
}

/** Characters of a map; a larger one is not kept, since reading it would stop the service for long. */
const LONGEST_MAP = 2 * 1024 * 1024;

/** None of what runs was written anywhere. */
export const NO_POSITIONS: Positions = { find: () => undefined };

/**
 * `map`: of the text that begins in the script's line `firstLine`, counted from 1; read when it is first needed. `root`: the
 * folder of the package.
 */
export function createPositions(map: string, firstLine: number, root: string): Positions {
  if (map.length > LONGEST_MAP) return NO_POSITIONS;
  let parsed: SourceMap | undefined;
  return {
    find({ line, column }) {
      parsed ??= new SourceMap(JSON.parse(map) as SourceMapPayload);
      const entry = parsed.findEntry(line - firstLine, column - 1);
      if (!('originalSource' in entry)) return undefined;
      const file = relative(root, resolve(root, entry.originalSource.replace(/^package:/, '')));
      const isInside = /^[\w@./-]{1,200}$/.test(file) && !file.startsWith('..');
      return isInside ? `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}` : undefined;
    },
  };
}
