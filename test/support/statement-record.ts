import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ObservedStatement, observeStatements } from '../../plugins/database/library.ts';

/**
 * Environment variable with the folder for recorded statements. This module is preloaded into every process of a test run and
 * records which plugin ran which statement, each once per process. `scripts/test.ts` compares them with the manifests.
 */
export const STATEMENT_FOLDER_VARIABLE = 'TENON_TEST_STATEMENTS';

const folder = process.env[STATEMENT_FOLDER_VARIABLE];
if (folder) {
  const seen = new Set<string>();
  observeStatements(({ plugin, kind, text }: ObservedStatement) => {
    // Plain texts are allowed by the grant `sql` whatever they contain, so only their plugin is recorded.
    const line = JSON.stringify({ plugin, kind, text: kind === 'plain' ? '' : text });
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`);
  });
}
