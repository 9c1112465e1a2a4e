import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ObservedStatement, onStatement } from '../../plugins/database/library.ts';

/**
 * Preloaded into every process of a test run (mocha's workers and spawned services): writes down which plugin ran which
 * statement, each once a process. `scripts/test.ts` compares them with the manifests when the run is over.
 */
export const FOLDER = 'TENON_TEST_STATEMENTS';

const folder = process.env[FOLDER];
if (folder) {
  const seen = new Set<string>();
  onStatement(({ plugin, kind, text }: ObservedStatement) => {
    // Texts that the grant allows whatever they are count, and are not read.
    const line = JSON.stringify({ plugin, kind, text: kind === 'plain' ? '' : text });
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`);
  });
}
