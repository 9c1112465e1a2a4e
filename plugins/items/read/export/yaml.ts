import { parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/** Writes rows as a YAML list. Long whole numbers stay exact. */
export async function createYamlWriter(): Promise<ExportWriter> {
  const { stringify } = await import('yaml');
  const keep = (source: string) => (/^-?\d+$/.test(source) ? BigInt(source) : Number(source));
  return {
    begin: '',
    // Members of a YAML list without brackets simply follow each other.
    rows: (batch) =>
      stringify(
        batch.map((text) => parseExactJson(text, keep)),
        { aliasDuplicateObjects: false, lineWidth: 0 },
      ),
    end: '',
    empty: '[]\n',
  };
}
