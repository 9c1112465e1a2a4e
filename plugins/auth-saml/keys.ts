import type { ProviderKey } from '../auth-providers/contract.ts';

/** Keys of AUTH_<NAME>_* for the driver `saml`, beside those of every provider with redirects. */
export const SAML_PROVIDER_KEYS = {
  // Metadata and certificate are not secret, but read at each sign-in, so that their files can change without a restart.
  IDP_metadata: {
    type: 'string',
    secret: true,
    about: 'metadata of the identity provider as XML; IDP_metadata_FILE names its file, which may change',
  },
  IDP_METADATA_URL: {
    type: 'string',
    about: 'address of the metadata, in place of IDP_metadata; fetched every ten minutes',
  },
  SP_metadata: {
    type: 'string',
    about: 'metadata of this service as XML, served in place of the generated one; its entityID counts',
  },
  SP_ENTITY_ID: {
    type: 'string',
    about: 'name of this service for the identity provider; the address of its metadata',
  },
  SP_PRIVATE_KEY: {
    type: 'string',
    secret: true,
    about: 'RSA key in PEM that signs requests and decrypts assertions; no request is signed where unset',
  },
  SP_CERTIFICATE: {
    type: 'string',
    secret: true,
    about: 'certificate of SP_PRIVATE_KEY in PEM, for the metadata',
  },
  SP_WANT_RESPONSES_SIGNED: {
    type: 'boolean',
    default: false,
    about: 'the whole response has to be signed; otherwise the response or the assertion',
  },
  SP_WANT_ASSERTIONS_SIGNED: { type: 'boolean', default: false, about: 'the assertion itself has to be signed' },
  NAME_ID_FORMAT: { type: 'string', about: 'the format of names that is asked for; as the provider likes where unset' },
  CLOCK_TOLERANCE: { type: 'duration', default: 30_000, maximum: 600_000, about: 'how far the clocks may differ' },
  IDENTIFIER_KEY: { type: 'string', about: 'the attribute that identifies a user for good; the NameID where unset' },
  EMAIL_KEY: { type: 'string', about: 'the attribute with the e-mail address; one of the usual names where unset' },
  EMAIL_IS_VERIFIED: { type: 'boolean', default: false, about: 'users cannot change their address at the provider' },
  GIVEN_NAME_KEY: { type: 'string', about: 'the attribute with the first name; one of the usual names where unset' },
  FAMILY_NAME_KEY: { type: 'string', about: 'the attribute with the last name; one of the usual names where unset' },
  GROUP_CLAIM_NAME: { type: 'string', default: 'groups', about: 'the attribute with the groups, for ROLE_MAPPING' },
} as const satisfies Record<string, ProviderKey>;
