import type { Db } from '../database/contract.ts';
import { SETTINGS_COLLECTION } from './collections.ts';

const MAX_LENGTH = 100;

/**
 * Writes the first settings row with PROJECT_NAME; a row that exists stays as it is. Of processes that start together one writes it.
 * @throws Error with a remedy for a name that the column cannot hold.
 */
export async function writeInitialProjectName(db: Pick<Db, 'query' | 'write' | 'sql'>, name: string): Promise<void> {
  if (name.length > MAX_LENGTH)
    throw Object.assign(new Error('PROJECT_NAME is too long'), { remedy: `shorten it to ${MAX_LENGTH} characters` });
  const table = db.write(SETTINGS_COLLECTION);
  await db.query(
    db.sql`insert into ${table} (project_name) select $1 where not exists (select 1 from ${table}) on conflict do nothing`,
    [name],
  );
}
