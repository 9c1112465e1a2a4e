/** URNs of the resources (RFC 7643, section 8.7). */
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE_USER_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

interface AttributeDefinition {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact?: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned: 'always' | 'default';
  readonly uniqueness?: 'none' | 'server' | 'global';
  readonly referenceTypes?: readonly string[];
  readonly canonicalValues?: readonly string[];
  readonly subAttributes?: readonly AttributeDefinition[];
}

type Options = Partial<Omit<AttributeDefinition, 'name' | 'description'>>;

const define = (name: string, description: string, options: Options = {}): AttributeDefinition => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  ...(options.type === undefined || options.type === 'string' || options.type === 'reference'
    ? { caseExact: options.type === 'reference', uniqueness: 'none' as const }
    : {}),
  mutability: 'readWrite',
  returned: 'default',
  ...options,
});

const READ_ONLY = { mutability: 'readOnly' } as const;
const reference = (referenceTypes: readonly string[], options: Options = {}) =>
  define('$ref', 'The address of the resource.', { type: 'reference', referenceTypes, ...options });

const USER_ATTRIBUTES: readonly AttributeDefinition[] = [
  define('userName', 'The name of the user at the provider; names that differ only in case are the same.', {
    required: true,
    uniqueness: 'server',
  }),
  define('name', 'The parts of the name of the user.', {
    type: 'complex',
    subAttributes: [
      define('formatted', 'Given and family name.', READ_ONLY),
      define('givenName', 'The given name.'),
      define('familyName', 'The family name.'),
    ],
  }),
  define('displayName', 'The name to show at the provider.'),
  define('title', 'The title of the user.'),
  define('preferredLanguage', 'The language of the user, such as en-US.'),
  define('active', 'Whether the user may sign in.', { type: 'boolean' }),
  define('emails', 'The e-mail address of the user: of several the primary one is kept, else the first.', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      define('value', 'The address.', { uniqueness: 'global' }),
      define('type', 'Always work.', { ...READ_ONLY, canonicalValues: ['work'] }),
      define('primary', 'Always true.', { ...READ_ONLY, type: 'boolean' }),
    ],
  }),
  define('groups', 'The groups of the user.', {
    ...READ_ONLY,
    type: 'complex',
    multiValued: true,
    subAttributes: [
      define('value', 'The id of the group.', { ...READ_ONLY, caseExact: true }),
      define('display', 'The name of the group.', READ_ONLY),
      reference(['Group'], READ_ONLY),
    ],
  }),
];

const GROUP_ATTRIBUTES: readonly AttributeDefinition[] = [
  define('displayName', 'The name of the group; names that differ only in case are the same.', {
    required: true,
    uniqueness: 'server',
  }),
  define('members', 'The users in the group.', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      define('value', 'The id of the user.', { mutability: 'immutable', caseExact: true }),
      define('type', 'Always User.', { mutability: 'immutable', canonicalValues: ['User'] }),
      reference(['User'], { mutability: 'immutable' }),
    ],
  }),
];

/** A schema as `/Schemas` answers it (RFC 7643, section 7). */
export interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly AttributeDefinition[];
}

export const USER_DEFINITION: ScimSchema = {
  id: USER_SCHEMA,
  name: 'User',
  description: 'A user of the provider',
  attributes: USER_ATTRIBUTES,
};

export const GROUP_DEFINITION: ScimSchema = {
  id: GROUP_SCHEMA,
  name: 'Group',
  description: 'A group of the provider, which may decide the role of its members',
  attributes: GROUP_ATTRIBUTES,
};

/** Attributes of users in the RFC that the service does not keep. Requests may send them, and no user has a value of them. */
export const USER_ATTRIBUTES_NOT_KEPT: ReadonlySet<string> = new Set([
  'nickname',
  'profileurl',
  'usertype',
  'locale',
  'timezone',
  'password',
  'phonenumbers',
  'ims',
  'photos',
  'addresses',
  'entitlements',
  'roles',
  'x509certificates',
  // Of the enterprise extension; Entra ID names `manager` without its URN in filters.
  'employeenumber',
  'costcenter',
  'organization',
  'division',
  'department',
  'manager',
]);
