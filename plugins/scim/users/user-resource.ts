import type { Db, GrantedSqlStatement } from '../../database/contract.ts';
import { createSingleValue, type ResourceAttributes } from '../filter/attributes.ts';
import { metaAttribute, metaMember } from '../meta.ts';
import type { ResourceMember, ResourceSql } from '../resource-sql.ts';
import { USER_ATTRIBUTES_NOT_KEPT, USER_SCHEMA } from '../scim-schemas.ts';

type Sql = GrantedSqlStatement;

/** The SQL of what several attributes of a user are made of. */
interface UserSql {
  readonly userName: Sql;
  readonly formatted: Sql;
  readonly isActive: Sql;
  readonly version: Sql;
  readonly location: Sql;
  /** `from … where …`: the groups of the user, as `g`. */
  readonly ofGroups: Sql;
}

/** Users of a provider as SQL: `u` is the user, `s` what the provider says beyond it. */
export function createUserResource(db: Db, hasGroups: boolean): ResourceSql {
  const users = db.read('platform_users');
  const accounts = db.read('platform_scim_users');
  const parts = createUserSql(db);
  return {
    from: db.sql`${users} u left join ${accounts} s on s."user" = u.id and s.provider = u.provider`,
    where: db.sql`u.provider = $1 and $2::text is not null`,
    key: db.sql`u.id`,
    version: parts.version,
    members: createMembers(db, parts, hasGroups),
    attributes: { schema: USER_SCHEMA, notKept: USER_ATTRIBUTES_NOT_KEPT, known: createAttributes(db, parts) },
  };
}

function createUserSql(db: Db): UserSql {
  const groups = db.read('platform_scim_groups');
  const members = db.read('platform_scim_members');
  const userName = db.sql`coalesce(s.user_name, u.email, u.id::text)`;
  const formatted = db.sql`nullif(concat_ws(' ', u.first_name, u.last_name), '')`;
  return {
    userName,
    formatted,
    isActive: db.sql`(u.status = 'active')`,
    version: db.sql`md5(json_build_array(${userName}, u.external_identifier, u.first_name, u.last_name, s.display_name,
      u.title, u.language, u.email, u.status, s.created, s.modified)::text)`,
    location: db.sql`$2::text || '/Users/' || u.id`,
    ofGroups: db.sql`from ${members} m join ${groups} g on g.id = m."group" where m."user" = u.id and g.provider = u.provider`,
  };
}

function createMembers(db: Db, parts: UserSql, hasGroups: boolean): readonly ResourceMember[] {
  const { userName, formatted, isActive, version, location, ofGroups } = parts;
  const groups: ResourceMember = {
    name: 'groups',
    members: [
      { name: 'value', sql: db.sql`g.id` },
      { name: 'display', sql: db.sql`g.name` },
      { name: '$ref', sql: db.sql`$2::text || '/Groups/' || g.id` },
    ],
    wrap: (object) => db.sql`(select json_agg(${object} order by g.name) ${ofGroups})`,
  };
  const name: ResourceMember = {
    name: 'name',
    members: [
      { name: 'formatted', sql: formatted },
      { name: 'givenName', sql: db.sql`u.first_name` },
      { name: 'familyName', sql: db.sql`u.last_name` },
    ],
    wrap: (object) => db.sql`case when ${formatted} is not null then ${object} end`,
  };
  const emails: ResourceMember = {
    name: 'emails',
    members: [
      { name: 'value', sql: db.sql`u.email` },
      { name: 'type', sql: db.sql`'work'::text` },
      { name: 'primary', sql: db.sql`true` },
    ],
    wrap: (object) => db.sql`case when u.email is not null then json_build_array(${object}) end`,
  };
  return [
    { name: 'schemas', sql: db.sql`json_build_array(${db.literal(USER_SCHEMA)}::text)` },
    { name: 'id', sql: db.sql`u.id` },
    { name: 'externalId', sql: db.sql`u.external_identifier` },
    { name: 'userName', sql: userName },
    name,
    { name: 'displayName', sql: db.sql`s.display_name` },
    { name: 'title', sql: db.sql`u.title` },
    { name: 'preferredLanguage', sql: db.sql`u.language` },
    { name: 'active', sql: isActive },
    emails,
    ...(hasGroups ? [groups] : []),
    metaMember(db, 'User', { created: db.sql`s.created`, modified: db.sql`s.modified`, location, version }),
  ];
}

function createAttributes(db: Db, parts: UserSql): ResourceAttributes['known'] {
  const { userName, formatted, isActive, version, location, ofGroups } = parts;
  const text = (sql: Sql) => ({ type: 'text', sql }) as const;
  const names = {
    formatted: text(formatted),
    givenname: text(db.sql`u.first_name`),
    familyname: text(db.sql`u.last_name`),
  };
  const emails = {
    value: text(db.sql`u.email`),
    type: text(db.sql`'work'::text`),
    primary: { type: 'boolean', sql: db.sql`true` },
  } as const;
  return {
    schemas: { type: 'exact', sql: db.sql`${db.literal(USER_SCHEMA)}::text` },
    id: { type: 'key', sql: db.sql`u.id` },
    externalid: { type: 'exact', sql: db.sql`u.external_identifier` },
    username: text(userName),
    displayname: text(db.sql`s.display_name`),
    title: text(db.sql`u.title`),
    preferredlanguage: text(db.sql`u.language`),
    active: { type: 'boolean', sql: isActive },
    name: createSingleValue(db, names, db.sql`(${formatted} is not null)`, 'formatted'),
    emails: createSingleValue(db, emails, db.sql`(u.email is not null)`, 'value'),
    groups: {
      isSingle: false,
      main: 'value',
      subs: { value: { type: 'key', sql: db.sql`g.id` }, display: text(db.sql`g.name`) },
      wrap: (condition) => db.sql`exists (select 1 ${ofGroups} and ${condition})`,
    },
    meta: metaAttribute(db, 'User', { created: db.sql`s.created`, modified: db.sql`s.modified`, location, version }),
  };
}
