import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { OUTPUT_FOLDER, PACKAGE_FOLDER } from './folders.ts';

/** A migration of a version that exists for trials only. `statements` run on the table of folders, `$table`. */
export interface TrialMigration {
  readonly id: string;
  /** See `Migration.worksSince` of `plugins/database/contract.ts`. */
  readonly worksSince?: string;
  readonly statements: readonly string[];
}

export interface TrialVersion {
  readonly version: string;
  readonly migrations: readonly TrialMigration[];
}

const PLUGIN = 'plugins/folders/index.js';
const IMPORTS = "import { migrations } from '../database/contract.js';\n";
const REGISTERED = 'host.contribute(migrations, createFolderTreeTriggerMigration(host.db));\n';

/**
 * Copies the built package as another version with more migrations, into `dist/trials`, and answers its folder. It runs where it lies,
 * and can be packed.
 */
export function createTrialVersion({ version, migrations }: TrialVersion): string {
  const folder = join(OUTPUT_FOLDER, 'trials', version);
  rmSync(folder, { recursive: true, force: true });
  cpSync(PACKAGE_FOLDER, folder, { recursive: true, filter: (path) => !path.includes('node_modules/') });
  setVersion(join(folder, 'package.json'), version);
  const path = join(folder, PLUGIN);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(IMPORTS) || !text.includes(REGISTERED)) throw new Error(`${PLUGIN} is not as expected`);
  writeFileSync(path, text.replace(REGISTERED, `${REGISTERED}${migrations.map(renderMigration).join('')}`));
  return folder;
}

function setVersion(path: string, version: string): void {
  const content = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, `${JSON.stringify({ ...content, version }, null, 2)}\n`);
}

function renderMigration({ id, worksSince, statements }: TrialMigration): string {
  const run = statements.map((text) => {
    const sql = text.replaceAll('$table', `\${table}`);
    return `await db.${/^(?:select|update|insert)/.test(text) ? 'query' : 'ddl'}(db.sql\`${sql}\`);`;
  });
  const since = worksSince === undefined ? '' : `worksSince: '${worksSince}', `;
  return `host.contribute(migrations, { id: '${id}', ${since}async up(db) { const table = db.own('platform_folders'); ${run.join(' ')} } });\n`;
}
