import { definePlugin } from '#kernel';
import { migrations } from '../database/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { bindHistoryParameters, toActorSqlParameters } from './actor.ts';
import * as collections from './collections.ts';
import { activity, type HistoryRecorder } from './contract.ts';
import { createHistorySql } from './history-sql.ts';
import manifest from './package.json' with { type: 'json' };
import { createRevisionJsonMigration } from './revision-json-migration.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, events } = host;
    const rows = db.write('platform_activity');
    const revisions = db.write('platform_revisions');
    const RECORD = db.sql`insert into ${rows} ("user", ip, user_agent, origin, owner, invocation, action, collection, item, comment)
      values ($1, $2, $3, $4, $5, $6, $7, $8, left($9::text, 255), $10) returning id`;
    // Reads show the values of `data` where `delta` is empty, which is for new rows.
    const RECORD_WITH_REVISION = db.sql`with recorded as (${RECORD}, collection, item)
      insert into ${revisions} (activity, collection, item, data, delta)
      select id, collection, item, $11::json, 'null' from recorded returning activity as id`;
    const FORGET = db.sql`with forgotten as (delete from ${revisions} where collection = any($1::text[]))
      delete from ${rows} where collection = any($1::text[])`;
    for (const one of [collections.activityCollection, collections.revisionsCollection])
      host.contribute(systemCollections, one);
    host.contribute(migrations, createRevisionJsonMigration(db));

    const record: HistoryRecorder['record'] = async (
      caller,
      { action, collection, item, comment = null, revision },
    ) => {
      const params = [...toActorSqlParameters(caller), action, collection, String(item), comment];
      const inserted =
        revision === undefined
          ? await db.query<{ id: number }>(RECORD, params, { name: 'activity_record' })
          : await db.query<{ id: number }>(RECORD_WITH_REVISION, [...params, JSON.stringify(revision)]);
      return (inserted.rows[0] as { id: number }).id;
    };
    host.provide(activity, {
      ...createHistorySql(db.schemas[0] as string),
      bindHistory: bindHistoryParameters,
      record,
    });

    // A deleted collection loses its history, so that a new collection of the same name starts without any.
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await db.query(FORGET, [keys]);
    });
  },
});
