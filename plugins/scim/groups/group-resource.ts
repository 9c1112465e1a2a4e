import type { Db } from '../../database/contract.ts';
import { metaAttribute, metaMember } from '../meta.ts';
import type { ResourceSql } from '../resource-sql.ts';
import { GROUP_SCHEMA } from '../scim-schemas.ts';

/** Groups of a provider as SQL: `g` is the group, `m` one of its members. */
export function createGroupResource(db: Db): ResourceSql {
  const groups = db.read('platform_scim_groups');
  const members = db.read('platform_scim_members');
  // A user whom an admin gave to another provider is none of the members that this one sees.
  const ofGroup = db.sql`from ${members} m join ${db.read('platform_users')} mu on mu.id = m."user" and mu.provider = g.provider
    where m."group" = g.id`;
  const location = db.sql`$2::text || '/Groups/' || g.id`;
  // The number changes with a user who is deleted, which changes no column of the group.
  const version = db.sql`md5(json_build_array(g.id, g.name, g.external_id, g.modified, (select count(*) ${ofGroup}))::text)`;
  const meta = { created: db.sql`g.created`, modified: db.sql`g.modified`, location, version };
  return {
    from: db.sql`${groups} g`,
    where: db.sql`g.provider = $1 and $2::text is not null`,
    key: db.sql`g.id`,
    version,
    members: [
      { name: 'schemas', sql: db.sql`json_build_array(${db.literal(GROUP_SCHEMA)}::text)` },
      { name: 'id', sql: db.sql`g.id` },
      { name: 'externalId', sql: db.sql`g.external_id` },
      { name: 'displayName', sql: db.sql`g.name` },
      {
        name: 'members',
        members: [
          { name: 'value', sql: db.sql`m."user"` },
          { name: 'type', sql: db.sql`'User'::text` },
          { name: '$ref', sql: db.sql`$2::text || '/Users/' || m."user"` },
        ],
        wrap: (object) => db.sql`(select json_agg(${object} order by m."user") ${ofGroup})`,
      },
      metaMember(db, 'Group', meta),
    ],
    attributes: {
      schema: GROUP_SCHEMA,
      notKept: new Set(),
      known: {
        schemas: { type: 'exact', sql: db.sql`${db.literal(GROUP_SCHEMA)}::text` },
        id: { type: 'key', sql: db.sql`g.id` },
        externalid: { type: 'exact', sql: db.sql`g.external_id` },
        displayname: { type: 'text', sql: db.sql`g.name` },
        members: {
          isSingle: false,
          main: 'value',
          subs: {
            value: { type: 'key', sql: db.sql`m."user"` },
            type: { type: 'text', sql: db.sql`'User'::text` },
          },
          wrap: (condition) => db.sql`exists (select 1 ${ofGroup} and ${condition})`,
        },
        meta: metaAttribute(db, 'Group', meta),
      },
    },
  };
}
