import { definePlugin } from '#kernel';
import { identifier } from '../database/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { actorOf, bind } from './actor.ts';
import * as collections from './collections.ts';
import { type Activity, activity } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createRecorded } from './statement.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, events } = host;
    const schema = db.schemas[0] as string;
    const table = `${identifier(schema)}.platform_activity`;
    for (const one of [collections.activity, collections.revisions]) host.contribute(systemCollections, one);

    const record: Activity['record'] = async (caller, { action, collection, item, comment = null }) => {
      const { rows } = await db.query<{ id: number }>(
        `insert into ${table} ("user", ip, user_agent, origin, owner, invocation, action, collection, item, comment)
        values ($1, $2, $3, $4, $5, $6, $7, $8, left($9::text, 255), $10) returning id`,
        [...actorOf(caller), action, collection, String(item), comment],
        { name: 'activity_record' },
      );
      return (rows[0] as { id: number }).id;
    };
    host.provide(activity, { ...createRecorded(schema), bind, record });

    // What was recorded of a collection goes with it; another one of the same name starts anew.
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await db.query(`delete from ${table} where collection = any($1::text[])`, [keys]);
    });
  },
});
