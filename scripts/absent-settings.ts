/** Settings that services of this kind usually have, and this one has not. A name that ends in `*` stands for all that begin so. */
export interface AbsentSetting {
  readonly name: string;
  /** Why there is no such setting, or what is there in its place. */
  readonly reason: string;
}

/**
 * The absent settings, by the part of the service that they would belong to. `npm run reference` fails where a plugin declares one of
 * them: it is no longer absent then.
 */
export const ABSENT_SETTINGS: readonly AbsentSetting[] = [
  { name: 'TEMP_PATH', reason: 'temporary files are in the folder of the system, which TMPDIR moves' },
  {
    name: 'MIGRATIONS_PATH',
    reason: 'a package of the type plugin contributes migrations, which are recorded under its name',
  },
  { name: 'SHUTDOWN_TIMEOUT', reason: 'SERVER_SHUTDOWN_TIMEOUT' },
  {
    name: 'LOGGER_*',
    reason: 'LOG_LEVEL, LOG_STYLE and LOG_HTTP_* are all there is; a collector of JSON lines does the rest',
  },

  { name: 'DB_CLIENT', reason: 'the database is PostgreSQL' },
  { name: 'DB_FILENAME', reason: 'the database is PostgreSQL; DATA_PATH is the folder of the embedded one' },
  { name: 'DB_VERSION', reason: 'PostgreSQL says its version itself' },
  { name: 'DB_CHARSET', reason: 'texts are UTF-8' },
  { name: 'DB_SEARCH_PATH', reason: 'DB_SCHEMAS names the schemas that are served' },
  { name: 'DB_SSL__REJECT_UNAUTHORIZED', reason: 'DB_SSL=no-verify is the same' },
  { name: 'DB_POOL__*', reason: 'DB_POOL_MIN and DB_POOL_MAX, with one line between the words' },

  {
    name: 'SESSION_COOKIE_*',
    reason:
      'a browser has one cookie, with the refresh token (REFRESH_TOKEN_COOKIE_*); access tokens are sent by header',
  },
  {
    name: 'SESSION_REFRESH_GRACE_PERIOD',
    reason: 'a refresh token is good once, without a time in which it is good twice',
  },
  {
    name: 'HASH_TYPE',
    reason: 'passwords are hashed by Argon2id; stored hashes of the other types are still compared',
  },
  {
    name: 'HASH_ASSOCIATED_DATA',
    reason: 'a value that is lost would make every password useless; SECRET does not have that effect either',
  },
  {
    name: 'CONTENT_SECURITY_POLICY_REPORT_ONLY',
    reason: 'pages always follow their policy; CONTENT_SECURITY_POLICY_DIRECTIVES__* adds sources to it',
  },
  {
    name: 'CONTENT_SECURITY_POLICY_USE_DEFAULTS',
    reason: 'each page has a policy of its own, to which sources are added',
  },
  {
    name: 'AUTH_ALLOWED_PUBLIC_URLS',
    reason: 'providers send browsers back to PUBLIC_URL; AUTH_<NAME>_REDIRECT_ALLOW_LIST names where they may end',
  },
  {
    name: 'USERS_ADMIN_ACCESS_LIMIT',
    reason: 'the number of users is not limited; a hook on users.create may limit it',
  },
  { name: 'USERS_APP_ACCESS_LIMIT', reason: 'the number of users is not limited; a hook on users.create may limit it' },
  { name: 'USERS_API_ACCESS_LIMIT', reason: 'the number of users is not limited; a hook on users.create may limit it' },

  {
    name: 'RATE_LIMITER_EMAIL_FLOWS_*',
    reason: 'messages of flows count in RATE_LIMITER_EMAIL_* as all others do, and wait in the same queue',
  },
  {
    name: 'RATE_LIMITER_WEBSOCKETS_*',
    reason:
      'upgrades and messages that authenticate count as requests (RATE_LIMITER_*); WEBSOCKETS_MESSAGES_LIMIT is the limit of messages',
  },

  {
    name: 'CACHE_SYSTEM_TTL',
    reason: 'permissions and settings are kept until they change, which each process hears at once',
  },
  { name: 'CACHE_PERMISSIONS', reason: 'permissions are kept until they change, which each process hears at once' },
  { name: 'SYNCHRONIZATION_*', reason: 'processes find each other and agree by their database' },
  { name: 'MESSENGER_*', reason: 'processes find each other and agree by their database' },

  {
    name: 'EMAIL_MAILGUN_*',
    reason: 'that provider takes mail by SMTP (EMAIL_SMTP_*); a package may bring a transport of its own',
  },

  { name: 'EXTENSIONS_LIMIT', reason: 'the number of packages is not limited: an admin puts each of them there' },
  { name: 'EXTENSIONS_SANDBOX_MEMORY', reason: 'EXTENSIONS_SANDBOX_MAX_MEMORY' },
  {
    name: 'MARKETPLACE_*',
    reason:
      'packages come from EXTENSIONS_PATH, EXTENSIONS_LOCATION and package.json, and are downloaded by no request',
  },
  {
    name: 'FLOWS_RUN_SCRIPT_MAX_MEMORY',
    reason: 'EXTENSIONS_SANDBOX_MAX_MEMORY bounds scripts of flows as it bounds packages',
  },

  { name: 'QUERYSTRING_PARSE_DEPTH', reason: 'QUERYSTRING_MAX_PARSE_DEPTH' },
  { name: 'MAX_JSON_QUERY_DEPTH', reason: 'a path leads ten levels into a JSON value at most' },
  {
    name: 'RELATIONAL_BATCH_SIZE',
    reason: 'relations are read by the statement that reads their rows, not by further ones',
  },
  { name: 'EXPORT_BATCH_SIZE', reason: 'exports go through a cursor, with parts of bounded size' },
  {
    name: 'GRAPHQL_SCHEMA_GENERATION_MAX_CONCURRENT',
    reason: 'a process builds one schema at a time, in some milliseconds',
  },
  { name: 'HEALTHCHECK_CACHE_TTL', reason: 'health is never kept; requests that arrive during the checks share them' },
];

/** The entry of an absent setting; undefined for any other name. `<NAME>_FILE` is absent with its setting. */
export function findAbsentSetting(
  name: string,
  all: readonly AbsentSetting[] = ABSENT_SETTINGS,
): AbsentSetting | undefined {
  const plain = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name;
  return all.find(({ name: absent }) => [name, plain].some((one) => matches(one, absent)));
}

/** Names that are declared and absent at once. A declared pattern may cover an absent name: `AUTH_*` is more than one setting. */
export const findDeclaredAbsentSettings = (
  declared: readonly string[],
  all: readonly AbsentSetting[] = ABSENT_SETTINGS,
): readonly string[] => declared.filter((name) => all.some(({ name: absent }) => matches(name, absent)));

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
