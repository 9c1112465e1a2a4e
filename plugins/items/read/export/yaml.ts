import { parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/** Writes rows as a YAML list. Long whole numbers stay exact. */
export async function createYamlWriter(): Promise<ExportWriter> {
  const { stringify } = await import('yaml');
  const keep = (source: string) => (/^-?\d+$/.test(source) ? BigInt(source) : Number(source));
  return {
    begin: '',
    // Members of a YAML list without brackets simply follow each other. The library makes a tree of many objects of what
    // it renders, so it gets one row at a time.
    rows: (batch) =>
      batch
        .map((text) => stringify([parseExactJson(text, keep)], { aliasDuplicateObjects: false, lineWidth: 0 }))
        .join(''),
    end: '',
    empty: '[]\n',
  };
}
