import type { Db } from '../../database/contract.ts';
import { createSingleValue } from '../filter/attributes.ts';
import type { ResourceSql } from '../resource-sql.ts';
import { USER_ATTRIBUTES_NOT_KEPT, USER_SCHEMA } from '../scim-schemas.ts';
import { renderTime } from '../times.ts';

/** Users of a provider as SQL: `u` is the user, `s` what the provider says beyond it. */
export function createUserResource(db: Db, hasGroups: boolean): ResourceSql {
  const users = db.read('platform_users');
  const accounts = db.read('platform_scim_users');
  const groups = db.read('platform_scim_groups');
  const members = db.read('platform_scim_members');
  const userName = db.sql`coalesce(s.user_name, u.email, u.id::text)`;
  const formatted = db.sql`nullif(concat_ws(' ', u.first_name, u.last_name), '')`;
  const displayName = db.sql`coalesce(s.display_name, ${formatted})`;
  const isActive = db.sql`(u.status = 'active')`;
  const version = db.sql`md5(json_build_array(${userName}, u.external_identifier, u.first_name, u.last_name, s.display_name,
    u.title, u.language, u.email, u.status, s.created, s.modified)::text)`;
  const location = db.sql`$2::text || '/Users/' || u.id`;
  const ofGroups = db.sql`from ${members} m join ${groups} g on g.id = m."group" where m."user" = u.id and g.provider = u.provider`;
  const text = (sql: typeof userName) => ({ type: 'text', sql }) as const;
  const groupMember = {
    name: 'groups',
    members: [
      { name: 'value', sql: db.sql`g.id` },
      { name: 'display', sql: db.sql`g.name` },
      { name: '$ref', sql: db.sql`$2::text || '/Groups/' || g.id` },
    ],
    wrap: (object: typeof userName) => db.sql`(select json_agg(${object} order by g.name) ${ofGroups})`,
  };
  return {
    from: db.sql`${users} u left join ${accounts} s on s."user" = u.id and s.provider = u.provider`,
    where: db.sql`u.provider = $1 and $2::text is not null`,
    key: db.sql`u.id`,
    version,
    members: [
      { name: 'schemas', sql: db.sql`json_build_array(${db.literal(USER_SCHEMA)}::text)` },
      { name: 'id', sql: db.sql`u.id` },
      { name: 'externalId', sql: db.sql`u.external_identifier` },
      { name: 'userName', sql: userName },
      {
        name: 'name',
        members: [
          { name: 'formatted', sql: formatted },
          { name: 'givenName', sql: db.sql`u.first_name` },
          { name: 'familyName', sql: db.sql`u.last_name` },
        ],
        wrap: (object) => db.sql`case when ${formatted} is not null then ${object} end`,
      },
      { name: 'displayName', sql: displayName },
      { name: 'title', sql: db.sql`u.title` },
      { name: 'preferredLanguage', sql: db.sql`u.language` },
      { name: 'active', sql: isActive },
      {
        name: 'emails',
        members: [
          { name: 'value', sql: db.sql`u.email` },
          { name: 'type', sql: db.sql`'work'::text` },
          { name: 'primary', sql: db.sql`true` },
        ],
        wrap: (object) => db.sql`case when u.email is not null then json_build_array(${object}) end`,
      },
      ...(hasGroups ? [groupMember] : []),
      {
        name: 'meta',
        members: [
          { name: 'resourceType', sql: db.sql`'User'::text` },
          { name: 'created', sql: renderTime(db, db.sql`s.created`) },
          { name: 'lastModified', sql: renderTime(db, db.sql`s.modified`) },
          { name: 'location', sql: location },
          { name: 'version', sql: db.sql`'W/"' || ${version} || '"'` },
        ],
      },
    ],
    attributes: {
      schema: USER_SCHEMA,
      notKept: USER_ATTRIBUTES_NOT_KEPT,
      known: {
        schemas: { type: 'exact', sql: db.sql`${db.literal(USER_SCHEMA)}::text` },
        id: { type: 'key', sql: db.sql`u.id` },
        externalid: { type: 'exact', sql: db.sql`u.external_identifier` },
        username: text(userName),
        displayname: text(displayName),
        title: text(db.sql`u.title`),
        preferredlanguage: text(db.sql`u.language`),
        active: { type: 'boolean', sql: isActive },
        name: createSingleValue(
          db,
          { formatted: text(formatted), givenname: text(db.sql`u.first_name`), familyname: text(db.sql`u.last_name`) },
          db.sql`(${formatted} is not null)`,
          'formatted',
        ),
        emails: createSingleValue(
          db,
          {
            value: text(db.sql`u.email`),
            type: text(db.sql`'work'::text`),
            primary: { type: 'boolean', sql: db.sql`true` },
          },
          db.sql`(u.email is not null)`,
          'value',
        ),
        groups: {
          isSingle: false,
          main: 'value',
          subs: { value: { type: 'key', sql: db.sql`g.id` }, display: text(db.sql`g.name`) },
          wrap: (condition) => db.sql`exists (select 1 ${ofGroups} and ${condition})`,
        },
        meta: createSingleValue(
          db,
          {
            resourcetype: { type: 'exact', sql: db.sql`'User'::text` },
            created: { type: 'time', sql: db.sql`s.created` },
            lastmodified: { type: 'time', sql: db.sql`s.modified` },
            version: { type: 'exact', sql: db.sql`'W/"' || ${version} || '"'` },
            location: { type: 'exact', sql: location },
          },
          db.sql`true`,
        ),
      },
    },
  };
}
