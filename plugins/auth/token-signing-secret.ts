import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#kernel';
import type { Db } from '../database/contract.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
}

/** One secret for all processes of a database (ADR 35). */
export interface TokenSecretSource {
  /** The secret to sign with: `setting` where it is set, else that of the database, which the first process without a setting writes. */
  agree(setting: string | undefined, dataPath: string): Promise<string>;
}

const NAME = 'access tokens';

export function createTokenSecretSource({ db, log }: Deps): TokenSecretSource {
  const secrets = db.own('platform_secrets');
  const READ = db.sql`select value from ${secrets} where name = $1`;
  const WRITE = db.sql`insert into ${secrets} (name, value) values ($1, $2) on conflict (name) do nothing`;
  const stored = async (): Promise<string | undefined> => {
    const { rows } = await db.query<{ value: string }>(READ, [NAME]);
    return rows[0]?.value;
  };

  return {
    async agree(setting, dataPath) {
      const path = join(dataPath, 'secret');
      const [known, kept] = [await stored(), await contentOf(path)];
      if (setting !== undefined) {
        if (known !== undefined && known !== setting)
          log.warn(
            'SECRET differs from the secret in the database, which processes without the setting sign with: set SECRET for all processes or for none',
          );
        return setting;
      }
      if (known === undefined) await db.query(WRITE, [NAME, kept ?? randomBytes(48).toString('base64url')]);
      const agreed = known ?? ((await stored()) as string);
      if (kept !== undefined && kept !== agreed)
        log.warn(
          { path },
          `the secret in this file is not that of the database, which is used: access tokens that were signed with the file's are refused, and clients refresh them. Remove the file, or set SECRET for all processes`,
        );
      return agreed;
    },
  };
}

/** Versions before 1.0 kept the secret in a file of the data folder. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw Object.assign(error as Error, { remedy: 'make the file readable, remove it, or set SECRET' });
  }
}
