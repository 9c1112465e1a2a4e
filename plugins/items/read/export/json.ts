import { parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/** Writes rows as a JSON list, indented by tabs. */
export const createJsonWriter = (): ExportWriter => ({
  begin: '[',
  rows: (batch, first) =>
    batch
      .map((text, at) => {
        // Line breaks inside of texts are escaped, so every line break here stands between values.
        const row = JSON.stringify(parseExactJson(text), null, '\t').replaceAll('\n', '\n\t');
        return `${first && at === 0 ? '' : ','}\n\t${row}`;
      })
      .join(''),
  end: '\n]',
  empty: '[]',
});
