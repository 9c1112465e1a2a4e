import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';

const READS: readonly [collection: string, fields: string, rule: object | null][] = [
  ['track', 'track_id,name,composer,milliseconds,album_id,genre_id', { genre_id: { name: { _eq: 'Jazz' } } }],
  ['album', 'album_id,title,artist_id,tracks', null],
  ['artist', 'artist_id,name', null],
];

/** Loads Chinook into an empty database; one that has its tables already is left as it is. */
export async function loadChinook(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(`select to_regclass('public.track') is not null as there`);
  if (rows[0]?.there) return;
  const sql = await readFile(new URL('../../test/data/chinook.sql', import.meta.url), 'utf8');
  await client.query(`begin; ${sql}; commit; analyze`);
}

/**
 * Creates a role that may read the tracks of one genre, and a user with this role. Returns the static token of the user, a new
 * one in every run.
 */
export async function addJazzListenerUser(client: pg.Client): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  const { rows } = await client.query<{ id: string }>(
    `insert into platform_roles (id, key, name, app_access) values (gen_random_uuid(), 'jazz_listener', 'Jazz listener', false)
     on conflict (key) do update set name = excluded.name returning id`,
  );
  const role = rows[0]?.id;
  for (const [collection, fields, rule] of READS) {
    await client.query(
      `insert into platform_permissions (role, collection, action, fields, permissions) values ($1, $2, 'read', $3, $4)
       on conflict (role, collection, action) do update set fields = excluded.fields, permissions = excluded.permissions`,
      [role, collection, fields, rule && JSON.stringify(rule)],
    );
  }
  await client.query(`delete from platform_users where email = 'listener@example.com'`);
  await client.query(
    `insert into platform_users (id, email, status, role, token) values (gen_random_uuid(), 'listener@example.com', 'active', $1, $2)`,
    [role, token],
  );
  return token;
}

/** Runs `work` with the static token of an admin who exists only meanwhile. */
export async function withTemporaryAdmin<T>(client: pg.Client, work: (token: string) => Promise<T>): Promise<T> {
  const token = randomBytes(24).toString('base64url');
  const { rows } = await client.query<{ id: string }>(
    `insert into platform_users (id, status, role, token)
     select gen_random_uuid(), 'active', id, $1 from platform_roles where admin_access limit 1 returning id`,
    [token],
  );
  try {
    return await work(token);
  } finally {
    await client.query('delete from platform_users where id = $1', [rows[0]?.id]);
  }
}
