import type { FreshDatabase } from '../../support/database.ts';
import {
  createSender,
  type HttpReply,
  type InProcessService,
  type RunningTestService,
  type ServiceOptions,
  startService,
} from '../../support/service.ts';

export const CORP_TOKEN = 'corp-0123456789abcdef0123456789abcdef';
export const PREVIOUS_TOKEN = 'corp-before-0123456789abcdef01234567';
export const OTHER_TOKEN = 'other-0123456789abcdef0123456789abcde';

export const ROLES = {
  member: '00000000-0000-4000-8000-0000000000c1',
  editor: '00000000-0000-4000-8000-0000000000c2',
  author: '00000000-0000-4000-8000-0000000000c3',
  admin: '00000000-0000-4000-8000-0000000000c4',
} as const;

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const provider = (name: string, settings: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({
      DRIVER: 'ldap',
      CLIENT_URL: 'ldaps://127.0.0.1:1',
      USER_DN: 'ou=people,dc=example,dc=com',
      ...settings,
    }).map(([key, value]) => [`AUTH_${name.toUpperCase()}_${key}`, value]),
  );

/** Settings of two providers with SCIM, `corp` and `other`. */
export const scimSettings = (corp: Record<string, string> = {}) => ({
  ...provider('corp', {
    SCIM_TOKEN: CORP_TOKEN,
    SCIM_TOKEN_PREVIOUS: PREVIOUS_TOKEN,
    DEFAULT_ROLE_ID: ROLES.member,
    ROLE_MAPPING: JSON.stringify({ Editors: ROLES.editor, 'id-of-authors': ROLES.author, Admins: ROLES.admin }),
    ...corp,
  }),
  ...provider('other', { SCIM_TOKEN: OTHER_TOKEN }),
});

export type ScimSend = (
  method: string,
  path: string,
  body?: unknown,
  options?: { readonly token?: string; readonly headers?: Readonly<Record<string, string>> },
) => Promise<HttpReply>;

export interface ScimFixture {
  readonly service: InProcessService;
  /** Sends a request below /scim/v2 as the provider `corp`, with a check of the description of its route. */
  readonly scim: ScimSend;
  /** Creates a user and answers its id. */
  createUser(userName: string, more?: object): Promise<string>;
  /** The row of a user. */
  row(id: string): Promise<Record<string, unknown> | undefined>;
  stop(): Promise<void>;
}

export const createScimSend =
  (request: RunningTestService['request']): ScimSend =>
  (method, path, body, { token = CORP_TOKEN, headers } = {}) =>
    request(method, `/scim/v2${path}`, {
      token,
      headers: { 'content-type': 'application/scim+json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });

export const sendTo = (url: string): ScimSend => createScimSend(createSender(url));

/** Creates the roles of the settings. */
export async function createRoles(database: FreshDatabase): Promise<void> {
  for (const [name, id] of Object.entries(ROLES))
    await database.query(
      'insert into platform_roles (id, key, name, admin_access, app_access) values ($1, $2, $2, $3, true)',
      [id, name, name === 'admin'],
    );
}

export async function startScimFixture(
  options: ServiceOptions & { readonly corp?: Record<string, string> } = {},
): Promise<ScimFixture> {
  const { corp, env, ...rest } = options;
  const service = await startService({ ...rest, env: { ...scimSettings(corp), ...env } });
  await createRoles(service.database);
  const scim = createScimSend(service.request);
  return {
    service,
    scim,
    async createUser(userName, more = {}) {
      const { status, body } = await scim('POST', '/Users', { schemas: [USER], userName, ...more });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return body.id;
    },
    async row(id) {
      const [row] = await service.database.query('select * from platform_users where id = $1', [id]);
      return row as Record<string, unknown> | undefined;
    },
    stop: () => service.stop(),
  };
}
