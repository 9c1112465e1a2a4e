import { SourceMap, type SourceMapPayload } from 'node:module';
import { relative, resolve } from 'node:path';

/** A position in the script that runs; line and column count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Maps positions in the script to the files of the package. */
export interface SourcePositions {
  /** `index.js:12:5`, with the path inside of the package; undefined if it is not known. */
  find(position: Position): string | undefined;
}

/** Limit for a source map in characters; parsing a larger one would block the process. */
const LONGEST_MAP = 2 * 1024 * 1024;

/** For a script without a source map. */
export const NO_SOURCE_POSITIONS: SourcePositions = { find: () => undefined };

/**
 * Creates the positions of a script from its source map.
 * `map`: the source map of the text that begins in line `firstLine` of the script, counted from 1; parsed at the first use.
 * `root`: the folder of the package.
 */
export function createSourcePositions(map: string, firstLine: number, root: string): SourcePositions {
  if (map.length > LONGEST_MAP) return NO_SOURCE_POSITIONS;
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
