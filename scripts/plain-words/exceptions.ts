/**
 * Places where a refused word is right: by path (a folder ends with `/`), with the reason. An exception that is no longer needed
 * fails the check.
 */
export interface RefusedWordExemption {
  readonly path: string;
  readonly word: RegExp;
  readonly reason: string;
}

export const REFUSED_WORD_EXEMPTIONS: readonly RefusedWordExemption[] = [
  { path: 'scripts/plain-words/', word: /./, reason: 'the list of refused words itself' },
  { path: 'test/architecture/plain-words.test.ts', word: /./, reason: 'tests of the scan' },
  { path: 'docs/glossary.md', word: /./, reason: 'the glossary names the words it replaces' },
  {
    path: 'extensions/examples/',
    word: /^overview$/,
    reason: 'a member of operations in the app, named by the conventions for extensions',
  },
  {
    path: 'test/http/table-renames-on-upgrade.test.ts',
    word: /^loose$/,
    reason: 'names of tables of an earlier version',
  },
  { path: 'test/http/unusual-existing-tables.test.ts', word: /^elsewhere$/, reason: 'the name of a table of the test' },
  { path: 'test/sandbox/escape/programs/', word: /^(?:made|told)$/, reason: 'hostile programs, as they were found' },
  { path: 'test/plugins/auth-providers/', word: /^given/, reason: 'the claim given_name of OpenID Connect' },
  {
    path: 'plugins/auth-saml/',
    word: /^given/i,
    reason: 'the setting GIVEN_NAME_KEY and the attribute givenName of the field',
  },
  {
    path: 'test/plugins/auth-saml/',
    word: /^given/i,
    reason: 'the setting GIVEN_NAME_KEY and the attribute givenName of the field',
  },
  {
    path: 'test/browser/sign-in-simplesamlphp.test.ts',
    word: /^given/i,
    reason: 'the attribute givenName of directories',
  },
  { path: 'plugins/scim/', word: /^given/i, reason: 'the attribute givenName of SCIM' },
  { path: 'test/plugins/scim/', word: /^given/i, reason: 'the attribute givenName of SCIM' },
  { path: 'test/support/ldap-server.ts', word: /^given/i, reason: 'the attribute givenName of directories' },
  { path: 'test/browser/sign-in-providers.test.ts', word: /^given/, reason: 'the claim given_name of OpenID Connect' },
  { path: 'CHANGELOG.md', word: /^(?:admit|overview)$/, reason: 'names that plugins used before' },
];
